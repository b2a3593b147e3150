#!/usr/bin/env bash
# `make release`: a release in dist/ (source archive, wheel, bill of materials, SHA256SUMS). Built a second time from
# the unpacked archive, it must give the same bytes. Then the wheel is tried in an environment that holds nothing of
# this folder: the demo, alone and as uvx runs it, and tests from the archive ($RELEASE_TESTS).
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD uv=$PWD/.venv-uv/bin/uv python=$PWD/.venv/bin/python try=$PWD/.venv-release/bin
archive=dist/unpacked
rm -rf dist .venv-release && mkdir -p $archive

sync() {
    UV_PROJECT_ENVIRONMENT=.venv-release "$uv" sync -q --frozen --python "$PYTHON" --no-build --no-install-project "$@"
}

"$python" -m hatchling build -d dist
"$python" -m tools.sbom >dist/beholder.cdx.json
(cd dist && sha256sum -- *.tar.gz *.whl *.json >SHA256SUMS)
tar -xzf dist/*.tar.gz -C $archive --strip-components 1
(cd $archive && "$python" -m hatchling build -d ../again)
cp dist/*.json dist/again
(cd dist/again && sha256sum --check --strict ../SHA256SUMS)

sync
"$uv" pip install -q --python "$try/python" --no-deps dist/*.whl
"$uv" pip check --python "$try/python"
(cd $archive && "$try/beholder" demo -o "$here/dist/demo")
sync --inexact --group build --group dev
cd $archive
# shellcheck disable=SC2086  # several words
"$try/python" -m pytest -p no:cacheprovider -m "not slow" ${CI_ARTIFACTS:+--junitxml="$CI_ARTIFACTS/release.xml"} $RELEASE_TESTS
cd "$here"
"$uv" export -q --frozen --no-emit-project --no-hashes -o dist/again/locked.txt
"$uv" tool run -q --python "$PYTHON" --constraints dist/again/locked.txt --from dist/*.whl \
    beholder demo -o dist/demo-uvx
