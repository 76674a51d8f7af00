#!/bin/bash
# The workloads of the stash paper: workloads.sh CROFT PROGRAMS. Each program, in each memory configuration, must print the same
# on qemu-riscv64, on multiprocessors without a clock, on machine gpu and, if it exists, on a machine with a stash; and a
# kernel must have the instructions of its configuration alone. --check coherence finds nothing. ALL=1: on stash_micro, too. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
programs=$2
configs=(Scratch ScratchG ScratchGD Cache Stash StashG)
scratch

evidence() {
    diff "$work/output" "$work/oracle" | sed -n 1,3p
    tail -n 2 "$work/errors"
}

machines=("functional --set simt.count=2" "gpu --set simt.count=2 --detail roi")
printf 'extends: gpu\nsimt: {count: 2, scratchpad: 16KiB}\nstash: {kind: stash}\n' >"$work/stash.yaml"
machines+=("$work/stash.yaml --detail roi" "stash_apps --detail roi")
engines="stash_apps --set stash=none --set dma.kind=dma --detail roi"

# on MACHINE ARGUMENT...: runs the subject on a machine with its options, and compares.
on() {
    local machine
    read -ra machine <<<"$1"
    shift
    run_on "${machine[0]}" 0 "${machine[@]:1}" -- "$@" && cmp -s "$work/output" "$work/oracle"
}

# checked MACHINE ARGUMENT...: on(), and the checker of coherence has nothing to tell, not even of races.
checked() {
    on "$1 --check coherence" "${@:2}" && ! grep -q -- '--check coherence' "$work/errors"
}

# workload PROGRAM ARGUMENT...: a small size of it.
workload() {
    local config machine
    subject=("$programs/$1")
    shift
    oracle "$work/oracle" "${subject[0]}" --config Scratch "$@"
    check "${subject[0]##*/} $* is correct" test "$wanted" -eq 0
    for config in "${configs[@]}"; do
        qemu-riscv64 "${subject[0]}" --config "$config" "$@" >"$work/output" 2>"$work/errors" || true
        check "${subject[0]##*/} $*, $config" cmp -s "$work/output" "$work/oracle"
        for machine in "${machines[@]}"; do
            check "${subject[0]##*/} $*, $config on $machine" on "$machine" --config "$config" "$@"
        done
        [ "$config" != ScratchGD ] || check "${subject[0]##*/} $*, $config by engines" on "$engines" --config "$config" "$@"
        for machine in stash_apps ${ALL:+stash_micro}; do
            [ "$config" != ScratchGD ] || machine+=" --set stash=none --set dma.kind=dma"
            check "${subject[0]##*/} $*, $config, checked on $machine" checked "$machine" --config "$config" "$@"
        done
    done
}

workload micro/implicit 2048
workload micro/pollution 4096
workload micro/on_demand 2048
workload micro/reuse 1024
workload sgemm 32 48 16
workload lud 48
workload backprop 64
workload needleman_wunsch 48
workload pathfinder 500 7
workload stencil 36 12 5
workload surf 72 64

# The example for newcomers.
for argument in map scratchpad; do
    subject=("$programs/particles" "$argument")
    echo "7680 particles, 0 wrong" >"$work/oracle"
    qemu-riscv64 "${subject[@]}" >"$work/output" 2>"$work/errors" || true
    check "particles $argument" cmp -s "$work/output" "$work/oracle"
    for machine in "${machines[@]}"; do
        check "particles $argument on $machine" on "$machine"
    done
done

# Copies of four fields at a time, and a stencil whose blocks store all of their tiles.
sources=$(dirname "$0")/../../examples/stash
for program in "surf 72 64" "stencil 66 10 5" "lud 48"; do
    read -ra arguments <<<"$program"
    "$croft" cc -O2 -ffp-contract=off -fno-math-errno -DCONFIG_BATCH=4 -DSTENCIL_RESULT=WRITE "$sources/${arguments[0]}.c" -lm -o "$work/batched"
    for config in Scratch ScratchG; do
        subject=("$work/batched" --config "$config" "${arguments[@]:1}")
        oracle "$work/oracle" "${subject[@]}"
        check "$program, $config, four fields at a time" test "$wanted" -eq 0
        check "$program, $config, four fields at a time, on stash_apps" on "stash_apps --set stash=none --detail roi"
    done
done
subject=("$work/batched")
"$croft" cc -O2 -DSTENCIL_RESULT=WRITE "$sources/stencil.c" -lm -o "$work/whole"
status=0
qemu-riscv64 "$work/whole" 128 128 4 >"$work/output" 2>"$work/errors" || status=$?
check "a stencil that ends within a block: refused" test "$status" -eq 2
check "a stencil that ends within a block: message" grep -q "126 is no multiple of 64" "$work/errors"

# Sizes that are not as the paper describes the microbenchmarks.
for size in 512 8192; do
    status=0
    qemu-riscv64 "$programs/micro/reuse" "$size" >"$work/output" 2>"$work/errors" || status=$?
    check "reuse refuses $size objects" test "$status" -eq 2
    check "reuse says why" grep -q "section 5.4.1" "$work/errors"
done
status=0
qemu-riscv64 "$programs/sgemm" --config Stsh >"$work/output" 2>"$work/errors" || status=$?
check "an unknown configuration" grep -q -- "--config is one of Scratch, ScratchG, ScratchGD, Cache, Stash and StashG" "$work/errors"

# code KERNEL: the numbers of stash.addmap, stash.chgmap, dma.load and dma.store in a kernel.
code() {
    "$croft" disasm --symbol "$1" "$programs/$2" >"$work/output"
    for name in stash.addmap stash.chgmap dma.load dma.store; do grep -cw "$name" "$work/output" || true; done | tr '\n' ' '
}

# Each kernel has the instructions of its configuration alone.
for config in Scratch ScratchG Cache; do
    check "code of implicit_$config" test "$(code implicit_$config micro/implicit)" = "0 0 0 0 "
done
check "code of implicit_ScratchGD" test "$(code implicit_ScratchGD micro/implicit)" = "0 0 1 1 "
for config in Stash StashG; do
    check "code of implicit_$config" test "$(code implicit_$config micro/implicit)" = "1 0 0 0 "
done
check "code of pollution_Stash" test "$(code pollution_Stash micro/pollution)" = "1 0 0 0 "
check "code of pollution_StashG" test "$(code pollution_StashG micro/pollution)" = "2 0 0 0 "

# The descriptor of a tile whose shape is known is a constant: no thread stores it to its stack.
"$croft" disasm --symbol move "$programs/particles" | sed '/stash.addmap/q' >"$work/output"
check "move adds a map" grep -q stash.addmap "$work/output"
check "move stores no descriptor" test "$(grep -c sdsp "$work/output")" -eq 0

conclude
