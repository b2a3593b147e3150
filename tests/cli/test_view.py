"""``beholder view`` as a command, and what ``compare`` and ``leaderboard`` write."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import beholder
from beholder.errors import ConfigError, MissingExtraError
from beholder.web import Settings, serve
from beholder.web.settings import is_loopback
from toy.cases import each_case
from toy.command import runner
from toy.runs import lemon_run, lemons, sentence_score, write_run


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    run = lemon_run(tmp_path / "run")
    package = Path(beholder.__file__).parents[1]
    command = [sys.executable, "-m", "beholder", "view", str(run)]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # some runners ignore it
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        match = re.search(r"open (http://127\.0\.0\.1:\d+/) ", line)
        assert match, line
        page = httpx.get(f"{match[1]}runs/0", timeout=60)
        assert page.status_code == 200
        assert (
            httpx.get(match[1], headers={"host": "evil.example"}).status_code
            == 421
        )
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_other_machines_need_the_token_that_is_printed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    served: list[Settings] = []

    def listening(app: object, settings: Settings, say: object) -> None:
        served.append(settings)
        say(f"http://0.0.0.0:1/?token={settings.token}")  # type: ignore[operator]

    monkeypatch.setattr("beholder.web.serve", listening)
    view = runner(
        monkeypatch, capsys, "view", str(lemon_run(tmp_path / "run"))
    )
    code, _, message = view("--host", "0.0.0.0", "--name", "lab.example")
    assert code == 0
    (settings,) = served
    assert settings.token is not None
    assert len(settings.token) >= 32
    assert settings.token in message
    assert settings.names == ("lab.example",)
    code, _, message = view("--token", "short")
    assert (code, "16 characters" in message) == (2, True)
    code, _, message = view("--port", "99999")
    assert (code, "port 99999" in message) == (2, True)


def test_a_folder_without_a_run_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    code, _, message = runner(monkeypatch, capsys, "view", str(tmp_path))()
    assert code == 2
    assert "is not a run directory" in message


def test_without_the_extra_the_way_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from importlib.util import find_spec

    from beholder.cli.runs import view

    monkeypatch.setattr(
        "beholder.base.optional.importlib.util.find_spec",
        lambda name: None if name == "starlette" else find_spec(name),
    )
    with pytest.raises(MissingExtraError, match=r"beholder\[web\]"):
        view([Path("run")])


def test_a_port_that_is_taken_is_told() -> None:
    import socket

    with socket.socket() as busy_socket:
        busy_socket.bind(("127.0.0.1", 0))
        busy_socket.listen()
        port = busy_socket.getsockname()[1]
        with pytest.raises(
            ConfigError, match=f"cannot listen at 127.0.0.1:{port}"
        ):
            serve(lambda *_: None, Settings(port=port), lambda _: None)  # type: ignore[arg-type]


@each_case(
    ("host", "alone"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.0.1", False), ("example.org", False), ("", False)],
)  # fmt: skip
def test_which_addresses_are_this_machine_alone(
    host: str, alone: bool
) -> None:
    assert is_loopback(host) is alone


def test_compare_writes_a_page_and_tables(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    items = lemons()
    runs = [
        write_run(tmp_path / name, items, {"vcs": [sentence_score(item, by * n) for n, item in enumerate(items)]})
        for name, by in (("a", 0.125), ("b", 0.0625))
    ]  # fmt: skip
    page, folder = tmp_path / "page.html", tmp_path / "tables"
    compare = runner(monkeypatch, capsys, "compare", *map(str, runs))
    code, output, message = compare("-o", str(page), "--tables", str(folder))
    assert code == 0
    assert "p (Holm)" in output
    assert "table-5" in page.read_text("utf-8")
    assert sorted(path.name for path in folder.iterdir()) == [
        "differences.csv", "differences.json", "differences.tex",
    ]  # fmt: skip
    rows = json.loads((folder / "differences.json").read_text("utf-8"))["rows"]
    # of 0, 1/16 ... 5/16 the mean is 5/32; `las` is (1 + vcs) / 2
    assert [(row["value"], row["difference"]) for row in rows] == [
        ("vcs", -0.15625),
        ("las", -0.078125),
    ]
    # five of six differ; all signs equal: 2 of 2**6 patterns where 0 counts for both, twice by Holm
    assert rows[0]["p_holm"] == pytest.approx(2 * rows[0]["p"])
    assert str(page) in message


def test_a_leaderboard_is_written_as_tables(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    items = [
        replace(item, images=(f"{n // 2}.jpg",))
        for n, item in enumerate(lemons(6))
    ]
    scores = [
        sentence_score(item, (n + 1) / 8) for n, item in enumerate(items)
    ]
    run = write_run(tmp_path / "run", items, {"vcs": scores})
    board = runner(monkeypatch, capsys, "leaderboard", str(run))
    code, output, _ = board("--tables", str(tmp_path / "t"))
    assert code == 0
    assert "vcs.vcs, higher is better" in output
    rows = json.loads(
        (tmp_path / "t" / "leaderboard-vcs.json").read_text("utf-8")
    )["rows"]
    # scores rise by 1/8 from 1/8: system a has the 1st, 3rd, 5th, b the others
    assert [(row["system"], row["mean"]) for row in rows] == [
        ("b", 0.5),
        ("a", 0.375),
    ]


def test_a_leaderboard_is_written_as_the_table_of_a_paper(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    items = [
        replace(item, images=(f"{n // 2}.jpg",))
        for n, item in enumerate(lemons(20))
    ]
    # system b is 0.25 above a about each of ten pictures: p = 2 / 2**10, below 0.05
    scores = [
        sentence_score(item, 0.25 + 0.25 * (n % 2))
        for n, item in enumerate(items)
    ]
    run = write_run(tmp_path / "run", items, {"vcs": scores})
    board = runner(monkeypatch, capsys, "leaderboard", str(run))
    done = board("--latex", str(tmp_path / "table.tex"), "--markdown", "-")
    assert done.code == 0
    assert done.out.startswith("## Systems by metric")
    text = (tmp_path / "table.tex").read_text("utf-8")
    assert r"\toprule" in text
    assert r"system & vcs.vcs $\uparrow$ \\" in text
    rows = [line for line in text.splitlines() if "textsubscript" in line]
    assert rows == [
        r"b & \textbf{0.500}\textsubscript{0.500 to 0.500} \\",
        r"a & 0.250$^{\dagger}$\textsubscript{0.250 to 0.250} \\",
    ]
    assert (
        "Means over 10 sources that all systems scored. vcs: "
        in text.split("caption")[1]
    )
