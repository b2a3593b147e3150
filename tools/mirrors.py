"""Which tests prove which file of the source.

Each file has two groups of tests: those that mirror it, run first, and those that reach it from
farther off (the metric that rests on it, the command that calls it), run only where the first saw
nothing. A line that names a folder stands for the files of that folder that have no line of their
own; where several lines fit, the longest counts.
"""

from __future__ import annotations

PACKAGES = (
    "metrics/dcscore",
    "metrics/vcs",
    "metrics/posh",
    "stats",
    "kinds/narratives",
    "kinds/ranking",
    "judges",
    "judges/builtin",
    "backends",
    "run",
    "language",
)

ELSEWHERE = ("backends/hf",)
"""Files that are not drawn: models of torch are tried in an environment of their own (``make
test-hf``)."""

LANGUAGE = "language -k not:hard_text"
JUDGED = "metrics/dcscore metrics/posh metrics/judged"

MIRRORS: dict[str, tuple[str, str]] = {
    "metrics/dcscore": (
        "metrics/dcscore",
        "metrics/judged test_metric_contract.py cli/test_score_with_model.py",
    ),
    "metrics/vcs": (
        "metrics/vcs",
        "test_metric_contract.py report/test_report_figures.py",
    ),
    "metrics/posh": (
        "metrics/posh",
        "test_metric_contract.py report/test_report_scene_graph.py report/test_report_marking.py",
    ),
    "stats": ("stats", "kinds/narratives/test_study.py cli/test_commands.py"),
    "stats/bootstrap.py": ("stats/test_bootstrap.py", "stats"),
    "stats/compare.py": (
        "stats/test_pairwise.py stats/test_pairwise_protocol.py",
        "stats",
    ),
    "stats/strengths.py": (
        "stats/test_pairwise.py stats/test_pairwise_protocol.py",
        "stats",
    ),
    "stats/ties.py": (
        "stats/test_correlation.py stats/test_pairwise.py stats/test_pairwise_protocol.py",
        "stats",
    ),
    "stats/correlation.py": (
        "stats/test_correlation.py stats/test_pairwise.py",
        "stats",
    ),
    "stats/intraclass.py": (
        "stats/test_intraclass.py",
        "stats kinds/narratives/test_study.py",
    ),
    "stats/reliability.py": (
        "stats/test_rater_agreement.py stats/test_intraclass.py",
        "stats",
    ),
    "stats/kappa.py": ("stats/test_rater_agreement.py", "stats"),
    "stats/krippendorff.py": ("stats/test_rater_agreement.py", "stats"),
    "stats/significance.py": ("stats/test_two_groups.py", "stats"),
    "stats/spans.py": ("stats/test_spans_alerts.py", "stats"),
    "stats/alerts.py": ("stats/test_spans_alerts.py", "stats"),
    "kinds/narratives": (
        "kinds/narratives/test_coherence.py kinds/narratives/test_extraction.py "
        "kinds/narratives/test_judging.py kinds/narratives/test_measuring.py "
        "kinds/narratives/test_narrative_parts.py kinds/narratives/test_order_of_time.py "
        "kinds/narratives/test_people.py kinds/narratives/test_study.py "
        "kinds/narratives/test_topics.py kinds/narratives/test_vectors.py "
        "run/test_study_parts.py",
        "run/test_store.py kinds/narratives/test_narrate.py kinds/narratives/test_narrate_page.py "
        "kinds/narratives/test_narrate_runs.py",
    ),
    "kinds/ranking": (
        "kinds/ranking/test_rankers.py kinds/ranking/test_ranking_protocol.py",
        "kinds/ranking/test_rank.py kinds/ranking/test_rank_page.py",
    ),
    "kinds/annotation": (
        "kinds/annotation",
        "outside/test_outside_task.py web/test_annotate_pages.py",
    ),
    "kinds/generation": (
        "run/test_rows_runs.py cli/test_rows.py run/test_judged.py",
        "report/test_made_page.py",
    ),
    "stats/annotator_pairs.py": (
        "kinds/ranking/test_ranking_protocol.py",
        "kinds/ranking/test_rank.py",
    ),
    "judges": (
        "judges/test_operations.py judges/test_requests.py judges/test_shapes.py "
        "judges/test_reading.py judges/test_grades.py judges/test_panel.py",
        f"judges/test_answers.py judges/test_dry.py judges/test_diagnostics.py "
        f"judges/test_injection.py judges/test_templates.py judges/test_batch.py {JUDGED}",
    ),
    "judges/builtin": (
        "judges/builtin -k not:manifest",
        "metrics/posh metrics/dcscore metrics/accord",
    ),
    "judges/__init__.py": (
        "judges/decisions/test_decision_judge.py judges/test_panel.py",
        f"test_judge_door.py judges/test_operations.py {JUDGED}",
    ),
    "judges/answers.py": (
        "judges/test_answers.py",
        "run/test_run_answers.py run/test_judged.py",
    ),
    "judges/diagnostics.py": (
        "judges/test_diagnostics.py",
        "judges/test_panel.py cli/test_judge_commands.py",
    ),
    "judges/llm.py": (
        "judges/test_dry.py",
        "cli/test_score_with_model.py judges/test_panel.py",
    ),
    "judges/templates.py": (
        "judges/test_templates.py",
        "judges/test_injection.py",
    ),
    "judges/grades.py": (
        "judges/test_grades.py judges/test_summary.py",
        "judges/test_operations.py judges/test_shapes.py",
    ),
    "judges/reading.py": (
        "judges/test_reading.py",
        "judges/test_operations.py",
    ),
    "judges/panel.py": ("judges/test_panel.py", "judges/test_operations.py"),
    "backends": (
        "backends -k not:hf",
        "judges/test_http.py judges/test_batch.py cli/test_judge_commands.py",
    ),
    "backends/money.py": (
        "backends/test_money.py backends/test_budget.py",
        "judges/test_http.py judges/test_answers.py judges/test_batch.py",
    ),
    "backends/calls.py": ("backends/test_adaptive.py", "judges/test_http.py"),
    "backends/batch_queue.py": (
        "judges/test_batch.py",
        "cli/test_judge_commands.py",
    ),
    "backends/anthropic.py": (
        "backends/test_vendors.py",
        "backends/test_backend_contract.py judges/test_batch.py",
    ),
    "backends/gemini.py": (
        "backends/test_vendors.py",
        "backends/test_backend_contract.py",
    ),
    "backends/openai": (
        "backends/test_wire.py judges/test_http.py judges/test_requests.py -k not:500_items",
        "judges/test_batch.py cli/test_judge_commands.py",
    ),
    "asking/tools.py": ("backends/test_vllm.py media", "judges/test_http.py"),
    "run": (
        "run/test_run_parts.py run/test_store.py run/test_judged.py run/test_run_answers.py "
        "run/test_rows_runs.py run/test_engine.py run/test_tables.py run/test_cautions.py "
        "-k not:killed",
        "run/test_parts.py run/test_encoded_batches.py run/test_damage.py "
        "kinds/ranking/test_rank.py cli/test_rows.py",
    ),
    "run/corrected.py": (
        "cli/test_labels.py",
        "kinds/agreement benchmarks/test_agree.py",
    ),
    "run/leaderboard.py": (
        "benchmarks/test_leaderboard.py",
        "run/test_parts.py",
    ),
    "run/reliability.py": (
        "benchmarks/test_agree.py",
        "run/test_run_answers.py",
    ),
    "kinds/scores/engine.py": ("run/test_until.py", "cli/test_commands.py"),
    "language": (
        LANGUAGE,
        "metrics/posh report/test_report_scene_graph.py metrics/classical",
    ),
    "language/clauses.py": (
        "language/test_language_graphs.py " + LANGUAGE,
        "metrics/posh",
    ),
    "language/lemmas.py": (
        "language/test_language_lemmas.py",
        LANGUAGE + " metrics/posh",
    ),
    "language/dialects.py": ("language/test_language_dialects.py", LANGUAGE),
    "language/parsers.py": (
        "language/test_language_parsers.py -k not:hard_text",
        LANGUAGE,
    ),
    "language/normalise.py": ("language/test_language_normalise.py", LANGUAGE),
    "language/reference": (
        "language/test_language_reference.py language/test_language_graphs.py",
        LANGUAGE,
    ),
}
"""File or folder below ``src/beholder``: the tests that mirror it, and those farther off."""


def tests_of(file: str) -> list[list[str]]:
    """Arguments of pytest for each group of tests of one source file, nearest first."""
    fitting = [name for name in MIRRORS if file.startswith(name)]
    nearest_tests, other_tests = MIRRORS[max(fitting, key=len)]
    return [arguments(group) for group in (nearest_tests, other_tests)]


def arguments(group: str) -> list[str]:
    """``a/b.py -k not:slow`` as pytest takes it."""
    words = group.split()
    return [
        word.replace(":", " ")
        if before == "-k"
        else word
        if word == "-k"
        else f"tests/{word}"
        for before, word in zip(["", *words], words, strict=False)
    ]
