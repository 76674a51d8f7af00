#!/bin/bash
# croft neural and <croft/approx.h>: neural.sh CROFT WORKDIR PRINT_NETWORKS, the program built from print_networks.c for this machine.
# Networks in software against the reference; training: determinism, quality, messages. Prints "N passed, N failed".
# shellcheck disable=SC2016 # fields of awk
set -uo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/lib.sh
source "$here/../lib.sh"

croft=$(realpath "$1")
reference=$(realpath "$3")
work=$(fresh "$2")
cd "$work" || exit 1

evidence() {
    tail -n 5 errors output
}

# trains NAME OPTION... : runs croft neural, which must succeed.
trains() {
    local name=$1
    shift
    "$croft" neural "$@" >output 2>errors
    judge $? "$name"
}

# refuses NAME STATUS TEXT ARGUMENT... : it must fail with this status and a message that contains the text, and leave no file.
refuses() {
    local name=$1 status=$2 text=$3 result=0
    shift 3
    rm -f ./*.network.h
    "$croft" neural "$@" >output 2>errors || result=$?
    check "$name: status" test "$result" = "$status"
    check "$name: message" grep -qF -- "$text" errors
    check "$name: no file" test -z "$(find . -name '*.network.h')"
}

# The software network under qemu, compiled plainly and with contracted multiplications and additions, against integers.
"$reference" >expected
for options in -O0 "-O2 -ffp-contract=fast"; do
    # shellcheck disable=SC2086 # options are words
    "$croft" cc $options -I"$here/../.." "$here/print_networks.c" -o print_networks 2>errors
    judge $? "print_networks compiles, $options"
    oracle output ./print_networks
    check "networks in software, $options" cmp -s expected output
done

# A search of all topologies, and the chosen ones' quality.
trains "all topologies" --samples 200 --epochs 100 --folds 2 "$here/toy.c" 200
check "30 topologies of both functions" test "$(grep -c '^  [13] -> ' output)" = 60
check "two are chosen" test "$(grep -c chosen output)" = 2
mv toy.network.h searched.h
mkdir -p elsewhere
(cd elsewhere && "$croft" neural --samples 200 --epochs 100 --folds 2 -o again.h "$here/toy.c" 200 >../second 2>../errors)
judge $? "again, from another folder"
check "the same bytes" cmp -s searched.h elsewhere/again.h
check "the same report" cmp -s output second

for arithmetic in sha fxp fp; do
    "$croft" cc -O2 -DCROFT_APPROX_BY=CROFT_BY_NETWORK -DCROFT_APPROX_ARITHMETIC=$arithmetic -include searched.h "$here/toy.c" -lm -o toy 2>errors
    judge $? "toy by network, $arithmetic"
    oracle expected ./toy
    check "toy by network, $arithmetic: status" test "$wanted" = 0
    "$croft" run toy >output 2>errors
    check "toy by network, $arithmetic: qemu's output" cmp -s expected output
    check "toy by network, $arithmetic: errors below 0.2, but not none" awk '$2 > 0 && $2 < 0.2 { good = 1 } END { exit !good }' output
done

# One topology; an application's quality by its own measure, in threads and on the host, under both emulators.
app=$here/../../examples/axram/blackscholes.c
trains "another seed" --seed 2 --topology 6-4-1 --epochs 20 -o two.h "$app" train 300
trains "the first seed" --topology 6-4-1 --epochs 20 -o one.h "$app" train 300
check "other seeds, other weights" test "$(cmp -s one.h two.h; echo $?)" = 1
trains "blackscholes" --topology 6-8-1 --epochs 300 -o app.h "$app" train 1024
check "one topology" test "$(grep -c '^  6 -> ' output)" = 1
check "SHA takes 56 to 224 clocks, others 56" \
    awk '$1 == "SHA" { good += $5 >= 56 && $5 <= 224 } /^  F/ { good += $5 == 56 } END { exit good != 3 }' output
for arithmetic in sha fxp fp; do
    "$croft" cc -O2 -DCROFT_APPROX_BY=CROFT_BY_NETWORK -DCROFT_APPROX_ARITHMETIC=$arithmetic -include app.h "$app" -lm -o app 2>errors
    judge $? "blackscholes by network, $arithmetic"
    oracle expected ./app 500
    "$croft" run --set simt.count=2 app 500 >output 2>errors
    check "blackscholes, $arithmetic: qemu's output" cmp -s expected output
    check "blackscholes, $arithmetic: threads compute what the host does" grep -q '^result    correct$' output
    check "blackscholes, $arithmetic: loses 0.1 to 12 %" awk '/^quality lost/ && $3 > 0.1 && $3 < 12 { good = 1 } END { exit !good }' output
done
# Iterations by layer: more for better quality, within it, and the same each time.
for quality in 25 6%; do
    trains "quality $quality" --quality $quality --topology 6-8-1 --epochs 60 --folds 2 -o quality.h "$app" train 600
    cp output "quality.$quality"
    check "quality $quality: within" awk -v most="${quality%\%}" '/^  iterations by layer: [1-5] [1-5]; / { for (i = 1; i <= NF; i++) if ($i == "error" && $(i + 1) + 0 <= most + 0) good = 1 } END { exit !good }' output
done
clocks() {
    awk '/^  iterations by layer/ { print $6; exit }' "$1"
}
check "better quality takes more clocks" test "$(clocks quality.25)" -lt "$(clocks quality.6%)"
check "fewer clocks than with five iterations" awk '/^  iterations by layer/ { good = $6 < $8 } END { exit !good }' quality.6%
cp quality.h first.h
trains "quality again" --quality 6 --topology 6-8-1 --epochs 60 --folds 2 -o quality.h "$app" train 600
check "quality again: the same bytes" cmp -s quality.h first.h
trains "with biases" --bias --topology 6-4-1 --epochs 20 -o bias.h "$app" train 300
check "33 weights" grep -q '^  6 -> 4 -> 1 *33 ' output
"$croft" cc -O2 -DCROFT_APPROX_BY=CROFT_BY_NETWORK -include bias.h "$app" -lm -o app 2>errors
oracle output ./app 500
check "biases are evaluated" grep -q '^result    correct$' output

# What is refused.
refuses "no file" 2 "no C file given"
refuses "no such file" 1 "its compilation failed with status 1" none.c
refuses "no calls" 1 "no function marked with CROFT_APPROX was called" "$here/toy.c" 0
refuses "few calls" 1 "calls of mean: there are 31; training needs at least 32" "$here/toy.c" 31
refuses "other inputs" 1 "--topology has 2 inputs and 2 outputs, but mean has 3 and 2" --topology 2-4-2 "$here/toy.c"
for topology in 6 x 6- 6--1 6-8-8-8-1 6-8,1; do
    refuses "topology $topology" 2 "it must be 2 to 4 numbers, as in 6-8-1" --topology $topology "$here/toy.c"
done
refuses "wide topology" 2 "33 neurons in layer 1; 1 to 32 are allowed" --topology 6-33-1 "$here/toy.c"
refuses "six iterations" 2 "--iterations is '6'; it must be a number from 1 to 5" --iterations 6 "$here/toy.c"
refuses "quality out of reach" 1 "blackscholes: an error of 0.01% is not reached; the least one is" --quality 0.01 --topology 6-2-1 --epochs 5 --folds 2 "$app" train 100
refuses "quality and iterations" 2 "--quality chooses the iterations; leave --iterations out" --quality 5 --iterations 3 "$here/toy.c"
for quality in 0 -1 101 x 5%% nan; do
    refuses "quality $quality" 2 "it must be a number of percent from 0.01 to 100" --quality=$quality "$here/toy.c"
done
refuses "no seed" 2 "--seed is '-1'" --seed -1 "$here/toy.c"
refuses "unknown option" 2 "did you mean '--topology'" --topolgy 6-8-1 "$here/toy.c"
sed 's/out\[1\] = 7/out[1] = sqrtf(-1 - in[0])/' "$here/toy.c" >nan.c
refuses "not a number" 1 "output 1 of call 1 is not a finite number" nan.c
sed 's/return 0/return 3/' "$here/toy.c" >dies.c
refuses "program fails" 1 "the program that calls the functions failed with status 3" dies.c
refuses "no place for the result" 1 "nowhere/a.h: No such file or directory" --output nowhere/a.h "$here/toy.c"
mkdir temporary
TMPDIR=$PWD/temporary "$croft" neural --topology 3-2-2 --epochs 1 "$here/toy.c" 50 >output 2>&1
check "no temporary files are left" test -z "$(ls -A temporary)"

# compiles_not NAME TEXT OPTION...: croft cc refuses toy.c with a message.
compiles_not() {
    local name=$1 text=$2
    shift 2
    "$croft" cc "$@" -c "$here/toy.c" -o toy.o >output 2>errors
    check "$name" test $? = 1
    check "$name: message" grep -qF "$text" errors
}
sed 's/CROFT_APPROX(mean, 3, 2)/CROFT_APPROX(mean, 3, 1)/' "$here/toy.c" >other.c
"$croft" cc -DCROFT_APPROX_BY=CROFT_BY_NETWORK -include searched.h -c other.c -o other.o >output 2>errors
check "another function's network" grep -qF "mean: its network has other inputs or outputs; run croft neural again" errors
compiles_not "another way to compute" "CROFT_APPROX_BY is CROFT_BY_ORIGINAL" -DCROFT_APPROX_BY=9
compiles_not "no network" "mean_s" -DCROFT_APPROX_BY=CROFT_BY_NETWORK
conclude
