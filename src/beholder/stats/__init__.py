"""Statistics: arrays in, named results with intervals out. Knows nothing of items or judges.

Names load on use, so that importing this package loads neither numpy nor scipy. A statistic that
the data leave undefined has the value None and a reason; bad input raises ``ConfigError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.optional import loader

if TYPE_CHECKING:
    from beholder.stats.agreement import Agreement as Agreement
    from beholder.stats.alerts import AlertF1 as AlertF1
    from beholder.stats.alerts import alert_f1 as alert_f1
    from beholder.stats.alerts import held_out_alert_f1 as held_out_alert_f1
    from beholder.stats.bootstrap import mean_interval as mean_interval
    from beholder.stats.compare import CorrelationDifference as CorrelationDifference
    from beholder.stats.compare import compare_correlations as compare_correlations
    from beholder.stats.compare import steiger as steiger
    from beholder.stats.compare import williams as williams
    from beholder.stats.corrected import CorrectedMean as CorrectedMean
    from beholder.stats.corrected import corrected_mean as corrected_mean
    from beholder.stats.correlation import Correlation as Correlation
    from beholder.stats.correlation import correlate as correlate
    from beholder.stats.correlation import kendall as kendall
    from beholder.stats.correlation import partial as partial
    from beholder.stats.correlation import pearson as pearson
    from beholder.stats.correlation import ranking_correlation as ranking_correlation
    from beholder.stats.correlation import spearman as spearman
    from beholder.stats.effects import Effect as Effect
    from beholder.stats.effects import Moments as Moments
    from beholder.stats.effects import cohen_d as cohen_d
    from beholder.stats.effects import hedges_g as hedges_g
    from beholder.stats.intraclass import ICC as ICC
    from beholder.stats.intraclass import icc as icc
    from beholder.stats.intraclass import reliability_verdict as reliability_verdict
    from beholder.stats.intraclass import spearman_brown as spearman_brown
    from beholder.stats.kappa import cohen_kappa as cohen_kappa
    from beholder.stats.kappa import fleiss_kappa as fleiss_kappa
    from beholder.stats.krippendorff import krippendorff_alpha as krippendorff_alpha
    from beholder.stats.paired import PairedDifference as PairedDifference
    from beholder.stats.paired import paired_difference as paired_difference
    from beholder.stats.ratings import EloRating as EloRating
    from beholder.stats.ratings import elo as elo
    from beholder.stats.reliability import ErrorCorrelation as ErrorCorrelation
    from beholder.stats.reliability import Spread as Spread
    from beholder.stats.reliability import cronbach_alpha as cronbach_alpha
    from beholder.stats.reliability import error_correlation as error_correlation
    from beholder.stats.reliability import kendall_w as kendall_w
    from beholder.stats.reliability import mean_pairwise_correlation as mean_pairwise_correlation
    from beholder.stats.reliability import within_item_spread as within_item_spread
    from beholder.stats.roc import AlertAUC as AlertAUC
    from beholder.stats.roc import alert_auc as alert_auc
    from beholder.stats.significance import TestResult as TestResult
    from beholder.stats.significance import holm as holm
    from beholder.stats.significance import mann_whitney as mann_whitney
    from beholder.stats.significance import significance_clusters as significance_clusters
    from beholder.stats.significance import t_test as t_test
    from beholder.stats.significance import wilcoxon as wilcoxon
    from beholder.stats.spans import SpanF1 as SpanF1
    from beholder.stats.spans import relaxed_f1 as relaxed_f1
    from beholder.stats.spans import token_labels as token_labels
    from beholder.stats.spans import token_scores as token_scores
    from beholder.stats.strengths import BradleyTerry as BradleyTerry
    from beholder.stats.strengths import Strength as Strength
    from beholder.stats.strengths import bradley_terry as bradley_terry
    from beholder.stats.threeway import ThreeWay as ThreeWay
    from beholder.stats.threeway import three_way_accuracy as three_way_accuracy
    from beholder.stats.ties import TieCalibrated as TieCalibrated
    from beholder.stats.ties import pairs_within as pairs_within
    from beholder.stats.ties import tie_calibrated_accuracy as tie_calibrated_accuracy

# The imports above give types; names load from this table.
_HOME = {
    "agreement": "Agreement",
    "alerts": "AlertF1 alert_f1 held_out_alert_f1",
    "bootstrap": "mean_interval",
    "compare": "CorrelationDifference compare_correlations steiger williams",
    "corrected": "CorrectedMean corrected_mean",
    "correlation": "Correlation correlate kendall partial pearson ranking_correlation spearman",
    "effects": "Effect Moments cohen_d hedges_g",
    "intraclass": "ICC icc reliability_verdict spearman_brown",
    "kappa": "cohen_kappa fleiss_kappa",
    "krippendorff": "krippendorff_alpha",
    "paired": "PairedDifference paired_difference",
    "ratings": "EloRating elo",
    "reliability": (
        "ErrorCorrelation Spread cronbach_alpha "
        "error_correlation kendall_w mean_pairwise_correlation within_item_spread"
    ),
    "roc": "AlertAUC alert_auc",
    "significance": "TestResult holm mann_whitney significance_clusters t_test wilcoxon",
    "spans": "SpanF1 relaxed_f1 token_labels token_scores",
    "strengths": "BradleyTerry Strength bradley_terry",
    "threeway": "ThreeWay three_way_accuracy",
    "ties": "TieCalibrated pairs_within tie_calibrated_accuracy",
}
_MODULE_OF = {
    name: f"{__name__}.{module}" for module, names in _HOME.items() for name in names.split()
}

__all__ = [*_MODULE_OF]

__getattr__ = loader(__name__, _MODULE_OF)


def __dir__() -> list[str]:
    return sorted(__all__)
