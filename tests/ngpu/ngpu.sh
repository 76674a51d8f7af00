#!/bin/bash
# Neural units in multiprocessors: ngpu.sh CROFT WORKDIR. Results equal those of networks in software, to the bit; clocks, work and
# energy are those of the topology; what cannot be executed is said with thread and reason. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR" $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")
cd "$work"

evidence() {
    diff expected output | head -n 4
    tail -n 4 errors
}

# run STATUS OPTIONS... -- PROGRAM ARGUMENTS: on machine ngpu, with statistics.
run() {
    run_on ngpu "$@"
}

value() {
    jq ".total[\"$1\"]" stats.json
}

is() {
    echo "$1 is $(value "$1"), not $2" >>errors
    [ "$(value "$1")" = "$2" ]
}

says() {
    grep -qxE -- "$1" errors
}

"$croft" cc -std=c17 -O2 -g "$here/ngpu_program.c" -lm -o program
check "random networks: run" run 0 -- ./program random 1 40
check "random networks: equal" grep -qx '3840 of 3840 equal' output
check "random networks: configured" is ngpu.configurations 40
check "random networks: threads" is ngpu.threads $((40 * (96 + 32)))
check "random networks, minpc: run" run 0 --set simt.reconvergence=minpc -- ./program random 2 10
check "random networks, minpc: equal" grep -qx '960 of 960 equal' output

# Each thread calls once: 64 warps. 2 -> 4 -> 2 has 16 multiply-accumulates and 6 neurons.
program=(-include "$here/../axram/approx_networks.h" -DONLY_TURN "$here/../axram/approx_program.c")
compile() {
    "$croft" cc -std=c17 -O2 -g -DCROFT_APPROX_BY=CROFT_BY_"$1" "${@:2}" "${program[@]}" -lm -o "${1,,}"
}
for arithmetic in sha fxp fp; do
    compile NETWORK -DCROFT_APPROX_ARITHMETIC=$arithmetic
    compile NGPU -DCROFT_APPROX_ARITHMETIC=$arithmetic
    "$croft" run --set simt.count=2 network 700 >expected
    check "$arithmetic: runs" run 0 -- ./ngpu 700
    check "$arithmetic: equal" cmp -s expected output
    compile NGPU -DTOGETHER -DCROFT_APPROX_ARITHMETIC=$arithmetic
    check "$arithmetic: runs together" run 0 -- ./ngpu 2048
    check "$arithmetic: one invocation a warp" is ngpu.invocations 64
    macs=16
    if [ $arithmetic = sha ]; then # bits 27:25 of the weights, behind 8 words of header
        macs=$(awk '/turn_sha/ { on = 1; next } /};/ { on = 0 } on' "$here/../axram/approx_networks.h" | tr ',' '\n' | tr -d ' ' | grep . |
            tail -n +9 | while read -r word; do echo $((word >> 25 & 7)); done | awk '{ sum += $1 } END { print sum }')
    fi
    check "$arithmetic: clocks" is ngpu.busy_clocks $((64 * (macs + 6)))
    case $arithmetic in sha) of=sha_iterations energy=4500 ;; fxp) of=fxp_macs energy=30000 ;; fp) of=fp_macs energy=140000 ;; esac
    check "$arithmetic: steps" is "ngpu.$of" $((2048 * macs))
    check "$arithmetic: energy" is "ngpu.$arithmetic.energy" $((2048 * macs * energy))
done
# Scaling in the weights: other roundings, a bias for each neuron, and fewer instructions.
near() {
    local one other i
    while read -r -u 3 -a one && read -r -u 4 -a other; do
        for i in 1 2; do # floats from 2^-6 on that are equal to 12 bits
            [ $((16#${one[i]} >> 23 & 255)) -ge 121 ] || continue
            [[ $((16#${one[i]} - 16#${other[i]})) -lt 2048 && $((16#${other[i]} - 16#${one[i]})) -lt 2048 ]] ||
                return 1
        done
    done 3<"$1" 4<"$2"
}
compile NGPU -DTOGETHER -DCROFT_APPROX_ARITHMETIC=fp
run 0 -- ./ngpu 2048
cp output plain
instructions=$(value simt.instructions)
compile NGPU -DTOGETHER -DCROFT_APPROX_ARITHMETIC=fp -DCROFT_NGPU_FOLD
check "folded: runs" run 0 -- ./ngpu 2048
check "folded: the same but for roundings" near plain output
check "folded: a bias for each neuron" is ngpu.busy_clocks $((64 * (macs + 6 + 6)))
check "folded: two instructions less for each warp's inputs" test $((instructions - $(value simt.instructions))) -ge $((2 * 64))
check "folded: host and threads alike" diff <(head -40 output | cut -d' ' -f2-3) <(tail -40 output | cut -d' ' -f2-3)
compile NGPU -DTOGETHER -DCROFT_APPROX_ARITHMETIC=fp
check "slower: runs" run 0 --set ngpu.sigmoid_clocks=100 -- ./ngpu 2048
slow=$(value simt.busy)
check "slow units: clocks" is ngpu.busy_clocks $((64 * (macs + 6 * 100)))
check "faster: runs" run 0 -- ./ngpu 2048
# 64 warps on 15 multiprocessors: one of them has at least five, each 594 clocks of 1.4 GHz longer.
check "threads wait for their units" test $((slow - $(value simt.busy))) -ge $((5 * 594 * 714286 - 64 * 714286))
check "another machine: refused" test "$("$croft" run -m gpu ./ngpu 32 >output 2>errors; echo $?)" -eq 132
program=(-include "$here/../axram/approx_networks.h" "$here/../axram/approx_program.c")
compile NGPU
check "two functions: refused" run 1 -- ./ngpu 32
check "two functions: message" says 'croft: CROFT_BY_NGPU: [a-z]*: the units have the network of [a-z]*, and hold one'

fault() {
    check "$1: ends" run 132 "${@:3}" -- ./program "$1"
    check "$1: message" says "croft run: $2"
    check "$1: line" grep -q 'ngpu_program[.]c:\|croft/ngpu[.]h:' errors
}
fault unconfigured 'send[.]ngpu of thread 0: the units have no network: the host.s send_cfg[.]ngpu must come first'
fault signature 'send_cfg[.]ngpu: 0x00000007 does not begin an image; the first word is 0x4e4e5841'
fault sizes 'send_cfg[.]ngpu: .*'
fault host 'send[.]ngpu: only threads of multiprocessors have neural units'
fault empty 'recv[.]ngpu of thread 5: the thread has no result: it has sent 0 inputs since its last one'
fault again 'send[.]ngpu of thread 0: [0-9]+ results of the thread.s last invocation were not received'
fault thread 'send_cfg[.]ngpu of thread 0: only a host core configures neural units'
fault changed 'send[.]ngpu of thread 0: another network was configured after 1 inputs of this thread'
fault large 'send_cfg[.]ngpu: the network has [0-9]+ weights, and the buffer holds 4 [(]ngpu[.]weights[)]' --set ngpu.weights=4
fault wide 'send_cfg[.]ngpu: the network has [0-9]+ inputs and results, and a thread.s buffers hold 3 [(]ngpu[.]buffer[)]' --set ngpu.buffer=3
conclude
