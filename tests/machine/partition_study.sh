#!/bin/bash
# What a parallel simulation could gain: partition_study.sh CROFT WORKDIR. Where machines are cut, the lookahead of links and wires, and
# bounds on the gain, all worked out by hand; the study repeats and changes no statistic. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../../examples")
work=$(fresh "$2")
cd "$work" || exit 1

evidence() {
    tail -n 5 messages study
}

# study MACHINE OPTIONS...: writes `study` of a run of vector_add, and its statistics without those of the host to `stats`.
study() {
    "$croft" run -m "$1" "${@:2}" --detail roi --partition-study study --stats stats.json vector_add 4096 >output 2>messages || return
    without_host stats.json >stats
}

# says TEXT: the study has this line.
says() {
    grep -qxF -- "$1" study
}

"$croft" cc -O2 "$examples/simt/vector_add.c" -o vector_add 2>messages

# Two modules of a multiprocessor each. A credit comes over a wire of 10 clocks in 12 clocks, and so does a flit: the wire, its own
# clock and the switch's. A clock is 0.4 ns.
cat >two.yaml <<END
extends: $examples/machines/modules.yaml
homes: "R12 B4 C4 H4 S1 C2 O6"
module: {count: 2, simt: {count: 1}}
net: {size: 2x1, out_nodes: 0 1}
END
check "two modules" study two.yaml
check "two modules: wires of 10 clocks" says "partitions 2, lookahead 4.8 ns (net)"
cp stats with
cp study first
"$croft" run -m two.yaml --detail roi --stats stats.json vector_add 4096 >output 2>messages
check "the study changes no statistic" cmp with <(sed '/^  "host"/,$d' stats.json)

# Work in all windows is at least that of the partition that has most in all, and at most all.
bounded() {
    awk -v count="$1" '$4 ~ /%$/ && NF == 4 { parts++; all += $3; most = $3 > most ? $3 : most }
        $1 == 2 && NF == 5 { gain = $2; order = $3; ends = $4; waits = $5 }
        END { exit !(parts == count && gain >= 1 && order >= 1 && order <= gain && gain <= all / most + 0.005 &&
                     ends >= 1 && waits >= 1 && waits < ends && ends <= gain + 0.2) }' study
}
check "two modules: gain at most all work over the larger share" bounded 2
check "again" study two.yaml
check "the study repeats" cmp <(grep -v '^host' first) <(grep -v '^host' study)

# Wires of 100 clocks: 102 clocks of 0.4 ns. Longer windows even out what the modules do.
check "long wires" study two.yaml --set net.latency=100
check "long wires: lookahead" says "partitions 2, lookahead 40.8 ns (net)"

# The first module has all multiprocessors: of events, the second has those of its memory alone.
check "one of two has the threads" study two.yaml --set module.0.simt.count=3 --set "module.*.simt.stack_near=false"
check "one of two: bound" bounded 2

# Links: the stacks and the chip in front of them. Their latency alone counts; the shortest link decides.
check "links" study "$examples/machines/stacks.yaml"
check "links: latency" says "partitions 5, lookahead 11 ns (link.0)"
check "links: one is shorter" study "$examples/machines/stacks.yaml" --set "peer.3.latency=7 ns"
check "links: the shorter one" says "partitions 5, lookahead 7 ns (peer.3)"

# Nothing to cut.
check "no links" study gpu
check "no links: one partition" says "partitions 1: the machine has no links or routers at which it can be cut"
check "no links: no gain" grep -q '^      2   1.00      1.00    1.00    1.00$' study

fails() {
    "$croft" run "${@:2}" vector_add 4096 >output 2>messages && return 1
    grep -q -- "$1" messages
}
check "no clock" fails "has no clock" --partition-study study
check "beside a trace" fails "exclude each other" -m gpu --partition-study study --trace memory
check "no folder" fails "--partition-study: cannot write 'none/study'" -m gpu --partition-study none/study
check "no folder: before the run" test ! -s output
conclude
