#!/bin/bash
# The pages of examples/papers have the numbers of the results beside them: papers.sh CROFT. In a table's line for a program or a mean,
# each value is one of its row in results/*.csv; the descriptions are read, and their texts name columns and points that exist.
# Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
papers=$(cd "$(dirname "$0")/../../examples/papers" && pwd)
scratch

evidence() {
    head -n 5 "${work:?}/output"
}

# agrees PAGE CSV...: prints the lines that have a value that is in no row of results.
agrees() {
    awk -v page="$1" '
        function text(value) { return sprintf(value >= 1e4 ? "%.0f" : value >= 100 ? "%.1f" : "%.3f", value) }
        FILENAME != page { count = split($0, field, ","); for (i = 2; i <= count; i++) if (field[i] ~ /^[0-9.]+$/) has[field[1], text(field[i])]; next }
        /^\|/ {
            count = split($0, cell, /[|]/); name = cell[2]; gsub(/ /, "", name)
            for (i = 3; i < count; i++) {
                gsub(/ |\(.*\)/, "", cell[i])
                if (cell[i] !~ /^[0-9]+\.?[0-9]*$/) continue
                values++
                if (!((name, cell[i]) in has)) print FNR ": " cell[i] " of " name ": " $0
            }
        }
        END { if (!values) print "no values" }' "${@:2}" "$1"
}

for folder in "$papers"/*/; do
    folder=${folder%/}
    [ -d "$folder/results" ] || continue
    agrees "$folder/README.md" "$folder"/results/*.csv >"${work:?}/output"
    check "${folder##*/}: the page has the results' numbers" test ! -s "$work/output"
    for name in "$folder"/results/*.csv; do
        name=$(basename "$name" .csv)
        "$croft" experiment "$folder/$name.yaml" --results /dev/null/none --out "$work/none" >"$work/output" 2>&1
        check "${folder##*/}/$name.yaml is read" grep -q '^croft experiment: /dev/null/none: ' "$work/output"
    done
done
conclude
