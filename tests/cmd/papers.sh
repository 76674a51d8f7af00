#!/bin/bash
# The pages of examples/papers have the numbers of the results beside them: papers.sh CROFT. The values of a table are those of one column of
# results/*.csv at its points; the descriptions are read, and their texts name columns and points that exist; and a row
# of each paper is measured anew.
# ALL=1 makes all pages with small inputs, and compares the results of those that are committed so: some 35 minutes of a processor.
# Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
papers=$(cd "$(dirname "$0")/../../examples/papers" && pwd)
scratch

evidence() {
    tail -n 8 "${work:?}/output"
}

# agrees PAGE CSV...: prints the tables whose values, and references in brackets, are not those of one column of the results at their points.
agrees() {
    awk -v page="$1" '
        function text(value) { return sprintf(value >= 1e4 ? "%.0f" : value >= 100 ? "%.1f" : "%.3f", value) }
        # Files have six places: the page may have rounded the value otherwise.
        function same(value, shown) { return value != "" && (text(value) == shown || text(value + 4e-7) == shown || text(value - 4e-7) == shown) }
        # Whether a row has all names of a cell among its points.
        function is_at(row, names, count,   i, k) {
            for (i = 1; i <= count; i++) {
                for (k = 1; k < 7 && field[row, k] != names[i]; k++) continue
                if (k == 7) return 0
            }
            return 1
        }
        # Drops the columns that do not have the value at the names.
        function look(names, count, shown, reference,   column, part, found, i, row) {
            for (column in candidate) {
                split(column, part, SUBSEP); found = 0
                for (i = 1; i <= rows_of[names[1]] && !found; i++) {
                    row = row_of[names[1], i]
                    if (file[row] == part[1] && is_at(row, names, count) && same(field[row, part[2]], shown))
                        found = reference == "" || sprintf("%.3g", field[row, part[2] + 1]) == reference
                }
                if (!found) delete candidate[column]
            }
        }
        function close_table(   column) {
            for (column in candidate) { in_table = 0; return }
            if (in_table) print page ":" in_table ": no column of the results has these values"
            in_table = 0
        }
        FILENAME != page && FNR == 1 { files++; heads[files] = split($0, head, ","); for (i = 1; i <= heads[files]; i++) axis[head[i]] = 1; next }
        FILENAME != page {
            count = split($0, value, ","); file[++rows] = files
            for (i = 1; i <= count; i++) field[rows, i] = value[i]
            for (i = 1; i < 7; i++) row_of[value[i], ++rows_of[value[i]]] = rows
            next
        }
        !/^\|/ || /^\|---/ { if (!/^\|/) close_table(); next }
        {
            count = split($0, cell, / *[|] */)
            if (!in_table) {
                if (!(cell[2] in axis)) next
                in_table = FNR; split("", candidate); split("", skip)
                for (i = 1; i <= files; i++) for (k = 2; k <= heads[i]; k++) candidate[i, k]
                for (i = 2; i < count; i++) { title[i] = cell[i]; skip[i] = cell[i] in axis }
                next
            }
            for (i = 2; i < count; i++) {
                if (skip[i]) continue
                reference = cell[i]
                if (!sub(/^[^(]*\(/, "", reference)) reference = ""
                sub(/\)$/, "", reference); sub(/ .*/, "", cell[i])
                if (cell[i] !~ /^-?[0-9]+\.?[0-9]*$/) continue
                values++; names = 0
                for (k = 2; k < count; k++) if (skip[k]) at[++names] = cell[k]
                at[++names] = title[i]
                look(at, names, cell[i], reference)
            }
        }
        END { close_table(); if (!values) print "no values" }' "${@:2}" "$1"
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
    cat "$work/differences" >>"$work/output"
    check "${name%/*}: a fresh run of ${name##*/}" test ! -s "$work/differences"
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
agrees "$papers/../together/combinations.md" "$papers/../together/results/combinations.csv" >"${work:?}/output"
check "all mechanisms: the page has the results' numbers" test ! -s "$work/output"

fresh nucd/stride stride --only accelerators=4 --only offload=nucd
fresh nucd/threads sum --only threads=8
fresh stash/micro implicit --only config=Stash
fresh tom/tom heartwall --size medium --only system=base
fresh tom/destination walsh --only system=base,ours
fresh axram/axram sobel --size medium --only way=gpu,ngpu,sha
fresh nupim/nupim lulesh --only system=base,crit_tr

# Two small experiments in place of a paper's, killed among the second one's runs and started again: the page and the tables are those
# of one that nobody killed, and runs that had ended are kept.
mkdir "${work:?}/killed"
cat >"$work/killed/loop.c" <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile long rounds = atol(argv[argc - 1]);
    while (rounds > 0)
        rounds--;
    return 0;
}
C
for name in 128 256; do
    cat >"$work/killed/of_$name.yaml" <<Y
title: $name
set: {memory.size: $name MiB}
machine: functional
text: "{{ratio loop thousand}} times."
programs: {loop: {source: loop.c, flags: -O1, arguments: [\$rounds], region: total}}
axes: {rounds: {ten: {\$rounds: 10}, hundred: {\$rounds: 100}, thousand: {\$rounds: 1000}, many: {\$rounds: 50000000}}}
columns: {instructions: {statistic: hart.0.instructions}, ratio: {ratio: instructions, to: {rounds: ten}, mean: geometric}}
tables: [{column: ratio, across: rounds}]
Y
    echo "of_$name" >>"$work/killed/pages"
done
page() {
    OPTIONS="--jobs 1" "$papers/page.sh" "$croft" "$(realpath --relative-to="$papers" "$work/killed")" "$work/$1"
}
page once >"$work/output" 2>&1
judge $? "a page that nobody kills"
OPTIONS="--jobs 1" setsid "$papers/page.sh" "$croft" "$(realpath --relative-to="$papers" "$work/killed")" "$work/again" >"$work/progress" 2>&1 &
group=$!
while kill -0 $group 2>/dev/null && [ "$(grep -cs ' 3 of 4: loop.thousand' "$work/progress" || :)" != 2 ]; do sleep 0.01; done
kill -s KILL -- -$group 2>/dev/null
killed=$?
wait $group 2>/dev/null
check "a page is killed" test $killed = 0 -a ! -e "$work/again/README.md"
page again >"$work/output" 2>&1
judge $? "and started again"
check "an index has the figures of all" test "$(grep -cE 'iframe src="of_(128|256).html"' "$work/again/index.html")" = 2
check "it has the tables, too" grep -q '^| program | ten | hundred ' "$work/again/index.html"
check "runs that had ended are kept" test "$(grep -c ' runs were in ' "$work/output")" = 2
diff -r "$work/once/results" "$work/again/results" >"$work/output" && diff "$work/once/README.md" "$work/again/README.md" >>"$work/output"
judge $? "its page and tables are the same"

# Tables of another size than the committed ones: a note under the page's title says so, and names them.
check "a page of committed tables has no note" test "$(grep -c 'Note' "$work/once/README.md")" = 0
mkdir "$work/killed/results"
cp "$work/once/results/of_128.csv" "$work/killed/results"
sed 's/,1000[0-9]*,/,77,/; s/loop/other/' "$work/once/results/of_256.csv" >"$work/killed/results/of_256.csv"
page again >"$work/output" 2>&1
check "a page of other tables is made" grep -q 'differ from the committed ones, .*: of_256.csv$' "$work/output"
sed -n 1,3p "$work/again/README.md" >"$work/output"
check "its note follows the title and names the tables" test "$(tr '\n' ' ' <"$work/output" | grep -cE '^# [^>]*  > \*\*Note\.\*\* [^>]*that differ: of_256.csv\)')" = 1
sed '2,3d' "$work/again/README.md" | diff "$work/once/README.md" - >"$work/output"
judge $? "the rest is the page"
"$papers/page.sh" "$croft" nucd "$work/wrong" smal >"$work/output" 2>&1
check "an unknown size is refused" test $? = 2 -a "$(grep -c "no paper has size 'smal'; there are: small medium full" "$work/output")" = 1
"$papers/page.sh" "$croft" nucdd "$work/wrong" >"$work/output" 2>&1
check "an unknown paper is refused" test $? = 2 -a "$(grep -c "no paper 'nucdd'; there are: axram nucd " "$work/output")" = 1

# whole PAPER [same]: all its experiments run; same: their results are those that are committed (nupim/epochs and one_channel of size medium).
whole() {
    "$papers/page.sh" "$croft" "$1" "${work:?}/whole/$1" small >"$work/output" 2>&1
    judge $? "$1: its page with small inputs"
    if [ -n "${2:-}" ]; then
        diff -r -x epochs.csv -x one_channel.csv "$papers/$1/results" "$work/whole/$1/results" >"$work/output" 2>&1
        judge $? "$1: results of small inputs"
    fi
}
if [ -n "${ALL:-}" ]; then
    whole nucd same
    whole stash
    whole tom
    whole axram
    whole nupim same
fi
conclude
