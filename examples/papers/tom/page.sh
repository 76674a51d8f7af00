#!/bin/bash
# The page of the TOM paper: page.sh CROFT DIR [SIZE]. Runs the experiments beside this script at a size (small, medium, full), and makes
# DIR/README.md of their pages, and DIR/results/NAME.csv. Runs that have ended are kept in DIR, so that it can be stopped and started
# again. waves.yaml, maps.yaml and sweeps.yaml are for `croft experiment`. JOBS is the number of runs at a time (default: that of processors).
set -euo pipefail

croft=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2/results"
out=$(realpath "$2")
jobs=()
[ -z "${JOBS:-}" ] || jobs=(--jobs "$JOBS")
for name in tom width; do
    mkdir -p "$out/$name"
    "$croft" experiment "$here/$name.yaml" --size "${3:-small}" "${jobs[@]}" --results "$out/results.db" --out "$out/$name" >/dev/null
    cp "$out/$name/results.csv" "$out/results/$name.csv"
done
cat "$out"/{tom,width}/page.md >"$out/README.md"
echo "$out/README.md"
