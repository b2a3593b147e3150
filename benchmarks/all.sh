#!/usr/bin/env bash
# Every benchmark: all.sh PYTHON DATA (make bench). DATA is the folder of the judged sets; what needs them is left out
# if it does not exist.
set -euo pipefail
python=$1 data=$2
for name in vcs stats classical "narratives --quick" judge_throughput asked posh_builtin posh_calls perplexity; do
    read -r file options <<<"$name"
    "$python" "benchmarks/$file.py" ${options:+"$options"}
done
if [ ! -d "$data" ]; then
    echo "no folder $data: agreement with people and the language analysis are not measured (make bench DATA=...)"
    exit
fi
"$python" -m benchmarks.language --data "$data"
"$python" benchmarks/agreement_vcs.py --data "$data/human_judgments/vatex_eval.jsonl.gz"
"$python" benchmarks/perturb_vcs.py --data "$data/oracle_facts.jsonl"
"$python" -m benchmarks.agreement --data "$data/human_judgments" --jobs "$(nproc)"
"$python" benchmarks/accord.py "$data" --texts 60
"$python" benchmarks/granular.py
"$python" -m benchmarks.dcscore
"$python" -m benchmarks.engine --data "$data/human_judgments"
