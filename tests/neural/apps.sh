#!/bin/bash
# The applications of the AxRAM paper with their original functions: apps.sh CROFT WORKDIR PROGRAM... Each must print what it prints
# on qemu-riscv64, lose no quality, and find its kernel's results to be those of the host. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")
shift 2
programs=()
for program in "$@"; do programs+=("$(realpath "$program")"); done
cd "$work" || exit 1

evidence() {
    tail -n 4 errors output
}

for program in "${programs[@]}"; do
    name=${program##*/}
    "$croft" run --set simt.count=2 --stats one.json "$program" >output 2>errors
    oracle expected "$program"
    check "$name: qemu's output" cmp -s expected output
    check "$name: is correct" grep -q '^result    correct$' output
    check "$name: the original loses nothing" grep -q '^quality lost 0.000 %$' output
    case $name in
    srad | newton_raph) # the same by threads without a frame: arrays on stacks would be traffic that the function does not have
        check "$name: inputs and results stay in registers" \
            test "$("$croft" disasm --symbol "${name}_kernel" "$program" | grep -c '(sp)')" = 0 ;;
    esac
    check "$name: ran in threads" grep -q '"simt.*thread_instructions": [1-9]' one.json
    oracle output "$program" 0 2>/dev/null
    check "$name: a count of 0 is refused" test "$wanted" = 2
done

# Values of an element together in memory, or apart: the same results.
for layout in "" -DAPP_STRUCTURES; do
    "$croft" cc -O2 $layout "$here/../../examples/axram/convolution.c" -lm -o "convolution$layout" 2>errors
    "$croft" run --set simt.count=2 "convolution$layout" 512 >"output$layout" 2>>errors
    check "convolution $layout: is correct" grep -q '^result    correct$' "output$layout"
done
check "structures: the same results as arrays" cmp output output-DAPP_STRUCTURES
check "structures: another program" test "$(cmp -s convolution convolution-DAPP_STRUCTURES && echo same)" = ""
conclude
