#!/bin/bash
# Kernels on multiprocessors: run.sh CROFT WORKDIR PROGRAM... Each program, compiled with <croft/simt.h>, must
# behave as on qemu-riscv64, where its threads are coroutines. Configurations: warps of 1, 4 and 32 threads,
# on the functional machine and, with both schedulers, on machine gpu, whose multiprocessors have enough warps
# for a block of 1024 threads of any width. One configuration of each program runs twice and must give equal
# statistics to the byte. Machine gpu also runs under the kernel and, but for programs at -O0, with each policy of stores in its
# second level. All this is with
# the policies of reconvergence in POLICIES (default stack), and a little with minpc. ALL=1 runs all configurations
# with both policies, and adds warps of 2, 8 and 16 threads, other numbers of multiprocessors, and the kernel
# environment; each runs twice. JOBS is the number of programs run at a time (default 2). Prints "N passed, N
# failed"; the status is 1 if any failed.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# one CROFT WORKDIR PROGRAM: prints "passed" or "failed ..." for each run of one program.
one() {
    local croft=$1 program=$3 name=${3##*/} folder=$2/${3##*/} status reconvergence repeat=stack-gpu-32-gto
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder" || exit 1
    timeout 600 qemu-riscv64 "$program" >oracle 2>oracle.err
    status=$?
    check minpc-4 --set simt.count=2 --set simt.width=4 --set simt.reconvergence=minpc
    check minpc-32 --set simt.count=2 --set simt.reconvergence=minpc
    check minpc-gpu -m gpu --detail roi --set simt.count=2 --set simt.warps=64 --set simt.reconvergence=minpc
    for reconvergence in ${POLICIES:-stack ${ALL:+minpc}}; do
        all_with "$reconvergence"
    done
    cd "$2" && rm -rf "$folder"
}

# all_with POLICY: the configurations with a policy of reconvergence.
all_with() {
    local width scheduler policy=(--set "simt.reconvergence=$1")
    for width in 1 4 32 ${ALL:+2 8 16}; do
        check "$1-$width" "${policy[@]}" --set simt.count=2 --set "simt.width=$width"
    done
    for scheduler in gto round_robin; do
        for width in 1 4 32 ${ALL:+2 8 16}; do
            # The slowest programs are those at -O0 with narrow warps.
            [ -z "${ALL:-}" ] && [[ $name-$width-$scheduler =~ -O0-(1-|4-gto) ]] && continue
            check "$1-gpu-$width-$scheduler" "${policy[@]}" -m gpu --detail roi --set simt.count=2 \
                --set "simt.warps=$((width < 16 ? 1024 / width : 64))" --set "simt.width=$width" --set "simt.policy=$scheduler"
        done
    done
    # Under the kernel, threads have virtual addresses, and pages come when they are touched.
    check "$1-gpu-kernel" "${policy[@]}" -m gpu --env kernel --detail roi --set simt.count=2
    # What stores do in the second level, and which slice has a line, does not change results.
    if [ -z "${ALL:-}" ] && [[ $name == *-O0 ]]; then return; fi
    check "$1-gpu-write_through" "${policy[@]}" -m gpu --detail roi --set simt.count=2 --set simt.l2.write_policy=write_through \
        --set simt.l2.slices=6
    check "$1-gpu-no_allocate" "${policy[@]}" -m gpu --detail roi --set simt.count=2 --set simt.l2.write_policy=write_through \
        --set simt.l2.write_allocate=false
    check "$1-gpu-write_back-no_allocate" "${policy[@]}" -m gpu --detail roi --set simt.count=2 --set simt.l2.write_allocate=false \
        --set simt.l2.slices=3 --set simt.l2.interleave=partition
    check "$1-gpu-write_evict" "${policy[@]}" -m gpu --detail roi --set simt.count=2 --set simt.l2.write_policy=write_evict \
        --set simt.l2.slices=6 --set simt.l2.interleave=partition
    if [ -n "${ALL:-}" ]; then
        check "$1-one" "${policy[@]}" --set simt.count=1
        check "$1-many" "${policy[@]}" --set simt.count=16
        check "$1-kernel" "${policy[@]}" --env kernel --set simt.count=2
    fi
}

# check LABEL OPTION...: one run, or two where statistics are compared.
check() {
    local label=$1 ours=0
    shift
    timeout 600 "$croft" run "$@" --stats one.json "$program" >output 2>errors || ours=$?
    if [ "$ours" -ne "$status" ]; then
        echo "failed $name, $label: exit status $ours, qemu's is $status; $(tail -n 1 errors)"
    elif ! cmp -s output oracle; then
        echo "failed $name, $label: output, $(diff output oracle | sed -n 2p)"
    elif ! grep -q '"simt.*thread_instructions": [1-9]' one.json; then
        echo "failed $name, $label: no thread ran on a multiprocessor"
    elif { [ -n "${ALL:-}" ] || [ "$label" = "$repeat" ]; } &&
        { timeout 600 "$croft" run "$@" --stats two.json "$program" >again 2>&1 || true; } &&
        ! diff <(without_host one.json) <(without_host two.json) >/dev/null; then
        echo "failed $name, $label: the statistics do not repeat"
    else
        echo "passed"
    fi
}

if [ $# -ge 4 ] && [ "$1" = --one ]; then
    one "$2" "$3" "$4"
    exit 0
fi
arguments "CROFT WORKDIR PROGRAM..." $#
croft=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
shift 2
results=$work/results
realpath "$@" | xargs -d '\n' -P "${JOBS:-2}" -n 1 "$0" --one "$croft" "$work" >"$results"
passed=$(grep -c '^passed' "$results" || true)
failed=$(grep -c '^failed' "$results" || true)
[ "$passed" -gt 0 ] || failed=$((failed + 1))
sed -n 's/^failed //p' "$results"
conclude
