#!/bin/bash
# Whole programs on timed machines: programs.sh CROFT WORKDIR PROGRAMDIR (of tests/programs, compiled with
# -O2). All programs on ddr3 (in order), all but the longest on nucd (out of order), and a sample on every machine
# must behave as on qemu-riscv64; on variants of a machine, a part of the sample. The sample runs with the coherence and DRAM checkers, which must
# find nothing, and once with a last level in slices. Then statistics must repeat, and
# prefetchers must fetch what is used. ALL=1 runs all programs
# on all machines. Prints "N passed, N failed"; the status is 1 if any failed.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR PROGRAMDIR" $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
mkdir -p "$2"
work=$(cd "$2" && pwd)
folder=$(realpath "$3")

full=(ddr3 nucd)
# All kinds of exits and traps, files, jumps, atomics, floating point, misaligned accesses, integer and memory
# work.
sample=(abort arguments assertion atomics calendar dispatch exit_order fft files folders json jump lines math_double
    misaligned nbody print_double streams structs sudoku thread_local trap_break trap_illegal trap_jump trap_load
    varargs vm wide_integer)
# The programs that run longest: one machine is enough.
long=(digests heap)

# tally NAME OUTPUT: adds the counts of the final "N passed, N failed", and prints failures.
tally() {
    local p f
    read -r p f < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' <<<"$2")
    add "${p:-0}" "${f:-1}"
    [ "${f:-1}" -eq 0 ] || echo "$1: ${2//$'\n'/$'\n'$1: }"
}

# compare MACHINE OPTIONS PROGRAM-FILE...
compare() {
    local machine=$1 extra=$2
    shift 2
    tally "$machine" "$(LIMIT=400 CROFT_OPTIONS="-m $machine $extra" "$here/../programs/run.sh" "$croft" \
        "$work/$machine" "$@" || true)"
}

# The same program from another folder, under another path and a second time: equal statistics to the byte,
# except for what depends on the host.
repeats() {
    local machine=$1 name=fft-O2 other=$work/$1/elsewhere/deep
    mkdir -p "$other"
    cp "$folder/$name" "$other/"
    (cd "$folder" && "$croft" run -m "$machine" --stats "$work/$machine/one.json" "./$name") >/dev/null || true
    (cd "$other" && "$croft" run -m "$machine" --stats "$work/$machine/two.json" "$other/../deep/$name") >/dev/null || true
    if grep -q '"sim.time": [1-9]' "$work/$machine/one.json" && diff <(without_host "$work/$machine/one.json") \
        <(without_host "$work/$machine/two.json"); then
        pass
    else
        fail "$machine: the statistics of $name do not repeat"
    fi
}

# prefetched NAME OPTIONS...: runs cells on one channel of HBM, and prints DRAM's reads, its bandwidth in GB/s
# (bursts of 64 bytes), and for the last level and an accelerator the prefetches and those that have ended.
prefetched() {
    local stats=$work/$1.json
    shift
    "$croft" run -m nucd --check dram --check coherence --set dram.channels=1 --set memory.size=512MiB "$@" \
        --stats "$stats" "$work/cells" >/dev/null
    jq -r '.total | def of(cache): [cache + ".prefetches",
            (["useful", "late", "unused", "returned"][] | cache + ".prefetches_" + .)] as $names
            | [$names[] as $name | .[$name] // 0] | .[0], (.[1:] | add);
        [.["dram.reads"], (.["dram.reads"] + .["dram.writes"]) * 64e6 / .["sim.time"], of("l2"), of("accel.0.l1d")]
        | map(floor) | join(" ")' "$stats"
}

# Prefetchers far ahead of programs that stream: bandwidth is above half of the channel's 16 GB/s and never above
# it, memory is read at most 1 % more often, and prefetches have one end each or lines in the cache.
prefetches() {
    local far=() cache alone reads rate l2 l2_ends l1 l1_ends
    for cache in host.l1d accel.l1d l2; do
        far+=(--set "$cache.prefetch_degree=8" --set "$cache.prefetch_distance=63")
    done
    "$croft" cc -O2 "$here/../../examples/cells.c" -o "$work/cells"
    read -r alone _ < <(prefetched alone --set host.l1d.prefetch=none --set accel.l1d.prefetch=none --set l2.prefetch=none)
    read -r reads rate l2 l2_ends l1 l1_ends < <(prefetched far "${far[@]}")
    check "cells reads memory $reads times, $alone times without prefetchers" test $((reads * 100)) -le $((alone * 101))
    check "the bandwidth is $rate GB/s of 16" test "$rate" -ge 8 -a "$rate" -le 16
    check "$l2_ends of $l2 prefetches of the last level have ended" test "$l2" -gt 100000 -a "$l2_ends" -le "$l2" -a \
        $((l2 - l2_ends)) -le 16384
    check "$l1_ends of $l1 prefetches of an accelerator have ended" test "$l1" -gt 1000 -a "$l1_ends" -le "$l1" -a \
        $((l1 - l1_ends)) -le 512
}

programs=("$folder"/*-O2)
brief=()
for program in "${programs[@]}"; do
    name=${program##*/}
    case " ${long[*]} " in *" ${name%-O2} "*) ;; *) brief+=("$program") ;; esac
done

checked=("${sample[@]/#/$folder/}")
checked=("${checked[@]/%/-O2}")

# A machine named BASE_VARIANT, with BASE among the machines, has BASE's host: without ALL, a few programs are enough.
few=("$folder"/{atomics,fft,files,trap_load}-O2)
machines=$("$croft" machines | cut -d' ' -f1)
for machine in $machines; do
    case $machine in functional | virt) continue ;; esac
    if [ -z "${ALL:-}" ] && [[ $machine == *_* && $'\n'$machines$'\n' == *$'\n'"${machine%%_*}"$'\n'* ]]; then
        compare "$machine" "--check coherence --check dram" "${few[@]}"
        continue
    fi
    if [ -n "${ALL:-}" ] || [ "$machine" = "${full[0]}" ]; then
        compare "$machine" "" "${programs[@]}"
    elif [ "$machine" = "${full[1]}" ]; then
        compare "$machine" "" "${brief[@]}"
    fi
    compare "$machine" "--check coherence --check dram" "${checked[@]}"
    repeats "$machine"
done
# A last level in slices.
compare nucd "--set l2.slices=4 --set l2.size=256KiB --check coherence --check dram" "${checked[@]}"
prefetches
conclude
