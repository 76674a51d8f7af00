#!/bin/bash
# The energy ledger of machine gpu: energy.sh CROFT. Each account is its count times the energy that `croft show` prints,
# groups and accounts add up to the total, in all and for each region, and instructions that are counted by hand cost what
# their parts cost. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
scratch
cd "$work" || exit 1

cat >energy.c <<'END'
#include <croft/roi.h>
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>

static float data[1 << 14];

#define BLOCK(name, times, text)                                                                             \
    static void name(float *x)                                                                               \
    {                                                                                                        \
        uint64_t a = thread_id(), b = 3;                                                                     \
        float f = x[0];                                                                                      \
        __asm__ volatile(".rept " #times "\n" text "\n.endr" : "+r"(a), "+r"(b), "+f"(f));                   \
        x[thread_id()] = f + (float)a;                                                                       \
    }
BLOCK(none, 0, "nop")
BLOCK(adds, 200, "add %0, %0, %1")
BLOCK(fmas, 200, "fmadd.s %2, %2, %2, %2")
BLOCK(muls, 200, "mul %0, %1, %1")

static void shares(float *x)
{
    float *pad = simt_shared();
    for (unsigned i = 0; i < 10; i++) {
        pad[thread_x()] = x[thread_x()];
        simt_barrier();
        x[thread_x()] += pad[thread_x() ^ 1];
        simt_barrier();
    }
}

#define RUN(name)                                                                                            \
    do {                                                                                                     \
        croft_roi_begin(#name);                                                                              \
        simt_launch(name, data, simt_dim(4), simt_dim(32), .scratchpad = 1024);                              \
        simt_wait(0);                                                                                        \
        croft_roi_end(#name);                                                                                \
    } while (0)

int main(void)
{
    RUN(none);
    RUN(adds);
    RUN(fmas);
    RUN(muls);
    RUN(shares);
    printf("%g\n", (double)data[1]);
}
END
"$croft" cc -O2 energy.c -o energy || exit 1
"$croft" run -m gpu --set simt.count=2 --stats stats.json ./energy >output 2>errors
check "the program" test $? -eq 0
"$croft" show gpu --set simt.count=2 >shown

# all NAME: a statistic of the whole run. of REGION NAME: of a region.
jq -r '(.total | to_entries[] | "total \(.key) \(.value)"),
       (.regions | to_entries[] | .key as $region | .value | to_entries[] | "\($region) \(.key) \(.value)")' stats.json >flat
of() { awk -v region="$1" -v name="$2" '$1 == region && $2 == name { print $3; exit }' flat; }
all() { of total "$1"; }
# key NAME: the value of a key of simt in fJ or uW.
key() {
    awk -v path="$1" '
        BEGIN { split("fJ 1 pJ 1000 nJ 1000000 uW 1 mW 1000 W 1000000", words); for (i = 1; i in words; i += 2) unit[words[i]] = words[i + 1] }
        { match($0, /^ */); depth = RLENGTH / 2; split($1, name, ":"); if ($1 ~ /:$/) at[depth] = name[1] }
        $1 ~ /:$/ && depth > 0 {
            full = at[1]; for (i = 2; i <= depth; i++) full = full "." at[i]
            if (at[0] == "simt" && full == path) { printf "%d\n", $2 * unit[$3] + 0.5; exit }
        }' shown
}
is() { check "$1: $2, not $3" test "$2" = "$3"; }

for i in 0 1; do
    is "instructions of $i" "$(all simt.$i.instruction.energy)" $(($(all simt.$i.instructions) * $(key energy.instruction)))
    for class in alu mul div fp32 fp64 branch load shared store; do
        is "$class of $i" "$(all simt.$i.work.$class.energy)" $(($(all simt.$i.work.$class) * $(key energy.$class)))
    done
    is "registers of $i" "$(all simt.$i.registers.energy)" \
        $((($(all simt.$i.registers_read) + $(all simt.$i.registers_written)) * $(key energy.register)))
    is "first level of $i" "$(all simt.$i.l1.access.energy)" $((($(all simt.$i.l1.loads) + $(all simt.$i.l1.write_backs)) * \
        $(key l1.energy_read) + ($(all simt.$i.l1.stores) + $(all simt.$i.l1.fills)) * $(key l1.energy_write)))
    time=$(all sim.time) power=$(key power.static)
    # Microwatts for femtoseconds are 1e-21 J, a millionth of a femtojoule.
    # shellcheck disable=SC2017 # their product exceeds 64 bits
    is "static of $i" "$(all simt.$i.static.energy)" $((time / 1000000 * power + time % 1000000 * power / 1000000))
done
# Slices of 128 KiB.
time=$(all sim.time) power=$((128 * $(key l2.leakage)))
for i in 0 7; do
    # shellcheck disable=SC2017 # their product exceeds 64 bits
    is "leakage of slice $i" "$(all simt.l2.$i.static.energy)" $((time / 1000000 * power + time % 1000000 * power / 1000000))
done
# A crossbar of two inputs and eight outputs whose leakage is given.
"$croft" run -m gpu --set simt.count=2 --set 'simt.crossbar.leakage=3 mW' --stats leaks.json ./energy >/dev/null 2>&1
check "leakage of the crossbar" test "$(jq '.total | .["simt.crossbar.static.energy"] == (.["sim.time"] * 48 / 1000 | floor)' leaks.json)" = true
check "its part of the total" test "$(jq '.total | .["energy"] == ([to_entries[] | select(.key | test("\\.energy$")) | .value] | add)' leaks.json)" = true
# The ledger: accounts and groups add up to the total.
for part in .total '.regions[]'; do
    check "accounts of $part" test "$(jq "[$part | ([to_entries[] | select(.key | test(\"\\\\.energy$\")) | .value] | add) == .energy] | all" stats.json)" = true
    check "groups of $part" test "$(jq "[$part | ([to_entries[] | select(.key | test(\"^energy\\\\.\")) | .value] | add) - .energy | fabs | . <= 8] | all" stats.json)" = true
done
is "groups of the whole run" "$(jq '[.total | to_entries[] | select(.key | test("^energy\\.")) | .value] | add' stats.json)" "$(all energy)"
for group in instructions registers scratchpad l1 l2 network dram static; do
    check "energy.$group" test "$(of shares energy.$group)" -gt 0
done
is "no scratchpad" "$(of adds energy.scratchpad)" 0

# 200 instructions of 4 warps more than `none`: 800 of warps, 25,600 of threads; an addition reads two registers and writes
# one, a multiply-add reads three.
more() {
    echo $(($(of "$1" "simt.0.$2") + $(of "$1" "simt.1.$2") - $(of none "simt.0.$2") - $(of none "simt.1.$2")))
}
is "warps' additions" "$(more adds instruction.energy)" $((800 * 70000))
is "additions" "$(more adds work.alu.energy)" $((25600 * 100))
is "registers of additions" "$(more adds registers.energy)" $((25600 * 3 * 2000))
is "multiply-adds" "$(more fmas work.fp32.energy)" $((25600 * 3700))
is "registers of multiply-adds" "$(more fmas registers.energy)" $((25600 * 4 * 2000))
is "multiplications" "$(more muls work.mul.energy)" $((25600 * 3100))
# 128 threads store to the scratchpad and load from it, 10 times.
is "the scratchpad" "$(of shares energy.scratchpad)" $((128 * 2 * 10 * 2900))
# Every number has a source.
check "sources" test "$(jq '[.statistics | to_entries[] | select(.key | test("^simt.*\\.energy$")) | select(.value.meaning | test("\\(|CACTI") | not)] | length' stats.json)" -eq 0
conclude
