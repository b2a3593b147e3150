from beholder.stats.agreement import Agreement as Agreement
from beholder.stats.alerts import AlertAUC as AlertAUC
from beholder.stats.alerts import AlertF1 as AlertF1
from beholder.stats.alerts import alert_auc as alert_auc
from beholder.stats.alerts import alert_f1 as alert_f1
from beholder.stats.alerts import held_out_alert_f1 as held_out_alert_f1
from beholder.stats.annotators import (
    AlternativeAnnotator as AlternativeAnnotator,
)
from beholder.stats.annotators import (
    alternative_annotator as alternative_annotator,
)
from beholder.stats.bootstrap import PairedDifference as PairedDifference
from beholder.stats.bootstrap import mean_interval as mean_interval
from beholder.stats.bootstrap import paired_difference as paired_difference
from beholder.stats.checks import Resampling as Resampling
from beholder.stats.compare import (
    CorrelationDifference as CorrelationDifference,
)
from beholder.stats.compare import compare_correlations as compare_correlations
from beholder.stats.compare import steiger as steiger
from beholder.stats.compare import williams as williams
from beholder.stats.corrected import CorrectedMean as CorrectedMean
from beholder.stats.corrected import CorrectedRate as CorrectedRate
from beholder.stats.corrected import corrected_mean as corrected_mean
from beholder.stats.corrected import corrected_rate as corrected_rate
from beholder.stats.corrected import corrected_share as corrected_share
from beholder.stats.correlation import Correlation as Correlation
from beholder.stats.correlation import correlate as correlate
from beholder.stats.correlation import kendall as kendall
from beholder.stats.correlation import partial as partial
from beholder.stats.correlation import pearson as pearson
from beholder.stats.correlation import (
    ranking_correlation as ranking_correlation,
)
from beholder.stats.correlation import spearman as spearman
from beholder.stats.intraclass import ICC as ICC
from beholder.stats.intraclass import icc as icc
from beholder.stats.intraclass import (
    reliability_verdict as reliability_verdict,
)
from beholder.stats.intraclass import spearman_brown as spearman_brown
from beholder.stats.kappa import cohen_kappa as cohen_kappa
from beholder.stats.kappa import fleiss_kappa as fleiss_kappa
from beholder.stats.krippendorff import (
    krippendorff_alpha as krippendorff_alpha,
)
from beholder.stats.ratings import EloRating as EloRating
from beholder.stats.ratings import elo as elo
from beholder.stats.reliability import ErrorCorrelation as ErrorCorrelation
from beholder.stats.reliability import Spread as Spread
from beholder.stats.reliability import cronbach_alpha as cronbach_alpha
from beholder.stats.reliability import error_correlation as error_correlation
from beholder.stats.reliability import kendall_w as kendall_w
from beholder.stats.reliability import (
    mean_pairwise_correlation as mean_pairwise_correlation,
)
from beholder.stats.reliability import within_item_spread as within_item_spread
from beholder.stats.sequences import Betting as Betting
from beholder.stats.sequences import betting_interval as betting_interval
from beholder.stats.significance import Effect as Effect
from beholder.stats.significance import Moments as Moments
from beholder.stats.significance import TestResult as TestResult
from beholder.stats.significance import cohen_d as cohen_d
from beholder.stats.significance import hedges_g as hedges_g
from beholder.stats.significance import holm as holm
from beholder.stats.significance import mann_whitney as mann_whitney
from beholder.stats.significance import (
    significance_clusters as significance_clusters,
)
from beholder.stats.significance import t_test as t_test
from beholder.stats.significance import wilcoxon as wilcoxon
from beholder.stats.sizes import Scatter as Scatter
from beholder.stats.sizes import items_for_kappa as items_for_kappa
from beholder.stats.sizes import (
    labels_for_corrected_mean as labels_for_corrected_mean,
)
from beholder.stats.sizes import (
    pictures_for_difference as pictures_for_difference,
)
from beholder.stats.sizes import (
    raters_for_reliability as raters_for_reliability,
)
from beholder.stats.sizes import scatter as scatter
from beholder.stats.sizes import texts_for_mean as texts_for_mean
from beholder.stats.spans import SpanF1 as SpanF1
from beholder.stats.spans import relaxed_f1 as relaxed_f1
from beholder.stats.spans import token_labels as token_labels
from beholder.stats.spans import token_scores as token_scores
from beholder.stats.strengths import BradleyTerry as BradleyTerry
from beholder.stats.strengths import Strength as Strength
from beholder.stats.strengths import bradley_terry as bradley_terry
from beholder.stats.ties import ThreeWay as ThreeWay
from beholder.stats.ties import TieCalibrated as TieCalibrated
from beholder.stats.ties import pairs_within as pairs_within
from beholder.stats.ties import three_way_accuracy as three_way_accuracy
from beholder.stats.ties import (
    tie_calibrated_accuracy as tie_calibrated_accuracy,
)
