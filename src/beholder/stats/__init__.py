"""Statistics: arrays in, named results with intervals out. Knows nothing of items or judges.

Names load on use, so that importing this package loads neither numpy nor scipy. A statistic that
the data leave undefined has the value None and a reason; bad input raises ``ConfigError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beholder.optional import loader

if TYPE_CHECKING:
    from beholder.stats.agreement import Agreement
    from beholder.stats.alerts import AlertF1, alert_f1, held_out_alert_f1
    from beholder.stats.annotators import AlternativeAnnotator, alternative_annotator
    from beholder.stats.bootstrap import mean_interval
    from beholder.stats.compare import (
        CorrelationDifference,
        compare_correlations,
        steiger,
        williams,
    )
    from beholder.stats.corrected import CorrectedMean, corrected_mean
    from beholder.stats.correlation import (
        Correlation,
        correlate,
        kendall,
        partial,
        pearson,
        ranking_correlation,
        spearman,
    )
    from beholder.stats.effects import Effect, Moments, cohen_d, hedges_g
    from beholder.stats.intraclass import ICC, icc, reliability_verdict, spearman_brown
    from beholder.stats.kappa import cohen_kappa, fleiss_kappa
    from beholder.stats.krippendorff import krippendorff_alpha
    from beholder.stats.paired import PairedDifference, paired_difference
    from beholder.stats.rates import CorrectedRate, corrected_rate
    from beholder.stats.ratings import EloRating, elo
    from beholder.stats.reliability import (
        ErrorCorrelation,
        Spread,
        cronbach_alpha,
        error_correlation,
        kendall_w,
        mean_pairwise_correlation,
        within_item_spread,
    )
    from beholder.stats.roc import AlertAUC, alert_auc
    from beholder.stats.sequences import Betting, betting_interval
    from beholder.stats.significance import (
        TestResult,
        holm,
        mann_whitney,
        significance_clusters,
        t_test,
        wilcoxon,
    )
    from beholder.stats.sizes import (
        Scatter,
        items_for_kappa,
        labels_for_corrected_mean,
        pictures_for_difference,
        scatter,
        texts_for_mean,
    )
    from beholder.stats.spans import SpanF1, relaxed_f1, token_labels, token_scores
    from beholder.stats.strengths import BradleyTerry, Strength, bradley_terry
    from beholder.stats.threeway import ThreeWay, three_way_accuracy
    from beholder.stats.ties import TieCalibrated, pairs_within, tie_calibrated_accuracy

__all__ = [
    "ICC",
    "Agreement",
    "AlertAUC",
    "AlertF1",
    "AlternativeAnnotator",
    "Betting",
    "BradleyTerry",
    "CorrectedMean",
    "CorrectedRate",
    "Correlation",
    "CorrelationDifference",
    "Effect",
    "EloRating",
    "ErrorCorrelation",
    "Moments",
    "PairedDifference",
    "Scatter",
    "SpanF1",
    "Spread",
    "Strength",
    "TestResult",
    "ThreeWay",
    "TieCalibrated",
    "alert_auc",
    "alert_f1",
    "alternative_annotator",
    "betting_interval",
    "bradley_terry",
    "cohen_d",
    "cohen_kappa",
    "compare_correlations",
    "corrected_mean",
    "corrected_rate",
    "correlate",
    "cronbach_alpha",
    "elo",
    "error_correlation",
    "fleiss_kappa",
    "hedges_g",
    "held_out_alert_f1",
    "holm",
    "icc",
    "items_for_kappa",
    "kendall",
    "kendall_w",
    "krippendorff_alpha",
    "labels_for_corrected_mean",
    "mann_whitney",
    "mean_interval",
    "mean_pairwise_correlation",
    "paired_difference",
    "pairs_within",
    "partial",
    "pearson",
    "pictures_for_difference",
    "ranking_correlation",
    "relaxed_f1",
    "reliability_verdict",
    "scatter",
    "significance_clusters",
    "spearman",
    "spearman_brown",
    "steiger",
    "t_test",
    "texts_for_mean",
    "three_way_accuracy",
    "tie_calibrated_accuracy",
    "token_labels",
    "token_scores",
    "wilcoxon",
    "williams",
    "within_item_spread",
]

__getattr__ = loader(
    __name__,
    {
        "agreement": "Agreement",
        "alerts": "AlertF1 alert_f1 held_out_alert_f1",
        "bootstrap": "mean_interval",
        "compare": "CorrelationDifference compare_correlations steiger williams",
        "correlation": "Correlation correlate kendall partial pearson ranking_correlation spearman",
        "effects": "Effect Moments cohen_d hedges_g",
        "intraclass": "ICC icc reliability_verdict spearman_brown",
        "kappa": "cohen_kappa fleiss_kappa",
        "krippendorff": "krippendorff_alpha",
        "corrected": "CorrectedMean corrected_mean",
        "paired": "PairedDifference paired_difference",
        "rates": "CorrectedRate corrected_rate",
        "ratings": "EloRating elo",
        "reliability": (
            "ErrorCorrelation Spread cronbach_alpha "
            "error_correlation kendall_w mean_pairwise_correlation within_item_spread"
        ),
        "roc": "AlertAUC alert_auc",
        "sequences": "Betting betting_interval",
        "sizes": (
            "Scatter items_for_kappa labels_for_corrected_mean pictures_for_difference "
            "scatter texts_for_mean"
        ),
        "significance": "TestResult holm mann_whitney significance_clusters t_test wilcoxon",
        "spans": "SpanF1 relaxed_f1 token_labels token_scores",
        "annotators": "AlternativeAnnotator alternative_annotator",
        "strengths": "BradleyTerry Strength bradley_terry",
        "threeway": "ThreeWay three_way_accuracy",
        "ties": "TieCalibrated pairs_within tie_calibrated_accuracy",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
