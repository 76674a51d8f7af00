#!/bin/bash
# Tests croft report: report.sh CROFT [ROWS...]. Opens pages of experiments of 10, 1000 and 100000 rows, and of single runs, in a
# browser without a window, and looks at what they have drawn. Prints "N passed, N failed".
# shellcheck disable=SC2016 # descriptions have variables of their own
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
keep=${KEEP:-}
shift
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages
    head -c 600 output
}

# page FILE: loads a page and prints what it is then, as HTML. Time is virtual, so that a busy machine changes nothing.
page() {
    timeout 240 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/chrome" --window-size=1240,2000 \
        --virtual-time-budget=5000 --dump-dom "file://$PWD/$1" 2>browser.txt
    if [ -n "$keep" ]; then cp "$1" "$keep/"; fi
}

# drawn FILE FIGURES: succeeds if the page became ready, drew at least so many figures, and none of them failed.
drawn() {
    page "$1" >output
    local figures
    figures=$(grep -o '<figcaption>' output | wc -l)
    grep -q 'data-ready=' output && [ "$figures" -ge "$2" ] && ! grep -q 'class="broken"' output
}

# Tables of experiments with ROWS rows, two axes and a column with references.
tables() {
    awk -v rows="$1" 'BEGIN {
        printf "{\"format\": \"croft experiment 1\", \"title\": \"rows </script><b>&amp;\", \"machine\": \"functional\", "
        printf "\"tables\": [{\"column\": \"value\", \"across\": \"size\"}], \"rows\": ["
        for (i = 0; i < rows; i++) {
            printf "%s{\"at\": {\"program\": \"p%d\", \"size\": \"%dKiB\", \"n\": \"%d\"}, \"failed\": false, ", i ? "," : "", i % 5, 2 ^ (i % 7), i
            printf "\"values\": {\"cycles\": %d, \"value\": %.4f}, \"references\": %s}", (i * 7919) % 100003, i % 97 / 7, i % 50 ? "{}" : "{\"value\": {\"value\": 3, \"source\": \"x\"}}"
        }
        print "]}"
    }' >"$2"
}

for rows in "${@:-10 1000 100000}"; do
    for count in $rows; do
        tables "$count" "rows$count.json"
        "$croft" report "rows$count.json" -o "rows$count.html" 2>messages
        judge $? "a page of $count rows"
        [ "$(stat -c %s "rows$count.html")" -lt 20000000 ]
        judge $? "its size, $(stat -c %s "rows$count.html") bytes, is below 20 MB"
        drawn "rows$count.html" 2
        judge $? "it draws its figures"
        # The title is text, and the table holds only the rows in view.
        grep -q '<h1>rows &lt;/script&gt;&lt;b&gt;&amp;amp;</h1>' output && [ "$(grep -o '<tr tabindex="-1"' output | wc -l)" -le 200 ] &&
            [ "$(grep -o '<tr tabindex="-1"' output | wc -l)" -ge 10 ]
        judge $? "its table has the rows in view"
        # How long the page took by the browser's own clock, which counts the time of scripts.
        ready=$(grep -o 'data-ready="[0-9]*"' output | tr -dc 0-9)
        echo "$count rows: $(stat -c %s "rows$count.html") bytes, ready after $ready ms"
    done
done
! grep -Eq '(src|href)="?https?:|@import|url\(http' rows10.html
judge $? "pages load nothing"

# Single runs: pages of machines with cores, multiprocessors and networks.
cat >program.c <<'C'
#include <croft/roi.h>
#include <stdlib.h>
int main(void)
{
    char *bytes = calloc(1, 1 << 16);
    croft_roi_begin("sweep");
    for (int i = 0; i < 1 << 16; i += 64)
        bytes[i] += 1;
    croft_roi_end("sweep");
    return bytes[64] != 1;
}
C
"$croft" cc -O2 program.c -o program.elf
"$croft" run -m "$(dirname "$0")/../../examples/machines/mesh.yaml" --stats mesh.json program.elf 2>messages ||
    "$croft" run -m "$OLDPWD/examples/machines/mesh.yaml" --stats mesh.json program.elf 2>messages
"$croft" report mesh.json -o mesh.html 2>messages && drawn mesh.html 8
judge $? "a run on a machine with a network"
for title in 'CPI by core' 'Energy by component' 'Flits by node of mesh' 'Busy clocks by port of mesh' 'Histogram: dram.read_clocks' 'dram: its copies' Roofline; do
    grep -q "<b>$title</b>" output
    judge $? "$title is drawn"
done
grep -q '<option value="sweep">' output && grep -q 'class="node"' output
judge $? "regions and the machine's graph are there"

# An experiment with details of its runs.
cat >two.yaml <<'Y'
title: two machines
machine: nucd
programs: {sweep: {file: program.elf, region: sweep}}
axes: {on: {nucd: {}, ddr3: {$machine: ddr3}}, size: {set: l2.size, values: [512 KiB, 1 MiB]}}
skip: [{on: ddr3, size: 1MiB}]
columns: {cycles: {statistic: host.0.cycles}, speedup: {speedup: cycles, from: {on: nucd, size: 512KiB}}}
tables: [{column: speedup, across: on}]
references: [{column: speedup, at: {on: ddr3}, value: 0.9, source: by hand}]
Y
sed -i 's/^skip.*/where: ["size < 1000000"]/' two.yaml
"$croft" experiment two.yaml >output 2>messages
"$croft" report two.results -o two.html 2>messages && drawn two.html 8 && grep -q '<option value="1">sweep ddr3' output &&
    grep -q '<b>CPI stacks of the hosts</b>' output && grep -q 'Marks: the references' output
judge $? "an experiment with the statistics of its runs"
"$croft" report two.results/results.db -o again.html 2>messages && cmp -s two.html again.html
judge $? "the same from results.db"

# What cannot be read.
wrong() {
    "$croft" report "${@:2}" -o wrong.html >output 2>messages
    [ $? -eq 1 ] && grep -qF "croft report: $1" messages && [ ! -e wrong.html ]
    judge $? "$1"
}
echo '{"format": "croft experiment 1"' >wrong.json
wrong 'wrong.json: line 2: not JSON' wrong.json
echo '{"format": "other"}' >wrong.json
wrong "wrong.json: its format is neither" wrong.json
wrong "none: No such file" none
wrong "two.results/results.db: no experiment 'three'" two.results/results.db --experiment three
mkdir empty
wrong "empty/results.json: No such file" empty

conclude
