#!/bin/bash
# Whole programs on timed machines: programs.sh CROFT WORKDIR PROGRAMDIR (of tests/programs, compiled with
# -O2). All programs on ddr3 (in order), all but the longest on nucd (out of order), and a sample on every
# machine must behave as on qemu-riscv64. The sample runs with the coherence and DRAM checkers, which must
# find nothing, and once with a last level in slices. Then statistics must repeat. ALL=1 runs all programs
# on all machines. Prints "N passed, N failed"; the status is 1 if any failed.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ $# -ne 3 ]; then
    echo "usage: tests/machine/programs.sh CROFT WORKDIR PROGRAMDIR" >&2
    exit 2
fi
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
    local machine=$1 options=$2
    shift 2
    tally "$machine" "$(LIMIT=400 CROFT_OPTIONS="-m $machine $options" "$here/../programs/run.sh" "$croft" \
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

programs=("$folder"/*-O2)
brief=()
for program in "${programs[@]}"; do
    name=${program##*/}
    case " ${long[*]} " in *" ${name%-O2} "*) ;; *) brief+=("$program") ;; esac
done

checked=("${sample[@]/#/$folder/}")
checked=("${checked[@]/%/-O2}")

machines=$("$croft" machines | cut -d' ' -f1)
for machine in $machines; do
    case $machine in functional | virt) continue ;; esac
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
conclude
