#!/bin/bash
# Tests the plans of croft experiment: lists, ranges, zipped axes, conditions, samples, searches, comparisons:
# experiment_plan.sh CROFT. Prints "N passed, N failed".
# shellcheck disable=SC2016 # descriptions have variables of their own
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
scratch
cd "$work" || exit 1

evidence() {
    tail -n 4 messages
    head -n 12 output
}

# Prints its arguments; its region `main` has about 4 instructions for each unit of the first one, and 1000 more with "slow".
cat >program.c <<'C'
#include <croft/roi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    volatile long rounds = atol(argv[1]) + (argc > 2 && strcmp(argv[2], "slow") == 0 ? 250 : 0);
    croft_roi_begin("main");
    while (rounds > 0)
        rounds--;
    croft_roi_end("main");
    return 0;
}
C
"$croft" cc -O2 program.c -o program.elf

# describe LINE...: writes plan.yaml with these lines after the programs.
describe() {
    {
        echo 'title: plan'
        echo 'machine: functional'
        # shellcheck disable=SC2016 # not for the shell
        echo 'programs: {main: {file: program.elf, arguments: [$n, $s]}}'
        printf '%s\n' "$@"
        echo 'columns:'
        echo '  n: {statistic: hart.0.instructions}'
        echo "${columns:-}"
    } >plan.yaml
}

# rows EXPECTED: the first columns of results.csv, without the head, in one line.
rows() {
    local got
    got=$(tail -n +2 plan.results/results.csv | cut -d, -f2-"$2" | tr '\n' ' ')
    [ "$got" = "$1" ] || {
        echo "got $got" >output
        return 1
    }
}

run() {
    rm -rf plan.results
    "$croft" experiment plan.yaml "$@" >output 2>messages
}

describe 'set: {$s: x}' 'axes: {n: {set: $n, values: [3, 1, 20]}}'
run && rows "3 1 20 " 2
judge $? "a list keeps its order"
describe 'set: {$s: x, $n: 5}' 'axes: {size: {set: memory.size, from: 128 MiB, to: 600 MiB, times: 2}}'
run --files && rows "128MiB 256MiB 512MiB " 2 && grep -q '^  size: 512 MiB' plan.results/runs/main.512MiB.json.machine.yaml
judge $? "a geometric range"
describe 'set: {$s: x}' 'axes: {n: {set: [$n, quantum], from: 100, to: 400, step: 150}}'
run --files && rows "100 250 400 " 2 && grep -q '^quantum: 250' plan.results/runs/main.250.json.machine.yaml
judge $? "steps of two settings"
describe 'axes: {n: {set: $n, values: [1, 2, 3]}, s: {set: $s, values: [a, b, c]}, size: {set: memory.size, values: [128 MiB, 256 MiB]}}' \
    'zip: [[n, s]]'
run && rows "1,a,128MiB 1,a,256MiB 2,b,128MiB 2,b,256MiB 3,c,128MiB 3,c,256MiB " 4
judge $? "zipped axes"
describe 'axes: {n: {set: $n, from: 1, to: 6, step: 1}, s: {set: $s, values: [1, 2, 3]}, size: {set: memory.size, values: [128 MiB, 1 GiB]}}' \
    'where: [n = 2 * s, "$n < 5 AND size > 200000000"]'
run && rows "2,1,1GiB 4,2,1GiB " 4
judge $? "conditions over points, variables and sizes"
describe 'axes: {n: {set: $n, values: [1, 2]}, s: {set: $s, values: [a, b]}}' "where: \"s = 'a' OR n = 2\"" 'skip: [{n: 2, s: a}]'
run && rows "1,a 2,b " 3
judge $? "a condition and points to skip"

describe 'set: {$s: x}' 'axes: {n: {sample: random, count: 4, seed: 1, of: {$n: [1], $u: {from: 0, to: 18446744073709551615}}}}'
run && [ "$(tail -n +2 plan.results/results.csv | cut -d, -f4 | sort -u | grep -vc 18446744073709551615)" -eq 4 ]
judge $? "a sample of all numbers"
describe 'set: {$s: x, $n: 1}' 'axes: {u: {set: $u, from: 1, to: 18446744073709551615, times: 4294967296}}'
run && rows "1 4294967296 18446744073709551615 " 2
judge $? "factors up to the largest number"

# Samples: each of 8 parts of each range has one value; the same seed gives the same, another one others.
sample='axes: {i: {sample: latin, count: 8, seed: 7, of: {$n: {from: 0, to: 79}, $s: [a, b], memory.size: {from: 128 MiB, to: 1 GiB, times: 2}}}}'
describe "$sample"
run && cp plan.results/results.csv first.csv && head -n 1 first.csv | grep -q '^program,i,\$n,\$s,memory.size,n,failure$' &&
    [ "$(tail -n +2 first.csv | cut -d, -f3 | awk '{ print int($1 / 10) }' | sort -n | xargs)" = "0 1 2 3 4 5 6 7" ] &&
    [ "$(tail -n +2 first.csv | cut -d, -f4 | sort | uniq -c | xargs)" = "4 a 4 b" ] &&
    [ "$(tail -n +2 first.csv | cut -d, -f5 | sort | uniq -c | sort -k2n | xargs)" = "2 1 GiB 2 128 MiB 2 256 MiB 2 512 MiB" ]
judge $? "a Latin hypercube"
run && cmp -s plan.results/results.csv first.csv
judge $? "the same seed, the same sample"
describe "${sample/seed: 7/seed: 8}"
run && ! cmp -s plan.results/results.csv first.csv
judge $? "another seed, another sample"
describe "${sample/latin, count: 8/random, count: 300}"
run && tail -n +2 plan.results/results.csv | awk -F, '{ s += $3; a += $4 == "a"; if ($3 < 0 || $3 > 79) bad = 1 }
    END { exit bad || s / NR < 35 || s / NR > 44 || a < 110 || a > 190 || NR != 300 }'
judge $? "random samples"

# The first n whose count reaches that of slow n = 100, which is that of n = 350: 352 in steps of 4. Bisection of 256 points
# takes 9 steps at most, and the baseline.
columns='  relative: {ratio: n, to: {n: 100, s: slow}}'
describe 'axes: {n: {set: $n, from: 0, to: 1020, step: 4}, s: {set: $s, values: [fast, slow]}}' \
    'searches: [{axis: n, column: relative, at_least: 1, at: {s: fast}}]'
sed -i '/^searches/d' plan.yaml
echo 'searches: [{axis: n, column: relative, at_least: 1, at: {s: fast}}]' >>plan.yaml
run --jobs 4 && grep -Eq '^main +fast +352 \(1\.' plan.results/tables.txt && [ "$(wc -l <plan.results/results.csv)" -le 12 ] &&
    grep -q ' 0 failed' messages
judge $? "a search bisects"
cp plan.results/results.csv first.csv
"$croft" experiment plan.yaml >output 2>messages && cmp -s plan.results/results.csv first.csv && grep -q 'runs were in' messages
judge $? "a search is repeated without runs"
sed -i 's/at_least: 1,/at_least: 1000,/' plan.yaml
run && grep -Eq '^main +fast +none$' plan.results/tables.txt && [ "$(wc -l <plan.results/results.csv)" -le 3 ]
judge $? "a threshold that no point reaches"
sed -i 's/at_least: 1000,/at_most: 100,/' plan.yaml
run && grep -Eq '^main +fast +0 \(' plan.results/tables.txt
judge $? "a threshold that all points reach"

# The best point of an axis without order, within a budget: 40 has more than the budget, 7 is the greatest within.
describe 'axes: {n: {set: $n, values: [3, 40, 7, 5]}, s: {set: $s, values: [fast, slow]}}'
echo 'searches: [{axis: n, column: n, best: most, within: {relative: 1}, at: {s: fast}}]' >>plan.yaml
sed -i 's/to: {n: 100, s: slow}/to: {n: 7, s: fast}/' plan.yaml
run && grep -q ': n with the most n within relative at most 1$' plan.results/tables.txt &&
    grep -Eq '^main +fast +7 \(' plan.results/tables.txt
judge $? "the best within a budget"
sed -i 's/best: most, within: {relative: 1}/best: least/' plan.yaml
run && grep -Eq '^main +fast +3 \(' plan.results/tables.txt
judge $? "the best without a budget"
sed -i 's/best: least/best: least, within: {relative: 0.01}/' plan.yaml
run && grep -Eq '^main +fast +none$' plan.results/tables.txt
judge $? "a budget that no point keeps"
columns='  time: {statistic: sim.time}'
describe 'axes: {n: {set: $n, values: [3, 5]}}' 'set: {$s: fast}'
sed -i 's/^machine: functional/machine: ddr3/' plan.yaml
echo 'searches: [{axis: n, column: time, best: least, within: {time: 5.2e+12}}]' >>plan.yaml
run && grep -q ': n with the least time within time at most 5\.2 ms$' plan.results/tables.txt &&
    grep -Eq '^main +3 \([0-9.]+ ns\)$' plan.results/tables.txt
judge $? "what a search prints has units"
columns=

# Comparisons: of two points, two machines, two crofts.
describe 'set: {$s: x}' 'axes: {n: {set: $n, values: [10, 20]}, size: {set: memory.size, values: [128 MiB, 256 MiB]}}'
echo 'compare: [{axis: n, from: 10, to: 20}, {axis: size, from: 128MiB, to: 256MiB}]' >>plan.yaml
run && head -n 1 plan.results/differences.csv | grep -qx 'program,size,region,statistic,unit,10,20,ratio' &&
    grep -Eq '^main,256MiB,main,hart.0.instructions,instructions,[0-9]+,[0-9]+,1\.[0-9]+$' plan.results/differences.csv &&
    ! grep -q 'class.amo' plan.results/differences.csv && grep -Eq '^n: from 10 to 20, [1-9][0-9]* of [0-9]+ statistics of 2 runs differ' output
judge $? "statistics that differ"
# The first pass of atol() over "10" and "20" is as long; memory of another size changes nothing.
[ "$(wc -l <plan.results/differences2.csv)" -eq 1 ]
judge $? "statistics that do not differ"
mkdir -p twin/bin && cp "$croft" twin/bin && echo >>twin/bin/croft && ln -sf "$(dirname "$croft")/../share" twin/share
describe 'set: {$s: x, $n: 10}' 'axes: {version: {ours: {}, other: {$croft: twin/bin/croft}}, on: {functional: {}, ddr3: {$machine: ddr3}}}'
echo 'compare: [{axis: version, from: ours, to: other}, {axis: on, from: functional, to: ddr3}]' >>plan.yaml
run && grep -q '^version: from ours to other, 0 of [1-9][0-9]* statistics of 2 runs differ' output && rows "ours,functional ours,ddr3 other,functional other,ddr3 " 3 &&
    grep -q '^main,ours,total,host.0.cycles,cycles,,[0-9]*,$' plan.results/differences2.csv
judge $? "two versions of croft, and two machines"
[ -z "$(find plan.results -name '.run*')" ]
judge $? "the other croft's files are removed"

# Bad descriptions.
wrong() {
    run "${@:2}"
    [ $? -eq 2 ] && grep -qF "croft experiment: plan.yaml$1" messages
    judge $? "$1"
}
describe 'axes: {n: {set: $n, values: [1, 1]}}'
wrong ":4: n: '1' appears twice"
describe 'axes: {n: {set: $n, from: 5, to: 1}}'
wrong ":4: to: below 'from'"
describe 'axes: {n: {set: $n, from: 5 KiB, to: 7 ns}}'
wrong ":4: to: "
describe 'axes: {n: {set: $n, from: x, to: 7}}'
wrong ":4: from: 'x' is not a whole number"
describe 'axes: {n: {set: $n, from: 1, to: 7, tims: 2}}'
wrong ":4: n: unknown key 'tims'; did you mean 'times'?"
describe 'axes: {n: {set: $n, from: 0, to: 7, times: 2}}'
wrong ":4: times: a factor above 1 is expected, and 'from' above 0"
describe 'axes: {n: {sample: cubic, count: 3, seed: 1, of: {$n: [1]}}}'
wrong ":4: sample: 'random' or 'latin' is expected, not 'cubic'"
describe 'axes: {n: {sample: latin, count: 0, seed: 1, of: {$n: [1]}}}'
wrong ":4: count: 1 to 1048576 samples are allowed"
describe 'axes: {n: {set: $n, values: [1, 2]}, s: {set: $s, values: [a]}}' 'zip: [[n, s]]'
wrong ":5: zip: 's' has 1 points, but 'n' has 2"
describe 'axes: {n: {set: $n, values: [1, 2]}}' 'zip: [[n, t]]'
wrong ":5: zip: unknown axis 't'"
describe 'axes: {rob: {set: $n, values: [1, 2]}, s: {set: $s, values: [a, b]}}' 'zip: [[s, rov]]'
wrong ":5: zip: unknown axis 'rov'; did you mean 'rob'?"
describe 'axes: {n: {set: $n, values: [1, 2]}}' 'where: [m > 1]'
wrong ":5: where: no such column: m"
describe 'axes: {n: {set: $n, values: [1, 2]}}' 'where: [$t > 1]' 'set: {$s: x}'
wrong ":5: where: no axis gives \$t a value"
describe 'axes: {n: {set: $n, values: [1, 2]}}' 'where: ["n > "]'
wrong ":5: where: "
describe 'axes: {n: {set: $n, values: [1, 2]}}' 'where: ["1) FROM sqlite_schema; DROP TABLE x; --"]'
wrong ":5: where: "
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'searches: [{axis: n, column: n}]' >>plan.yaml
wrong ":8: searches: a threshold is either 'at_least' or 'at_most'; 'best' has none"
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'searches: [{axis: n, column: n, best: cheap}]' >>plan.yaml
wrong ":8: best: 'cheap' is not allowed; allowed: least, most"
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'searches: [{axis: n, column: n, at_most: 3, within: {n: 4}}]' >>plan.yaml
wrong ":8: searches: 'within' is for a search for the best: 'best: least'"
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'searches: [{axis: n, column: n, best: least, within: {area: 4}}]' >>plan.yaml
wrong ":8: searches: unknown column 'area'"
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'compare: [{axis: n, from: 1, to: 3}]' >>plan.yaml
wrong ":8: compare: unknown point '3'"
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'compare: [{axis: m, from: 1, to: 2}]' >>plan.yaml
wrong ":8: compare: unknown axis 'm'"
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'searches: [{axis: k, column: n, at_least: 1}]' >>plan.yaml
wrong ":8: searches: unknown axis 'k'"
describe 'axes: {n: {set: $n, values: [1, 2]}}'
echo 'searches: [{axis: n, column: nn, at_least: 1}]' >>plan.yaml
wrong ":8: searches: unknown column 'nn'; did you mean 'n'?"
describe 'axes: {a: {set: $n, from: 1, to: 1000}, b: {set: $s, from: 1, to: 10000}}'
wrong ":4: axes: these are 10000000 runs; if they are meant, say --yes"
[ ! -e plan.results ]
judge $? "nothing is made before it is meant"
describe 'axes: {a: {set: $n, from: 1, to: 10000000}}'
wrong ":4: from: 10000000 points up to 'to'; an axis has at most 1048576"
describe 'axes: {a: {set: $n, from: 1, to: 1000}, b: {set: $s, from: 1, to: 1000000}}'
wrong ":4: axes: 2000000000 runs and means; 100000000 are allowed"
describe 'set: {$s: x}' 'axes: {a: {set: $n, from: 0, to: 18446744073709551615, step: 1}}'
wrong ":5: from: 18446744073709551616 points up to 'to'; an axis has at most 1048576. Take a larger step, or several axes"
{
    printf 'a: '
    head -c 100000 /dev/zero | tr '\0' '['
} >plan.yaml
wrong ":1: nested more than 32 deep"

# The command line's settings and axes.
describe 'set: {$s: x, $n: 5}' 'axes: {size: {set: memory.size, values: [128 MiB, 256 MiB]}, few: {one: {quantum: 1000}, two: {quantum: 2000}}}'
for set in memory.size=512MiB 'x|memory.size=512MiB'; do
    run --set "$set"
    [ $? -eq 2 ] && [ ! -e plan.results ] &&
        grep -qF "croft experiment: plan.yaml:5: axis 'size' sets memory.size, and --set '$set' would override it in all runs; leave one of them out" messages
    judge $? "--set $set over an axis of values"
done
run --set quantum=3000 --files && grep -qF "croft experiment: warning: plan.yaml:5: --set 'quantum=3000' overrides quantum of axis 'few'" messages &&
    grep -q '^quantum: 3000' plan.results/runs/main.128MiB.one.json.machine.yaml
judge $? "--set over an axis of written points"
describe 'set: {$s: x, $n: 5}' 'axes: {rob: {set: host.*.rob, values: [32, 64]}}'
sed -i 's/^machine: .*/machine: nucd/' plan.yaml
for set in host.rob=80 host.0.rob=80 host=none; do
    run --set "$set"
    [ $? -eq 2 ] && grep -qF "axis 'rob' sets host.*.rob, and --set '$set' would override it" messages
    judge $? "--set $set over an axis of a pattern"
done
run --set host.iq=20 && rows "32 64 " 2 && ! grep -q warning messages
judge $? "--set of another key"

# The machines of runs.
columns=
describe 'set: {$s: x, $n: 10}' 'axes: {on: {a: {$machine: functional}, b: {$machine: ddr3}}}'
sed -i '/^machine:/d; s/statistic: hart.0.instructions/statistic: sim.time, absent: 0/' plan.yaml
run && rows "a b " 2 && grep -q '"machine": "functional, ddr3"' plan.results/results.json
judge $? "an axis of machines needs no machine"
"$croft" report plan.results -o plan.html 2>messages && grep -q 'machines functional, ddr3, 2 rows' plan.html
judge $? "the report names them"
sed -i '1a machine: nucd' plan.yaml
run && grep -q '"machine": "functional, ddr3"' plan.results/results.json
judge $? "a machine that no run uses is not named"
describe 'set: {$s: x, $n: 10}' 'axes: {on: {a: {}, b: {$machine: ddr3}}, k: {set: quantum, values: [1000, 2000]}}'
sed -i '/^machine:/d; s/statistic: hart.0.instructions/statistic: sim.time, absent: 0/' plan.yaml
wrong ":1: experiment: 'machine' is missing; no axis sets \$machine in run main.a.1000"
echo 'skip: [{on: a}]' >>plan.yaml
run && rows "b,1000 b,2000 " 3
judge $? "a point without a machine that is skipped"

# A key that machines have at different paths.
describe 'set: {$s: x, $n: 10}' 'axes: {on: {d: {$machine: ddr3}, t: {$machine: tom_base}}, tCL: {set: dram.tCL|stack.*.dram.tCL, values: [11 ns, 22 ns]}}'
sed -i '/^machine:/d; s/statistic: hart.0.instructions/statistic: sim.time, absent: 0/' plan.yaml
run --files && rows "d,11ns d,22ns t,11ns t,22ns " 3 && [ "$(grep -l 'tCL: 22 ns' plan.results/runs/main.?.22ns.json.machine.yaml | wc -l)" -eq 2 ]
judge $? "an axis of a key with two paths"
sed -i 's/dram.tCL|stack/dram.tCLL|stack/' plan.yaml
wrong ":4: --set 'dram.tCLL|stack.*.dram.tCL=11 ns': unknown key 'dram.tCLL'; did you mean 'dram.tCL'?"
sed -i 's/dram.tCLL|stack.\*.dram.tCL/dram.tCL/' plan.yaml
wrong ":4: --set 'dram.tCL=11 ns': the machine has no dram; did you mean 'stack.*.dram.tCL'? Otherwise dram=default adds one"

# A statistic that does not exist is reported after the first run, not after all.
describe 'set: {$s: x}' 'axes: {n: {set: $n, from: 1, to: 20}}'
sed -i 's/statistic: [a-z0-9.*]*/statistic: hart.0.instrucions/' plan.yaml
"$croft" experiment plan.yaml --jobs 1 >output 2>messages
[ "$(grep -n "no statistic 'hart.0.instrucions'" messages | head -n 1 | cut -d: -f1)" -le 3 ]
judge $? "an unknown statistic is reported early"
rm -rf plan.results

# With a terminal, it asks; progress is one line.
describe 'axes: {a: {set: $n, from: 1, to: 1000}, b: {set: $s, from: 1, to: 11}}'
printf 'n\n' | script -qec "$croft experiment plan.yaml" /dev/null >output 2>messages
grep -q 'plan.yaml:4: axes: these are 11000 runs. Execute them? \[y/N\]' output && grep -q 'nothing was run' output
judge $? "it asks on a terminal"
describe 'set: {$s: x}' 'axes: {n: {set: $n, from: 1, to: 40}}'
SECONDS=0
script -qec "$croft experiment plan.yaml --jobs 2" /dev/null >output 2>messages
grep -Eq '[0-9]+ of 40 runs done, 0 failed, [0-9] running, [0-9]+ left' output && [ "$(wc -l <output)" -le 3 ]
judge $? "a line of progress on a terminal"
[ "$(tr '\r' '\n' <output | grep -c 'runs done')" -le $((10 + 6 * SECONDS)) ] # five times a second, not with each run
judge $? "the line changes seldom"
rm -rf plan.results
script -qec "stty columns 30; $croft experiment plan.yaml --jobs 2" /dev/null >output 2>messages
tr '\r' '\n' <output | sed 's/\x1b\[K//' | grep 'runs done' >lines
[ -s lines ] && [ "$(awk '{ if (length($0) > most) most = length($0) } END { print most }' lines)" -le 29 ]
judge $? "it is cut to the terminal"

conclude
