"""The metrics every paper compares with, and the length baseline."""

from beholder.metrics.classical.bertscore import BERTScore
from beholder.metrics.classical.bleu import BLEU
from beholder.metrics.classical.chair import CHAIR
from beholder.metrics.classical.chrf import ChrF
from beholder.metrics.classical.cider import CIDEr, CIDErD
from beholder.metrics.classical.clipscore import CLIPScore, RefCLIPScore
from beholder.metrics.classical.embedding import Cosine, TokenF1
from beholder.metrics.classical.frequencies import Frequencies
from beholder.metrics.classical.granular import NGramEmbed
from beholder.metrics.classical.length import Length
from beholder.metrics.classical.meteor import METEOR
from beholder.metrics.classical.rouge import ROUGE
from beholder.metrics.classical.spice import CAPTURE, SPICE, SGEmbed, SoftSPICE
from beholder.metrics.classical.ter import TER

__all__ = [
    "BLEU",
    "CAPTURE",
    "CHAIR",
    "METEOR",
    "ROUGE",
    "SPICE",
    "TER",
    "BERTScore",
    "CIDEr",
    "CIDErD",
    "CLIPScore",
    "ChrF",
    "Cosine",
    "Frequencies",
    "Length",
    "NGramEmbed",
    "RefCLIPScore",
    "SGEmbed",
    "SoftSPICE",
    "TokenF1",
]
