"""Cues of audio descriptions; limits are counted by hand: 160 words a minute are 8 in 3 seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import DataError
from beholder.lint import lint
from beholder.lint.linting import summary
from beholder.lint.rules import LintSetting

AUDIO = LintSetting("audio-description")


def _write(path: Path, *cues: tuple[str, str]) -> Path:
    blocks = [f"{times}\n{text}\n" for times, text in cues]
    path.write_text("WEBVTT\n\n" + "\n".join(blocks), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["ad.vtt", "AD.VTT", "ad.srt"])
def test_cues_are_compared_with_their_times_and_each_other(
    tmp_path: Path, name: str
) -> None:
    file = _write(
        tmp_path / name,
        ("00:01.000 --> 00:04.000", "A man in a hat walks to town."),
        (
            "00:05.000 --> 00:08.000",
            "Tom sits down on a very old wooden bench.",
        ),
        ("00:09.000 --> 00:12.500", "A woman runs."),
        ("00:12.000 --> 00:15.000", "The man, Tom, looks up."),
        ("00:16.000 --> 00:19.000", "Tom smiles. A woman runs."),
        ("00:20.000 --> 00:23.000", "A woman runs."),
        ("00:24.000 --> 00:26.000", "Night. Night."),
    )
    report = lint([file], AUDIO)
    assert not report.bad
    found = [
        (finding.line, finding.rule)
        for finding in sorted(report.findings, key=lambda f: f.rule)
    ]
    assert found == [
        (6, "ALT501"),
        (9, "ALT502"),
        (6, "ALT503"),
        (18, "ALT504"),
    ]
    assert "9 words in 3 s; 8 fit" in report.findings[0].message
    assert summary(report).startswith("7 cues in 1 file")


def test_cues_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    file = _write(
        tmp_path / "ad.srt",
        ("00:01,000 -> 00:04,000", "Lost."),
        ("00:05,000 --> 00:08,000", "Kept."),
    )
    report = lint([file], AUDIO)
    (wrong,) = report.bad
    assert (wrong.line, len(report.occurrences)) == (3, 1)


def test_each_profile_reads_its_own_files(tmp_path: Path) -> None:
    film = _write(tmp_path / "ad.vtt", ("0:01.0 --> 0:04.0", "A dog runs."))
    with pytest.raises(DataError, match="--profile audio-description"):
        lint([film])
    table = tmp_path / "t.csv"
    table.write_text("image,alt\na.jpg,A dog\n")
    with pytest.raises(DataError, match=r"reads \.vtt, \.srt"):
        lint([table], AUDIO)
    assert lint([tmp_path], AUDIO).files == ["ad.vtt"]
