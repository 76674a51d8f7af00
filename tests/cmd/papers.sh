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
        FILENAME != page { count = split($0, field, ","); for (i = 2; i <= count; i++) if (field[i] ~ /^[0-9.]+$/) for (k = 1; k < i && k < 4; k++)
            for (d = -1; d <= 1; d++) has[field[k], text(field[i] + d * 4e-7)] # files have six places
            next }
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

# fresh PAPER/NAME PROGRAM OPTIONS...: rows of the program that are measured anew are among those that are committed, where they have values.
fresh() {
    local name=$1 program=$2
    shift 2
    "$croft" experiment "$papers/$name.yaml" --only program="$program" "$@" --out "${work:?}/fresh" >"$work/output" 2>&1
    awk -F, -v program="$program" '
        FNR == 1 { if (NR > 1 && $0 != head) print "columns: " $0; head = $0; next }
        FNR == NR { row[++rows] = $0; next }
        $1 == program {
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

"$papers/summary.sh" | diff "$papers/README.md" - >"$work/output" 2>&1
check "the summary has the results' numbers" test ! -s "$work/output"

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
fresh nucd/stride stride --only accelerators=4 --only offload=nucd
fresh stash/micro implicit --only config=Stash
fresh tom/tom scalar_product --only system=base
fresh axram/axram sobel --size medium --only way=gpu,ngpu
fresh nupim/nupim lulesh --only system=base
conclude
