#!/bin/bash
# The workloads of the NUPIM and TOM papers: workloads.sh CROFT WORKDIR PROGRAM... With their usual, small inputs, each must
# find its result correct and print what it prints on qemu-riscv64: on the functional machine with warps of 8 and 32 threads, and on
# machine nupim. Arguments out of range end a program with a message. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
work=$(fresh "$2")
shift 2
programs=()
for program in "$@"; do programs+=("$(realpath "$program")"); done
cd "$work" || exit 1

evidence() {
    tail -n 3 errors output
}

# runs NAME OPTION... PROGRAM
runs() {
    local name=$1 result=0
    shift
    "$croft" run "$@" >output 2>errors || result=$?
    check "$name: status" test "$result" = "$wanted"
    check "$name: qemu's output" cmp -s expected output
}

for program in "${programs[@]}"; do
    name=${program##*/}
    oracle expected "$program"
    check "$name: is correct" grep -q '^result    correct$' expected
    runs "$name, warps of 8" --set simt.count=3 --set simt.width=8 "$program"
    runs "$name" --set simt.count=2 --stats one.json "$program"
    check "$name: threads" grep -q '"simt.*thread_instructions": [1-9]' one.json
    runs "$name, nupim" -m nupim --detail roi "$program"
    oracle output "$program" 0 2>/dev/null
    check "$name: a size of 0 is refused" test "$wanted" = 2
    [ "$name" = streamcluster ] || continue
    "$croft" run --set simt.count=4 "$program" 65536 64 2 >output 2>errors || true
    check "$name, where no candidate opens: is correct" grep -q '^result    correct$' output
done
conclude
