#!/bin/bash
# Tests croft experiment through its command line: experiment.sh CROFT. Prints "N passed, N failed".
# shellcheck disable=SC2016,SC2181 # descriptions have variables of their own; the status belongs to the line before
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages output
}

# A loop of N rounds of 4 instructions in the region; then exits with STATUS.
cat >loop.S <<'S'
    .globl main
main:
    addi sp, sp, -16
    sd ra, 0(sp)
    sd s0, 8(sp)
    ld a0, 8(a1)
    call atoi
    mv s0, a0
    la t0, name
    .insn i 0x13, 3, x0, t0, 1
1:  addi s0, s0, -1
    nop
    nop
    bnez s0, 1b
    .insn i 0x13, 3, x0, t0, 2
    li a0, STATUS
    ld ra, 0(sp)
    ld s0, 8(sp)
    addi sp, sp, 16
    ret
    .data
name: .string "loop"
S
cat >good.yaml <<'Y'
title: rounds
machine: functional
programs:
  loop: {source: loop.S, flags: [-DSTATUS=0], arguments: [$rounds]}
  other: {source: loop.S, flags: -DSTATUS=0, arguments: $rounds, region: loop}
axes:
  rounds:
    few: {$rounds: 10}
    many: {$rounds: 100, memory.size: 512 MiB}
  size:
    default: {}
    small: {memory.size: 256 MiB}
skip: [{program: other, size: small}]
columns:
  instructions: {statistic: hart.0.instructions, mean: arithmetic}
  twice: {statistic: [hart.0.instructions, hart.0.*ructions]}
  nothing: {statistic: [hart.0.instructions, -hart.0.instructions]}
  absent: {statistic: no.such, absent: 7}
  rate: {divide: [twice, instructions]}
  speedup: {speedup: instructions, from: {rounds: many}}
  ratio: {ratio: instructions, to: {rounds: many}, mean: geometric}
tables: [{column: ratio, across: rounds}]
references: [{column: ratio, at: {program: loop, rounds: few}, value: 0.1, source: by hand}]
Y

# N rounds execute 4 N instructions plus one marker: 41 and 401 for N = 10 and 100. 401 / 41 = 9.780488; the
# inverse is 0.102244.
"$croft" experiment good.yaml --jobs 1 --files >output 2>messages
judge $? "a good description"
diff - good.results/results.csv >>output <<'C'
program,rounds,size,instructions,twice,nothing,absent,rate,speedup,ratio,ratio.reference,failure
loop,few,default,41,82,0,7,2,9.780488,0.102244,0.100000,
loop,few,small,41,82,0,7,2,9.780488,0.102244,0.100000,
loop,many,default,401,802,0,7,2,1,1,,
loop,many,small,401,802,0,7,2,1,1,,
other,few,default,41,82,0,7,2,9.780488,0.102244,,
other,many,default,401,802,0,7,2,1,1,,
mean,few,default,41,,,,,,0.102244,,
mean,many,default,401,,,,,,1,,
C
judge $? "its results"
grep -q '^  size: 256 MiB' good.results/runs/loop.many.small.json.machine.yaml
judge $? "the later axis wins"
"$croft" experiment good.yaml --jobs 4 --out again --set memory.size=128MiB --files >again.txt 2>messages
cmp -s good.results/results.csv again/results.csv && grep -q '^  size: 128 MiB' again/runs/loop.many.small.json.machine.yaml
judge $? "the same with four runs at a time, in another folder; --set over all"

# A program has the same bytes in a checkout of another name: one that walks over the name of its file takes the same time.
mkdir -p short folder_of_a_longer_name
for folder in short folder_of_a_longer_name; do
    cat >$folder/name.c <<'C'
#include <croft/roi.h>
int main(void)
{
    croft_roi_begin("name");
    for (const volatile char *at = __FILE__; *at; at++)
        continue;
    croft_roi_end("name");
    return 0;
}
C
    cat >$folder/name.yaml <<'Y'
title: names
machine: functional
programs: {name: {source: name.c, flags: [-O2]}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
    "$croft" experiment "$PWD/$folder/name.yaml" --out $folder/results >>output 2>&1
done
cmp short/results/results.csv folder_of_a_longer_name/results/results.csv >>output 2>&1 && grep -qE '^name,[0-9]+,$' short/results/results.csv
judge $? "a checkout of another name"

# Sizes, settings of programs, and means over some of them: listed, or by a column at the row's point or another.
sed -e 's/^programs:/sizes: {s: {$rounds: 10, $times: 3, memory.size: 128 MiB}, l: {$rounds: 20, $times: 5, memory.size: 128 MiB}}\nprograms:/' \
    -e 's/arguments: \[\$rounds\]/set: {memory.size: 512 MiB, $rounds: 30}, arguments: [$rounds]/; /^  rounds:/,/^skip/d' \
    -e 's/^axes:/  third: {source: loop.S, flags: -DSTATUS=0, arguments: $times, region: loop}\naxes: {at: {one: {}, two: {$times: 100}}}/' \
    -e 's/^columns:/means:\n  pair: [other, third]\n  long: {column: instructions, at_least: 81}\n  short: {column: instructions, at_most: 81, at: {at: one}}\n  none: {column: instructions, at_most: 1}\ncolumns:/' \
    -e '/speedup:/d; /ratio/d' good.yaml >sizes.yaml
"$croft" experiment sizes.yaml --files >output 2>messages
judge $? "sizes and means"
cut -d, -f 1-3 sizes.results/results.csv | diff - <(cat <<'C'
program,at,instructions
loop,one,121
loop,two,121
other,one,41
other,two,41
third,one,13
third,two,401
mean,one,58.333333
mean,two,187.666667
pair,one,27
pair,two,221
long,one,121
long,two,261
short,one,27
short,two,221
C
) >>output
judge $? "the first size; a program's settings before its"
grep -q '^  size: 512 MiB' sizes.results/runs/loop.one.json.machine.yaml && grep -q '^  size: 128 MiB' sizes.results/runs/other.one.json.machine.yaml
judge $? "machines of programs"
"$croft" experiment sizes.yaml --size l --out large >output 2>messages
grep -q '^other,one,81,' large/results.csv && grep -q '^third,one,21,' large/results.csv && grep -q '^short,one,51,' large/results.csv
judge $? "another size"
"$croft" experiment sizes.yaml --size x >output 2>messages
[ $? -eq 2 ] && grep -qF "croft experiment: sizes.yaml:3: sizes: no size 'x'" messages
judge $? "an unknown size"
"$croft" experiment good.yaml --size l >output 2>messages
[ $? -eq 2 ] && grep -qF "the description has no 'sizes', so --size l means nothing" messages
judge $? "a size without sizes"
for change in "s/pair: \[other/pair: [othr/|means: unknown point 'othr'; did you mean 'other'?" \
    "s/pair: \[other/pair: [mean/|means: 'mean' is a mean; programs are expected" \
    "s/  pair:/  other:/|means: 'other' is the name of a program or another mean" \
    "s/, at_least: 81//|means: 'at_least' or 'at_most' is missing" \
    "s/{memory.size: 512 MiB, /{memory.sise: 512 MiB, /|unknown key 'memory.sise'; did you mean 'memory.size'?"; do
    sed "${change%%|*}" sizes.yaml >bad.yaml
    "$croft" experiment bad.yaml >output 2>messages
    [ $? -eq 2 ] && grep -qF "${change##*|}" messages
    judge $? "${change##*|}"
done

# Some points only.
"$croft" experiment sizes.yaml --only program=loop,third --only at=two --out only >output 2>messages
[ $? -eq 0 ] && [ "$(grep -E '^(loop|other|third),' only/results.csv | cut -d, -f1,2 | tr '\n' ' ')" = "loop,two third,two " ] && [ ! -e only/programs/other ]
judge $? "some points only"
for change in 'prgram=loop|sizes.yaml: there is no axis '"'prgram'; did you mean 'program'?" loop\|'loop: an axis and its points are expected' \
    "program=lop|sizes.yaml: axis program has no point 'lop'; did you mean 'loop'?"; do
    "$croft" experiment sizes.yaml --only "${change%%|*}" --out only >output 2>messages
    [ $? -eq 2 ] && grep -qF "${change##*|}" messages
    judge $? "--only ${change%%|*}"
done

# The largest of several statistics, and multiples.
sed 's/  twice: .*/  twice: {statistic: [hart.0.instructions, "hart.0.*ructions", no.such], of: most, absent: 60, times: 0.5}/' good.yaml >most.yaml
"$croft" experiment most.yaml >output 2>messages
grep -q '^loop,few,default,41,30,' most.results/results.csv && grep -q '^loop,many,default,401,200.500000,' most.results/results.csv
judge $? "the largest statistic"
for change in 's/of: most/of: mots/|of: '"'mots'"': sum and most are allowed' "s/absent: {statistic: no.such, absent: 7}/absent: {divide: [twice, twice], times: 2}/|absent: 'of' and 'times' need a 'statistic'"; do
    sed "${change%%|*}" most.yaml >bad.yaml
    "$croft" experiment bad.yaml >output 2>messages
    [ $? -eq 2 ] && grep -qF "${change##*|}" messages
    judge $? "${change##*|}"
done

# Commands before the runs: their files are where settings name them, they are not executed twice, and again if they have changed.
cat >prepared.yaml <<'Y'
title: prepared
machine: functional
set: {$rounds: 10}
programs:
  loop:
    source: loop.S
    flags: -DSTATUS=0
    arguments: $rounds
    prepare: [[croft, run, --max-insns, 1000000, $program, $rounds], [sh, -c, 'echo "memory: {size: 192 MiB}" > $prepared/part.yaml; echo "$0" >> @/count', ran]]
    set: {$size: 1}
columns: {instructions: {statistic: hart.0.instructions}}
Y
sed -i "s|@|$work|" prepared.yaml
for round in 1 2; do
    "$croft" experiment prepared.yaml >output 2>messages
    judge $? "prepared, $round"
done
grep -q '192' prepared.results/prepared/loop/part.yaml && [ -e prepared.results/prepared/loop/1.txt ] && [ "$(cat count)" = ran ]
judge $? "prepared once"
sed 's/, ran\]/, again]/' prepared.yaml >again.yaml
"$croft" experiment again.yaml --out prepared.results >output 2>messages
[ "$(tr '\n' ' ' <count)" = "ran again " ]
judge $? "prepared again"
sed 's/\[sh, -c, /[sh, -c, "echo worse >\&2; exit 3"], [sh, -c, /' prepared.yaml >bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 1 ] && grep -q '^loop,,loop cannot be prepared: status 3: worse$' bad.results/results.csv && [ "$(wc -l <count)" -eq 2 ]
judge $? "a preparation that fails"
sed 's/prepare: .*/prepare: [croft]/' prepared.yaml >bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 2 ] && grep -qF "prepare: a list of commands, each a list of words, is expected" messages
judge $? "a preparation that is no list of lists"

# Another program in place of a program, made before its runs; and columns made of columns.
cat >other.yaml <<'Y'
title: other
machine: functional
programs:
  loop:
    source: loop.S
    flags: [-DSTATUS=0]
    arguments: [10]
    prepare: [[croft, cc, -DSTATUS=3, $source, -o, $prepared/failing]]
axes: {way: {own: {}, failing: {$program: $prepared/failing}}}
columns:
  instructions: {statistic: hart.0.instructions}
  twice: {value: 2 * instructions + 0.5}
  share: {value: 100 * twice / instructions}
tables: [{column: twice, across: way}]
Y
"$croft" experiment other.yaml >output 2>messages
[ $? -eq 1 ] && awk -F, '
    $2 == "own" { good += $4 == 2 * $3 + 0.5 && $5 > 200 && $5 < 300 }
    $2 == "failing" { good += $NF ~ /status 3/ }
    END { exit good != 2 }' other.results/results.csv
judge $? "another program, and columns of columns"
sed 's|twice: .*|twice: {value: "1/3 * instructions + max(2, 0)"}|' other.yaml >third.yaml
"$croft" experiment third.yaml >output 2>messages
awk -F, '$2 == "own" { d = $4 - ($3 / 3 + 2); exit !(d * d < 1e-9) }' third.results/results.csv
judge $? "constants are real numbers"
sed "s|twice: .*|twice: {value: \"'abc'\"}|" other.yaml >text.yaml
"$croft" experiment text.yaml >output 2>messages
[ $? -eq 1 ] && grep -qF 'value: a number is expected, not a text' text.results/results.csv
judge $? "a value that is a text"
for change in '2 * instr|value: no such column: instr; earlier columns can be named' '$rounds + 1|value: $rounds has no value here' \
    '1) FROM place; SELECT (2|value: one expression is expected' 'instructions +|value: near ")": syntax error' '"instr" + 1|value: no such column: instr' 'random() + instructions|value: not authorized to use function: random'; do
    sed "s/twice: .*/twice: {value: '${change%%|*}'}/" other.yaml >bad.yaml
    "$croft" experiment bad.yaml >output 2>messages
    [ $? -eq 2 ] && grep -qF "${change##*|}" messages
    judge $? "value: ${change%%|*}"
done

# Numbers that the program prints.
cat >print.c <<'C'
#include <croft/roi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    croft_roi_begin("print");
    croft_roi_end("print");
    return argc < 2 || printf("rounds: %d\nlost 2.5 %%, %s more\nlost 7\nsum 1,234\n", 3 * atoi(argv[1]), argv[1]) < 0;
}
C
cat >print.yaml <<'Y'
title: print
machine: functional
programs: {print: {source: print.c, arguments: [$n]}}
axes: {n: {two: {$n: 2}, three: {$n: 3}}}
columns: {rounds: {printed: "rounds: "}, lost: {printed: "lost "}, both: {value: rounds + lost}}
Y
"$croft" experiment print.yaml >output 2>messages
[ $? -eq 0 ] && grep -q '^print,two,6,2.500000,8.500000,' print.results/results.csv && grep -q '^print,three,9,2.500000,11.500000,' print.results/results.csv
judge $? "printed numbers"
for change in 'lost: {printed: "lots "}|lost: print.two: the program has not printed '"'lots '" 'lost: {printed: "%"}|lost: print.two: no number behind '"'%'" 'lost: {printed: "sum "}|no number behind '"'sum '" \
    'lost: {printed: "lost ", divide: [rounds, rounds]}|lost: a column has one of'; do
    sed "s/lost: {printed: \"lost \"}/${change%%|*}/" print.yaml >bad.yaml
    "$croft" experiment bad.yaml >output 2>messages
    [ $? -ne 0 ] && grep -qF "${change##*|}" messages
    judge $? "${change##*|}"
done

# Numbers in a file, and variables in the names of statistics: points that differ in these alone are one run.
cat >named.yaml <<'Y'
title: named
machine: functional
programs:
  print: {source: print.c, arguments: ["1"], prepare: [[croft, run, $program, "7"], [echo, "lost -3 4"]]}
axes: {kind: {insns: {$kind: instructions}, all: {$kind: "*"}}}
columns:
  counted: {statistic: [hart.0.instructions, -hart.0.$kind]}
  first: {printed: "lost ", file: $prepared/2.txt}
  second: {printed: "lost", file: $prepared/2.txt, number: 2}
Y
"$croft" experiment named.yaml >output 2>messages
[ $? -eq 0 ] && grep -q '^print,insns,0,-3,4,' named.results/results.csv && grep -q '^print,all,-*[0-9]*,-3,4,' named.results/results.csv &&
    [ "$(sqlite3 named.results/results.db 'select count(*) from run')" = 1 ]
judge $? "numbers in a file, variables in names"
for change in 's/number: 2/number: 3/|second: print.insns: no number behind '"'lost'" 's/number: 2/number: 0/|number: 1 to 1000 is allowed' 's/"lost"/"last"/|second: print.insns: its file has no '"'last'" \
    's/second: .*/second: {statistic: hart.0.instructions, number: 2}/|second: '"'file' and 'number' need 'printed'" 's/2.txt, number/9.txt, number/|$prepared/9.txt: No such file' \
    's/hart.0.$kind/hart.0.$kinds/|counted: no axis gives $kinds a value' 's/{$kind: instructions}/{$kind: instructons}/|counted: print.insns: no statistic '"'hart.0.instructons'"; do
    sed "${change%%|*}" named.yaml >bad.yaml
    "$croft" experiment bad.yaml --out named.results >output 2>messages
    [ $? -ne 0 ] && grep -qF "${change##*|}" messages
    judge $? "${change##*|}"
done

# A page: texts with values, and tables.
sed -e 's/^machine/text: "Few: {{ratio few}}, {{+speedup few other}}, {{%ratio mean few}}."\nmachine/' \
    -e 's/across: rounds}/across: rounds, title: Ratios, text: "N is {{instructions other many}}."}/' good.yaml >paged.yaml
"$croft" experiment paged.yaml >output 2>messages
diff - paged.results/page.md >>output <<'M'
# rounds

Few: 0.102, +878.0 %, 10 %.
## Ratios

| program | size | few | many |
|---|---|---|---|
| loop | default | 0.102 (0.1) | 1.000 |
| loop | small | 0.102 (0.1) | 1.000 |
| other | default | 0.102 | 1.000 |
| mean | default | 0.102 | 1.000 |

N is 401.0.
M
judge $? "a page"
sed 's/across: rounds, title/across: rounds, at: {size: small, rounds: few, program: [loop, mean]}, title/' paged.yaml >chosen.yaml
"$croft" experiment chosen.yaml >output 2>messages
diff - <(sed -n '/^## /,/^N/p' chosen.results/page.md) >>output <<'M' && grep -q '^loop  *0.102 (0.1)$' chosen.results/tables.txt
## Ratios

| program | few |
|---|---|
| loop | 0.102 (0.1) |

N is 401.0.
M
judge $? "points of a table"
for change in 's/{{ratio few/{{rati few/|{{rati}}: no such column' 's/{{ratio few/{{ratio fw/|{{ratio ... fw}}: no such point' \
    "s/few}}, {{+/few, {{+/; s/few other}}/few other/; s/%ratio mean few}}/x/|'{{' without '}}' in a text: {{ratio few"; do
    sed "${change%%|*}" paged.yaml >bad.yaml
    "$croft" experiment bad.yaml >output 2>messages
    [ $? -eq 2 ] && grep -qF "${change##*|}" messages
    judge $? "${change##*|}"
done

# If one run fails and one lacks the statistic, the other runs' results are kept, but not results of an
# earlier experiment.
sed 's/flags: -DSTATUS=0/flags: -DSTATUS=3/' good.yaml >bad.yaml
"$croft" experiment bad.yaml --out again >output 2>messages
[ $? -eq 1 ] && grep -q '^croft experiment: other.few.default failed with status 3: .*croft run .* 10$' messages &&
    grep -q '2 failed' messages && grep -q '^other,few,default,,,,,,,,,status 3$' again/results.csv &&
    grep -q '^loop,few,default,41,' again/results.csv
judge $? "failing runs"
sed 's/hart.0.instructions, mean/hart.0.instruction, mean/' good.yaml >bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 1 ] && grep -q "^croft experiment: bad.yaml:15: instructions: loop.few.default: no statistic 'hart.0.instruction'; did you mean 'hart.0.instructions'?$" messages &&
    grep -q "^loop,few,default,.*instructions: no statistic 'hart.0.instruction'; did you mean" bad.results/results.csv
judge $? "a statistic that is missing"
first() {
    grep -nE "$1" messages | head -n 1 | cut -d : -f 1
}
test "$(first "^croft experiment: warning: bad.yaml:15: instructions: no statistic 'hart.0.instruction'; did you mean 'hart.0.instructions'")" -lt "$(first ' 1 of 6: ')"
judge $? "and is told before the first run"
sed -i 's/hart.0.instruction, mean/hart.0.instructions, mean/' bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 0 ] && grep -q '6 runs were in' messages && cmp -s good.results/results.csv bad.results/results.csv
judge $? "with the right name, no run is repeated"
rm -r bad.results
sed 's/region: loop/region: lop/' good.yaml >bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 1 ] && grep -q "^croft experiment: bad.yaml:5: region: other.few.default: the program has no region of interest 'lop'; did you mean 'loop'?$" messages
judge $? "a region that is missing"
test "$(first "^croft experiment: warning: bad.yaml:5: region: nothing in the program of 'other' is called 'lop', as")" -lt "$(first ' 1 of 6: ')"
judge $? "and is told before the first run"
"$croft" experiment good.yaml --out quiet --results quiet.db >output 2>messages
check "no warning of a good description" test "$(grep -c warning messages)" = 0
echo '#include "none.S"' >wrong.S
sed 's/loop.S, flags: \[/wrong.S, flags: [/' good.yaml >bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 1 ] && grep -q '^croft experiment: loop failed with status 1: .*croft cc -DSTATUS=0 ' messages &&
    grep -q '^other,few,default,41' bad.results/results.csv
judge $? "a program that cannot be compiled"

grep -q '^loop failed: loop does not compile: status 1: .*fatal error: none.S: No such file' <(sed 's/^loop[^ ]* failed/loop failed/' bad.results/tables.txt) &&
    ! grep -q "$work" bad.results/tables.txt
judge $? "its row has the first error"

echo '#include "gone.c"' >wrong.c
cat >missing.yaml <<'Y'
title: missing
machine: functional
programs: {gone: {source: wrong.c, region: total}}
axes: {harts: {set: $which, values: [1, 2, 3]}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
"$croft" experiment missing.yaml >output 2>messages
test "$(grep -c 'gone.c: No such file' output)" = 1 && grep -q '^gone.1 failed: .*gone.c: No such file or directory (and 2 more for the same cause)$' output
judge $? "a cause that runs share is told once"

# Rows of failed runs have what ended the run, not the end of a backtrace.
cat >ends.c <<'C'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int which = atoi(argv[argc - 1]);
    fprintf(stderr, "begins\n");
    assert(which != 1);
    if (which == 2)
        return *(volatile int *)8;
    fprintf(stderr, "no input\n");
    return 4;
}
C
cat >ends.yaml <<'Y'
title: ends
machine: functional
programs: {ends: {source: ends.c, arguments: [$which], region: total}}
axes: {which: {set: $which, values: [1, 2, 3]}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
"$croft" experiment ends.yaml >output 2>messages
cp ends.results/tables.txt output
grep -q '^ends.1 failed: status 134: assertion "which != 1" failed: file "ends.c", line 8, function: main$' output &&
    grep -q '^ends.2 failed: status 139: croft: programs/ends: load of 4 bytes from 0x8, outside of the memory ' output &&
    grep -q '^ends.3 failed: status 4: no input$' output
judge $? "the causes of failures"
sed 's/instructions: {st/instructions: {absent: 0, st/; s/^machine: .*/machine: tom_base/; s/set: .which/set: stack.count/; s/values: .*\]/values: [0]/; s/\$which/3/' ends.yaml >breaks.yaml
"$croft" experiment breaks.yaml >output 2>messages
grep -q "^ends.0 failed: --set 'stack.count=0': tom_base.yaml:[0-9]*: link.0.to: 'stack\[i\].crossbar': no such part$" breaks.results/tables.txt
judge $? "a setting that breaks the machine"

"$croft" experiment --set memory.sise=1GiB --out sise good.yaml >output 2>messages
[ $? -eq 2 ] && grep -q "^croft experiment: --set: unknown key 'memory.sise'; did you mean 'memory.size'?" messages
judge $? "an unknown key of the command line"

# wrong SED-SCRIPT MESSAGE: the description, changed by the script, is refused with the message.
wrong() {
    sed "$1" good.yaml >bad.yaml
    "$croft" experiment bad.yaml >output 2>messages
    [ $? -eq 2 ] && grep -qF "croft experiment: bad.yaml:$2" messages
    judge $? "$1: $2"
}

wrong 's/small: {memory.size: [^,}]*/small: {memory.size: large/' "12: memory.size: 'large' is not a size"
wrong 's/^  size:$/  cores: {set: harts, values: [1, 2, 1000000]}\n  size:/' "10: harts: '1000000' is not allowed; allowed: 1 to "
wrong 's/^  size:$/  cores: [1, 2]\n  size:/' "10: cores: an axis is a mapping: {set: KEY, values: [32, 64]}, or {small: {KEY: 32}"
wrong 's/^  size:$/  cores: {values: [1, 2]}\n  size:/' "10: cores: 'set' is missing"
wrong 's/^  size:$/  cores: {memory.size: [1, 2]}\n  size:/' "10: 'memory.size': a name has letters, digits, '_', '-' and '+'; an axis of a key's values is {set: KEY"
wrong 's/^  size:$/  memory.size: [1, 2]\n  size:/' "10: 'memory.size' cannot be the name of an axis; name it, as in rob: {set: host.rob"
wrong 's/source: loop.S, flags: \[/source: nowhere.S, flags: [/' "4: source: nowhere.S: No such file"
wrong 's/^machine: .*/machine: virrt/' "2: machine: unknown machine 'virrt'; did you mean 'virt'?"
wrong 's/small: {memory.size/small: {memory.sise/' "12: unknown key 'memory.sise'; did you mean 'memory.size'?"
wrong 's/^  size:$/  cores: {set: hrts, values: [1]}\n  size:/' "10: unknown key 'hrts'; did you mean 'harts'?"
wrong 's/^machine/machin/' "2: experiment: unknown key 'machin'; did you mean 'machine'?"
wrong '/^title/d' "1: experiment: 'title' is missing"
wrong 's/^title: rounds/title: [a]/' "1: title: one value is expected"
wrong 's/^axes:/machine: x\naxes:/' "6: experiment: 'machine' appears twice"
wrong 's/source: loop.S, flags: \[/flags: [/' "4: loop: a program has either a 'file' or a 'source'"
wrong 's/many: {/a.b: {/' "9: 'a.b': a name has letters"
wrong 's/size: small}\]/size: smal}]/' "13: skip: unknown point 'smal'; did you mean 'small'?"
wrong 's/{program: other, size/{program: other, siz/' "13: skip: unknown axis 'siz'; did you mean 'size'?"
wrong 's/divide: \[twice/divide: [twize/' "19: divide: unknown column 'twize'; did you mean 'twice'?"
wrong 's/divide: \[twice, instructions\]/divide: [twice]/' "19: divide: two columns are expected"
wrong 's/, from: {rounds: many}//' "20: speedup: 'speedup' has a baseline 'from'"
wrong 's/mean: arithmetic/mean: harmonic/' "15: mean: unknown mean 'harmonic'"
wrong 's/{rounds: many}}/{round: many}}/' "20: baseline: unknown axis 'round'; did you mean 'rounds'?"
wrong 's/{rounds: many}}/{rounds: man}}/' "20: baseline: unknown point 'man'; did you mean 'many'?"
wrong 's/speedup: instructions,/speedup: instruction,/' "20: speedup: unknown column 'instruction'; did you mean 'instructions'?"
wrong 's/column: ratio, across: rounds/column: ratios, across: rounds/' "22: tables: unknown column 'ratios'; did you mean 'ratio'?"
wrong 's/column: ratio, across: rounds/column: ratio, across: round/' "22: tables: unknown axis 'round'; did you mean 'rounds'?"
wrong 's/{program: loop, rounds: few}, value/{program: loop, round: few}, value/' "23: references: unknown axis 'round'; did you mean 'rounds'?"
wrong 's/column: ratio, at/column: ratios, at/' "23: references: unknown column 'ratios'; did you mean 'ratio'?"
wrong 's/absent: 7/absent: x/' "18: absent: a number is expected, not 'x'"
wrong 's/value: 0.1, //' "23: references: 'value' is missing"
# shellcheck disable=SC2016 # not for the shell
wrong 's/\$rounds: 10}/$round: 10}/' "4: loop: no axis gives \$rounds a value"
wrong 's/{rounds: many}}/{rounds: many, size: small}}/' "20: speedup: the baseline of a run is among those that 'skip' names"
wrong 's/small: {memory/small: {crossbar.present: true, memory/' \
    "12: crossbar.present is obsolete; write \`crossbar: default\` to add the part, \`crossbar: none\` to remove it"
wrong 's/^programs:/set: {devices.uart.present: false}\nprograms:/' "3: devices.uart.present is obsolete; write \`devices.uart: default\`"
wrong 's/^tables.*/tables: [}/' "22: not YAML"
sed 's/^skip: .*/skip: [{size: small}, {size: default}]/; /^tables/d; /^references/d; /speedup:/d; /ratio:/d' good.yaml >bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 2 ] && grep -q "bad.yaml: 'skip', 'where' and --only leave no run" messages
judge $? "nothing but skipped runs"
: >bad.yaml
"$croft" experiment bad.yaml >output 2>messages
[ $? -eq 2 ] && grep -q 'bad.yaml: the file is empty' messages
judge $? "an empty file"
"$croft" experiment none.yaml >output 2>messages
[ $? -eq 2 ] && grep -q 'none.yaml: No such file' messages
judge $? "no file"
# Results that are kept. Files that programs read belong to what determines a run.
"$croft" experiment good.yaml >output 2>messages
[ $? -eq 0 ] && grep -q '6 runs were in .*good.results/results.db' messages && ! grep -q 's failed' messages
judge $? "nothing runs twice"
# So do those that keys of the machine name.
cat >placed.yaml <<'Y'
title: pages
machine: nupim_pages
programs: {loop: {source: loop.S, flags: -DSTATUS=0, arguments: 10}}
axes: {table: {given: {pages: placed}}}
columns: {time: {statistic: sim.time}}
Y
for memory in 3 3 5; do
    printf '0x80010000 %s\n' "$memory" >placed
    "$croft" experiment placed.yaml >output 2>messages || echo failed
    grep -c 'were in .*placed.results/results.db' messages
done >found
[ "$(tr '\n' ' ' <found)" = "0 1 0 " ]
judge $? "a table of pages that has changed"
rm -rf shared*
sed 's/\$rounds: 100,/$rounds: 10,/' good.yaml >other.yaml
"$croft" experiment good.yaml --out shared1 --results shared.db >output 2>messages &&
    "$croft" experiment other.yaml --out shared2 --results shared.db >output 2>messages &&
    grep -q '4 runs were in shared.db' messages && cmp -s good.results/results.csv shared1/results.csv
judge $? "experiments share runs"
"$croft" experiment other.yaml --out shared2 --results fresh.db >output 2>messages &&
    sqlite3 fresh.db "SELECT count(*) FROM run" | grep -qx 5
judge $? "equal runs are executed once"
echo 1 >input
sed 's/region: loop}/region: loop, inputs: input}/' good.yaml >reads.yaml
"$croft" experiment reads.yaml --results shared.db >output 2>messages && grep -q '4 runs were in' messages
judge $? "a run with an input is another run"
echo 2 >input
"$croft" experiment reads.yaml --results shared.db >output 2>messages && grep -q '4 runs were in' messages
judge $? "and another one with another input"
"$croft" experiment reads.yaml --results shared.db >output 2>messages && grep -q '6 runs were in' messages
judge $? "and the same with the same input"
mkdir -p twin/bin && cp "$croft" twin/bin && echo >>twin/bin/croft && ln -sf "$(dirname "$croft")/../share" twin/share
twin/bin/croft experiment good.yaml --results shared.db >output 2>messages && ! grep -q 'were in' messages
judge $? "another croft shares nothing"

# A program that fails until the file `fixed` exists, which is not among its inputs.
cat >until.c <<'C'
#include <stdio.h>
int main(void)
{
    fprintf(stderr, "first\nnot, \"yet\"\n");
    return fopen("fixed", "r") ? 0 : 3;
}
C
cat >until.yaml <<'Y'
title: until
machine: functional
programs: {until: {source: until.c, region: total}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
"$croft" experiment until.yaml >output 2>messages
[ $? -eq 1 ] && grep -qx 'until,,"status 3: not, ""yet"""' until.results/results.csv &&
    grep -qx 'until failed: status 3: not, "yet"' until.results/tables.txt
judge $? "a failed run has its message in the table"
: >fixed
"$croft" experiment until.yaml >output 2>messages
[ $? -eq 1 ] && grep -q '1 runs were in' messages
judge $? "a failure is kept"
"$croft" experiment until.yaml --retry-failed >output 2>messages
[ $? -eq 0 ] && grep -Eqx 'until,[0-9]+,' until.results/results.csv
judge $? "until it is retried"

# Files that are no results, or cannot grow.
echo text >wrong.db
"$croft" experiment good.yaml --results wrong.db >output 2>messages
[ $? -eq 1 ] && grep -q 'wrong.db: .*file is not a database' messages && grep -qx text wrong.db
judge $? "a file of another kind"
rm -f wrong.db
sqlite3 wrong.db "CREATE TABLE mine(a)"
"$croft" experiment good.yaml --results wrong.db >output 2>messages
[ $? -eq 1 ] && grep -q "wrong.db: not a file of croft's results" messages
judge $? "another program's database"
cp shared.db wrong.db && sqlite3 wrong.db "PRAGMA user_version = 99"
"$croft" experiment good.yaml --results wrong.db >output 2>messages
[ $? -eq 1 ] && grep -q 'wrong.db: its results have format 99, of another version of croft' messages
judge $? "results of another version"
"$croft" experiment good.yaml --results nowhere/results.db >output 2>messages
[ $? -eq 1 ] && grep -q 'nowhere/results.db: cannot be opened: No such file or directory' messages
judge $? "results in a folder that does not exist"
"$croft" experiment good.yaml --out loop.S >output 2>messages
[ $? -eq 1 ] && grep -q 'loop.S: not a folder; --out names another place for the results' messages
judge $? "a file as the folder for results"
# 40 KiB: enough for the program, but not for the results of several machines.
(
    ulimit -f 80
    "$croft" experiment good.yaml --out full --jobs 1
) >output 2>messages
status=$?
"$croft" experiment good.yaml --out full >output 2>again.txt
[ $? -eq 0 ] && [ "$status" -eq 1 ] && grep -q 'full/results.db: .*is the disk full' messages &&
    cmp -s good.results/results.csv full/results.csv
judge $? "a full disk"
# Runs that have ended and are not stored are left to run; they do not fail.
cat >many.yaml <<'Y'
title: many
machine: functional
programs: {loop: {file: good.results/programs/loop, arguments: [$n]}}
axes: {n: {set: $n, from: 1, to: 80}}
columns: {cycles: {statistic: hart.0.instructions}}
Y
(
    ulimit -f 80
    "$croft" experiment many.yaml --jobs 1
) >output 2>messages
[ $? -eq 1 ] && grep -q 'many.results/results.db: .*is the disk full' messages && ! grep -q 'has no statistics' messages &&
    "$croft" experiment many.yaml >output 2>messages && [ "$(grep -c '^loop,' many.results/results.csv)" -eq 80 ]
judge $? "a full disk while many runs are stored"
"$croft" experiment good.yaml >/dev/full 2>messages
[ $? -eq 1 ] && grep -q 'the tables cannot be printed: No space left on device; they are in .*/good.results/tables.txt' messages
judge $? "tables that cannot be printed"

# Runs that take 40 MiB each: with 100 MiB, no more than two at a time.
cat >large.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    memset(malloc(40 << 20), 1, 40 << 20);
    return argc > 2 || !argv;
}
C
cat >large.yaml <<'Y'
title: large
machine: functional
programs: {large: {source: large.c, flags: -O2, arguments: $n, region: total}}
axes: {n: {1: {$n: 1}, 2: {$n: 2}, 3: {$n: 3}, 4: {$n: 4}, 5: {$n: 5}, 6: {$n: 6}}}
columns: {instructions: {statistic: hart.0.instructions}}
Y
CROFT_TEST_MARK=$work "$croft" experiment large.yaml --jobs 6 --memory 100MiB >output 2>messages &
pid=$!
most=0
while kill -0 "$pid" 2>/dev/null; do
    used=$(ps -o rss= --ppid "$pid" | awk '$1 > 36000 { n++ } END { print n + 0 }')
    if [ "$used" -gt "$most" ]; then most=$used; fi
done
wait "$pid"
[ $? -eq 0 ] && [ "$most" -le 2 ] && [ "$(wc -l <large.results/results.csv)" -eq 7 ]
judge $? "no more runs than fit into the memory ($most)"
"$croft" experiment good.yaml --memory much >output 2>messages
[ $? -eq 2 ] && grep -q "memory: a size such as 8 GiB is expected, not 'much'" messages
judge $? "a memory that is no size"

"$croft" experiment good.yaml --jobs 0 >output 2>messages
[ $? -eq 2 ] && grep -q "1 to 1024 are allowed, not '0'" messages
judge $? "no jobs"

conclude
