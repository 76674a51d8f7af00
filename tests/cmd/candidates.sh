#!/bin/bash
# Tests croft candidates through its command line: candidates.sh CROFT EXAMPLES, the folder of the kernels for multiprocessors.
# Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
examples=$(realpath "$2")
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages output
}

# finds NAME [OPTIONS...]: the command succeeds without output on standard error.
finds() {
    local name=$1
    shift
    "$croft" candidates "$@" >output 2>messages
    judge $? "$name"
    check "$name: no message" test ! -s messages
}

# says NAME REGEX: the output has a matching line.
says() {
    check "$1" grep -qE "$2" output
}

# refuses NAME STATUS REGEX [OPTIONS...]: the command fails with the status and a matching message.
refuses() {
    local name=$1 wanted=$2 regex=$3 status=0
    shift 3
    "$croft" candidates "$@" >output 2>messages || status=$?
    check "$name: status $status" test "$status" -eq "$wanted"
    check "$name: message" grep -qE -e "$regex" messages
}

# LIBOR's loops. The rates are set in 40 rounds of a store, with three registers: 96 - 40 * 33 - 10. The portfolio has a
# loop of 24 rounds with a load and two stores, one of 8 with four loads and one of 16 with a load, and two more loads and a store; six
# registers are sent and four returned: 320 - 37 - 49 * 33 - 74 * 8 - 12.25; with S_C = 32 another 74 * 8 less.
finds "libor" "$examples/libor"
says "libor: rates" 'libor\.c:54 +follow +0 +40 +3 +0 +-1234\.00 TX RX always'
says "libor: portfolio" 'libor\.c:57 +follow +74 +49 +6 +4 +-1938\.25 TX RX always'
finds "addresses of 4 bytes" --address 4 "$examples/libor"
says "addresses of 4 bytes: portfolio" 'libor\.c:57 +follow +74 +49 +6 +4 +-2530\.25 TX RX always'
finds "machine" -m gpu --address 4 "$examples/libor"
says "machine: portfolio" 'libor\.c:57 +follow +74 +49 +6 +4 +-2530\.25 TX RX always'
finds "line of the command line" -m gpu --line 64 --address 2 "$examples/libor"
says "line of the command line" 'libor\.c:57 +follow +74 +49 +6 +4 +-2530\.25 TX RX always'
finds "stencil" "$examples/stencil"
says "stencil: a condition" 'stencil\.c:[0-9]+ +stencil .* \(x[0-9]+ - x[0-9]+\) >= '
finds "JSON" --json "$examples/libor"
says "JSON: stores" '"stores": 40\.0'
says "JSON: ratio" '"line_ratio": 16\.0'
says "JSON: rounds" '"static_rounds": 40'
for program in "$examples"/*; do
    (ulimit -t 1 && exec "$croft" candidates --all "$program") >output 2>messages
    judge $? "${program##*/}: all functions, within a second of processor time"
done

finds "known pointers" --pointers known "$examples/libor"
check "known pointers: less, or as many" test "$(grep -c ' 0x' output)" -le 10
refuses "pointers" 2 "--pointers is 'all'; it must be trusted or known" --pointers all "$examples/libor"

(ulimit -t 1 && exec "$croft" candidates --symbol printf "$examples/libor") >output 2>messages
judge $? "newlib's printf, within a second of processor time"

# The table, and a program with it.
finds "section" -o libor "$examples/libor"
blocks=$(grep -c ' 0x' output)
riscv64-unknown-elf-readelf -SW libor >sections 2>messages
size=$(printf '%06x' $((16 + 64 * blocks)))
check "section: size" grep -qE "\\.tom\\.candidates +PROGBITS +0+ [0-9a-f]+ $size " sections
oracle oracle "$examples/libor" 32
oracle output ./libor 32
check "section: under qemu-riscv64" cmp -s oracle output
"$croft" run --set simt.count=2 ./libor 32 >output 2>messages
check "section: on multiprocessors" cmp -s oracle output
refuses "a second table" 1 'has a section \.tom\.candidates already' -o again libor
refuses "folder missing" 1 "cannot write 'none/libor': No such file" -o none/libor "$examples/libor"

echo old >full
(trap '' XFSZ && ulimit -f 0 && exec "$croft" candidates -o full "$examples/libor") 2>&1 >/dev/null </dev/null | cat >messages
check "no room: message" grep -q "'full'.*File too large" messages
check "no room: the older file" grep -qx old full

# TOM 6.6: 1,920, 9,700 and 10,320 bits. Our own: 48 x 10 x 2 more, and 40 x 64 bytes; 64 multiprocessors.
finds "storage" --storage
says "storage: analyzer" '^analyzer, a multiprocessor +2880 +1920 '
says "storage: ranges" '^allocation table, shared +9700 +9700 '
says "storage: metadata" '^metadata table, a multiprocessor +20480 +10320 '
says "storage: all" "^all +$((64 * (2880 + 20480) + 9700)) +$((64 * (1920 + 10320) + 9700)) "
says "storage: area" '^Area: 0\.11 mm2, 0\.018 % of the GPU .*not estimated here'
printf 'extends: tom\nsimt: {count: 4, warps: 16}\n' >warps.yaml
finds "storage of 16 warps" --storage -m warps.yaml
says "storage of 16 warps: analyzer" "^analyzer, a multiprocessor +$((10 * 16 * 6)) +$((10 * 16 * 4)) "
refuses "storage without stacks" 1 "machine 'tom_base' does not offload blocks" --storage -m tom_base
refuses "storage of an unknown machine" 1 "nothing" --storage -m nothing
refuses "storage of a program" 2 "--storage takes no program, but 'libor' was given" --storage libor

# Registers by what they hold. Of four that are sent, three pointers and counts have one value in all lanes, and one is affine: 5 values in place of
# 4 * 32. The loads of arguments and of an array's elements that all threads read are none of N_LD: 5 - 12 / 2 - 33 - 12 / 2 * 16 - 1 / 4.
"$croft" cc -O2 -g "$here/../tom/arguments.c" -o arguments
finds "held" --registers held arguments
says "held: the values" ' columns +12 +1 +4 +0 +-130\.25 +5 +3 +0 +1 +0 TX RX always$'
finds "held, JSON" --registers held --json arguments
check "held, JSON: the kinds" jq -e '.candidates[0] | .values_tx == 5 and .sent_as == {same: 3, uniform: 0, affine: 1, varying: 0}' output
finds "whole" arguments
says "whole: registers" ' columns +27 +1 +4 +0 +-134\.75 RX +always$'
refuses "held: another word" 2 "--registers is 'all'; it must be whole or held" --registers all arguments
refuses "nucd: held" 2 "--for nucd takes no --registers" --for nucd --registers held arguments

# Why loops and functions are not taken: the reason, and the line that has it.
cat >why.c <<'END'
#include <croft/simt.h>
#include <stdatomic.h>
struct job { _Atomic int *count; int *in, *out; long n; };
int other(int);
static void atomics(struct job *j)
{
    for (long i = 0; i < j->n; i++)
        atomic_fetch_add_explicit(j->count, j->in[i], memory_order_relaxed); /* atomic */
}
static void calls(struct job *j)
{
    for (long i = 0; i < j->n; i++)
        j->out[i] = other(j->in[i]); /* call */
}
static void searches(struct job *j)
{
    long i = 0, n = j->n;
    while (i < n && j->in[i] != 7) /* exits */
        i++;
    j->out[thread_id()] = (int)i;
}
static void little(struct job *j)
{
    j->out[thread_id()] = j->in[0];
}
int main(void)
{
    struct job j = {0};
    return simt_launch(atomics, &j, simt_dim(1), simt_dim(1)) + simt_launch(calls, &j, simt_dim(1), simt_dim(1)) +
           simt_launch(searches, &j, simt_dim(1), simt_dim(1)) + simt_launch(little, &j, simt_dim(1), simt_dim(1));
}
END
echo '__attribute__((noinline)) int other(int i) { return i * 3; }' >other.c
"$croft" cc -O2 -g why.c other.c -o why
line() {
    grep -n "/\* $1 \*/" why.c | cut -d : -f 1
}
finds "why" --why why
says "why: an atomic" "^loop .* atomics +it has an atomic operation [(]0x[0-9a-f]+, .*why.c:$(line atomic)[)]"
says "why: a call" "^loop .* calls +it calls a function [(]0x[0-9a-f]+, .*why.c:$(line call)[)]"
says "why: exits" '^loop .* searches +it changes bytes by [+].*in one round, because it has no exit that is a branch, or several'
says "why: too little" '^function .* little +its best block changes bytes by [+][0-9.]+: N_LD [0-9]+, N_ST [01], .*why.c'
says "why: no accesses" '^function .* other +it has no loads or stores but of its stack'
finds "why, JSON" --why --json why
# shellcheck disable=SC2016 # names of jq
check "why, JSON: a call" jq -e --arg line "why.c:$(line call)" \
    '.refused[] | select(.what == "loop" and .function == "calls") | .reason == "it calls a function" and (.at_source | endswith($line))' output
finds "why: what is taken" --why "$examples/vector_add"
check "why: not what is taken" test "$(grep -c '^loop .* add ' output)" -eq 0
refuses "nucd: with why" 2 "--for nucd takes no --why" --for nucd --why why

# Input that cannot be.
refuses "no program" 2 'no program given'
refuses "two programs" 2 "takes one program, but 'b' was given, too" a b
refuses "missing file" 1 'missing: cannot open: No such file' missing
refuses "folder" 1 'is not a regular file' "$work"
echo text >text
refuses "text" 1 'text: is not an ELF file' text
refuses "another machine" 1 'is not a program for 64-bit RISC-V' "$croft"
refuses "function" 1 "has no function 'nothing'" --symbol nothing libor
refuses "number" 2 "--most is '41'; it must be a number from 1 to 40" --most 41 libor
refuses "machine without caches" 1 "machine 'nucd' has no multiprocessors with caches" -m nucd libor
refuses "unknown machine" 1 "nothing" -m nothing libor
refuses "unknown option" 2 "unknown option '--jsn'; did you mean '--json'" --jsn libor

# A profile: the loop's loads touch 1, 32 and 1 lines in each round; all of the first two miss, and the third only once in 16 rounds. Loads
# of pointers before and behind the loop, which the block may have, are of one line, which misses before it and, after 512 others,
# behind it. A store touches one line.
"$croft" cc -O2 -g "$here/profile_program.c" -o profile
"$croft" run -m gpu --set simt.count=1 --trace memory:profile.trace profile
"$croft" candidates --json --profile profile.trace profile >profile.json 2>messages
judge $? "profile: runs"
# shellcheck disable=SC2016 # names of jq
check "profile: by hand" jq -e '.candidates[0] as $block | $block | (.loads - 3) as $fixed | ($fixed + 34) as $lines |
    def near(a; b): (a - b) * (a - b) < 1e-12;
    near(.lines; ($lines + .stores) / (.loads + .stores)) and
    any(range(0; 3); . as $others | $block | near(.misses * $lines; 33 + 1 / 16 + $others)) and
    near(.tx; .reg_tx * 32 - .misses * $lines - .stores * 33) and
    near(.rx; .reg_rx * 32 - .misses * $lines * 16 - .stores / 4)' profile.json
check "profile: the static estimate beside it" jq -e 'has("only_static") and (.candidates[0] | has("static_change"))' profile.json
"$croft" candidates --profile profile.trace -o profiled profile >output 2>messages
judge $? "profile: table"
check "profile: columns" grep -qE '^no .* lines +misses +static +saves' output
check "profile: the program still runs" "$croft" run -m tom profiled
refuses "profile: no trace" 1 "none.trace" --profile none.trace profile
refuses "profile: another file" 1 "profile.json: no zstd stream" --profile profile.json profile
head -c 300 profile.trace >cut.trace
refuses "profile: cut short" 1 "cut.trace" --profile cut.trace profile

# Loops for NUCD: in each example, those of its lines that `croft cc -foffload-loops` makes tasks of, with as many instructions a round.
for name in loops spmv stride; do
    source=$here/../../examples/nucd/$name.c
    "$croft" cc -O2 -g -foffload-loops -foffload-report=report "$source" -lm -o tasks
    sed -nE "s/.*\/${name}[.]c:([0-9]+): loop becomes tasks: ([0-9]+) instructions.*/\1 \2/p" report | sort -n >expected
    "$croft" cc -O2 -g "$source" -lm -o loops
    finds "nucd, $name" --for nucd --json loops
    jq -r --arg name "/$name.c:" '.loops[] | select(.source | contains($name)) | (.source | sub(".*:"; "")) + " " + (.instructions | tostring)' output | sort -n >got
    check "nucd, $name: the compiler's loops" cmp -s expected got
    check "nucd, $name: some" test -s got
done
finds "nucd: why not" --for nucd --all loops
says "nucd: a reason" 'no: it calls the environment'
says "nucd: regions" 'no: it is in a region [(]CROFT_REGION[)] already'
refuses "nucd: with a table" 2 "--for nucd takes no --output" --for nucd -o out loops
refuses "nucd: with misses" 2 "--for nucd takes no --misses" --for nucd --misses 10 loops
refuses "another system" 2 "--for is 'cuda'; it must be tom, nucd or stash" --for cuda loops
for length in 40 64 200 5000 40000; do
    head -c "$length" "$examples/libor" >part
    status=0
    "$croft" candidates --all -o out part >output 2>messages || status=$?
    check "cut to $length: status $status" test "$status" -le 1
    status=0
    "$croft" candidates --for nucd --all part >output 2>messages || status=$?
    check "cut to $length, nucd: status $status" test "$status" -le 1
done
for seed in $(seq 20); do
    RANDOM=$seed
    cp "$examples/libor" broken
    for end in 64 64 400 400 4096 4096 4096 60000 60000 60000; do
        printf '%b' "\\x$(printf '%x' $((RANDOM % 256)))" |
            dd of=broken bs=1 seek=$(((RANDOM * 32768 + RANDOM) % end)) conv=notrunc status=none
    done
    status=0
    timeout 20 "$croft" candidates --all -o out broken >output 2>messages || status=$?
    check "broken $seed: status $status" test "$status" -le 1
    status=0
    timeout 20 "$croft" candidates --for nucd --all broken >output 2>messages || status=$?
    check "broken $seed, nucd: status $status" test "$status" -le 1
done
conclude
