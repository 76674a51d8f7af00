#!/bin/bash
# The pages of examples/papers have the numbers of the results beside them: papers.sh CROFT. In a table's line for a program or a mean,
# each value is one of its row in results/*.csv; the descriptions are read, and their texts name columns and points that exist; and a row
# of each paper is measured anew.
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

# agrees PAGE CSV...: prints the lines that have a value that is in no row of results whose first points have the name of the line's first one.
agrees() {
    awk -v page="$1" '
        function text(value) { return sprintf(value >= 1e4 ? "%.0f" : value >= 100 ? "%.1f" : "%.3f", value) }
        FILENAME != page && FNR == 1 { count = split($0, field, ","); for (i = 1; i <= count; i++) axis[field[i]] = 1; next }
        FILENAME != page { count = split($0, field, ","); for (i = 2; i <= count; i++) if (field[i] ~ /^[0-9.]+$/) for (k = 1; k < i && k < 4; k++) has[field[k], text(field[i])]; next }
        /^\|/ {
            count = split($0, cell, /[|]/); name = cell[2]; gsub(/ /, "", name)
            if (name in axis) { for (i = 2; i < count; i++) { gsub(/ /, "", cell[i]); skip[i] = cell[i] in axis }; next }
            for (i = 3; i < count; i++) {
                if (skip[i]) continue
                gsub(/ |\(.*\)/, "", cell[i])
                if (cell[i] !~ /^[0-9]+\.?[0-9]*$/) continue
                values++
                if (!((name, cell[i]) in has)) print FNR ": " cell[i] " of " name ": " $0
            }
        }
        END { if (!values) print "no values" }' "${@:2}" "$1"
}

# fresh PAPER/NAME OPTIONS...: rows that are measured anew are among those that are committed, where they have values.
fresh() {
    local name=$1
    shift
    "$croft" experiment "$papers/$name.yaml" "$@" --out "${work:?}/fresh" >"$work/output" 2>&1
    awk -F, '
        FNR == 1 { if (NR > 1 && $0 != head) print "columns: " $0; head = $0; next }
        FNR == NR { row[++rows] = $0; next }
        {
            count = split($0, value, ","); found = 0
            for (r = 1; r <= rows && !found; r++) {
                split(row[r], other, ","); found = 1
                for (i = 1; i <= count && found; i++) found = value[i] == "" || value[i] == other[i]
            }
            lines++
            if (!found) print "not committed: " $0
        }
        END { if (!lines) print "no rows" }' "$papers/${name%/*}/results/${name##*/}.csv" "$work/fresh/results.csv" >>"$work/differences"
    check "${name%/*}: a fresh run of ${name##*/}" test ! -s "$work/differences"
    cat "$work/differences" >>"$work/output"
    rm -f "$work/differences"
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
fresh nucd/stride --only accelerators=4 --only offload=nucd
fresh nupim/nupim --only program=lulesh --only system=base
conclude
