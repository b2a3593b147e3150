"""The drawing of an alignment."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from beholder import VCS
from beholder.errors import ConfigError
from beholder.records import ItemScore

pytestmark = pytest.mark.drawn


def score_of(n_reference: int, n_candidate: int) -> ItemScore:
    rng = np.random.default_rng(0)
    reference, candidate = (
        rng.normal(size=(n_reference, 8)),
        rng.normal(size=(n_candidate, 8)),
    )
    return VCS().score_embeddings(
        reference, candidate, reference[0], candidate[0]
    )


@pytest.mark.parametrize("sizes", [(1, 1), (5, 7), (2, 30), (80, 60)])
def test_figure_has_one_mark_per_match_and_draws(
    sizes: tuple[int, int],
) -> None:
    n_reference, n_candidate = sizes
    figure = VCS().figure(score_of(n_reference, n_candidate))
    axes = figure.axes[0]
    circles, crosses = axes.collections[-2:]
    assert len(np.asarray(circles.get_offsets())) == n_candidate
    assert len(np.asarray(crosses.get_offsets())) == n_reference
    assert len(axes.patches) == n_candidate + n_reference  # strips of verdicts
    written = io.BytesIO()
    figure.savefig(written, format="svg")
    assert written.getvalue().count(b"<use ") >= n_candidate + n_reference


def test_figure_shows_out_of_order_and_unmatched_chunks_in_their_colours() -> (
    None
):
    whole = np.ones(4)
    strict = VCS(lct=0)
    score = strict.score_embeddings(
        np.eye(4), np.eye(4)[[0, 3, 2]], whole, whole
    )
    strip = strict.figure(score).axes[0].patches
    faces = np.array([to_rgb(patch.get_facecolor()) for patch in strip])
    colours = [
        tuple(face) for face in np.rint(255 * faces).astype(int).tolist()
    ]
    plain, orange, grey = (233, 236, 239), (244, 162, 97), (108, 117, 125)
    assert colours[:3] == [
        plain,
        orange,
        plain,
    ]  # candidate: the second chunk tells of the last
    assert colours[3:] == [
        plain,
        grey,
        plain,
        orange,
    ]  # reference: nothing tells of its second


def test_a_score_without_alignment_is_refused() -> None:
    with pytest.raises(ConfigError, match="no alignment to draw"):
        VCS().figure(ItemScore({"bleu": 0.5}))


def test_only_drawing_loads_matplotlib_and_leaves_pyplot_alone() -> None:
    code = (
        "import sys, numpy as np, beholder; beholder.VCS(); "
        "heavy = {'matplotlib', 'scipy', 'model2vec', 'torch', 'tokenizers', 'pandas'}; "
        "loaded = ' '.join(heavy & set(sys.modules)); loaded and sys.exit(loaded); "
        "from beholder import VCS; e, w = np.eye(3), np.ones(3); "
        "VCS().figure(VCS().score_embeddings(e, e, w, w)); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
