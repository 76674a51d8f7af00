#!/bin/bash
# One run on several threads of the host: threads.sh CROFT WORKDIR [MACHINES]. The same output and statistics for any number of threads, for
# programs whose results depend on the order of accesses, on machines with modules and MACHINES random ones; faults; what is refused. Prints
# "N passed, N failed". SEED chooses the random machines.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
examples=$(realpath "$here/../../examples")
work=$(fresh "$2")
machines=${3:-4}
RANDOM=${SEED:-1}
cd "$work" || exit 1

evidence() {
    tail -n 5 messages
    diff one.stats many.stats | head -n 10
}

"$croft" cc -O2 "$examples/simt/vector_add.c" -o vector_add
for program in bfs kmeans; do
    "$croft" cc -O2 -fno-math-errno "$examples/workloads/$program.c" -o $program -lm
done
"$croft" cc -O2 "$here/races.c" -o races
"$croft" cc -O2 "$here/late_fault.c" -o late_fault

# Four modules of two multiprocessors; blocks are on all of them at once, so that each thread has work.
cat >modules.yaml <<END
extends: $examples/machines/modules.yaml
module: {simt: {count: 2, placement: contiguous}}
END

run() {
    "$croft" run --detail roi --stats stats.json "$@" >output 2>messages
}

# alone MACHINE PROGRAM ARGS...: runs on one thread, for same().
alone() {
    run -m "$@" || return
    mv output one.output
    mv messages one.messages
    without_host stats.json >one.stats
}

# same THREADS MACHINE PROGRAM ARGS...: a run on so many threads has the output, statistics and messages of one.
same() {
    run -m "$2" --threads "$1" "${@:3}" || return
    without_host stats.json >many.stats
    cmp -s output one.output && cmp -s many.stats one.stats &&
        cmp -s <(grep -v 'partitions, so . threads execute it' messages) one.messages
}

# The share of events in windows, in percent, is at least that.
share() {
    awk -v least="$1" '/"events_in_windows"/ { found = 1; share = 100 * $2 } END { exit !(found && share >= least) }' stats.json
}

each() {
    local name=$1 threads
    shift
    check "$name: one thread" alone "$@"
    for threads in 2 3 4; do
        check "$name: $threads threads" same $threads "$@"
    done
}
each "races" modules.yaml races 6 8
check "races: windows have most events" share 80
each "races beside launches of one thread" modules.yaml races 4 8 tiny
each "races with clocks" modules.yaml races 4 8 time
each "bfs" modules.yaml bfs 2048
check "bfs: windows" share 20
each "k-means" modules.yaml kmeans 2048 8
check "k-means: windows" share 20
each "more blocks than fit" modules.yaml races 1 300
each "blocks of few multiprocessors" modules.yaml races 4 1
check "so no window" test "$(jq .host.windows stats.json)" = 0
each "a small launch" modules.yaml vector_add 64

# Crossbars tell the network of room after it has worked on a clock somewhere else.
cat >narrow.yaml <<END
extends: $examples/machines/modules.yaml
module:
  simt: {count: 2, placement: contiguous, warps: 16, clock: 2 GHz}
  crossbar: {clock: 1.25 GHz, latency: 1}
  l2: {size: 16 KiB, mshrs: 4, clock: 2 GHz}
net: {topology: torus, size: 4x1, clock: 2 GHz, latency: 3, vcs: 4}
END
each "little room" narrow.yaml races 2 28 tiny

# Long windows, in which launches end while a module without blocks of them could be ahead.
cat >slow.yaml <<END
extends: $examples/machines/modules.yaml
homes: "R12 B4 C4 H4 S2 C2 O6"
module: {simt: {count: 2, warps: 16, clock: 2 GHz, l1: {size: 4 KiB}}, crossbar: {latency: 5}, l2: {size: 64 KiB, mshrs: 4}}
net: {topology: mesh, size: 4x1, clock: 1.25 GHz, latency: 40, vcs: 4}
END
each "launches end in a window" slow.yaml bfs 1665

check "16 modules: one thread" alone "$examples/machines/modules_16.yaml" --set "module.*.simt.placement=contiguous" bfs 4096
check "16 modules: two threads" same 2 "$examples/machines/modules_16.yaml" --set "module.*.simt.placement=contiguous" bfs 4096
check "16 modules: windows" share 20

# Time ends at the same event.
ends_early() {
    run -m modules.yaml --max-time 60us --threads "$1" races 40 8
    [ $? -eq 124 ] && without_host stats.json >"$1.stats"
}
check "time ends, one thread" ends_early 1
check "time ends, two threads" ends_early 2
check "time ends at the same event" cmp 1.stats 2.stats

# A fault has the message and the status of one thread; its statistics would not be those of one.
fault() {
    rm -f stats.json
    run -m modules.yaml --threads "$1" races 6 8 fault
    [ $? -eq 139 ]
}
check "a fault, one thread" fault 1
mv messages one.messages
check "a fault, one thread: statistics" test -s stats.json
check "a fault, three threads" fault 3
check "a fault, three threads: message" cmp one.messages <(grep -v 'no statistics are written' messages)
check "a fault, three threads: no statistics" grep -q 'no statistics are written.*--threads 1 writes them' messages
check "a fault, three threads: no file" test ! -e stats.json

# A module's memory has work left from before the time at which the fastest thread stops.
late_fault() {
    "$croft" run --detail roi -m modules.yaml --set module.*.simt.placement=module --set module.*.simt.count=1 --set module.*.simt.clock=4GHz \
        --set module.*.simt.stack_write_back=false --set module.*.dram.page=timeout --set net.node_latency=5 --set net.clock=1GHz --threads 3 late_fault 8 \
        >output 2>messages
    [ $? -eq 133 ]
}
check "a fault with other clocks" late_fault

# refused TEXT OPTIONS...: the run ends with a message that has the text.
refused() {
    run "${@:2}" && return 1
    grep -q -- "$1" messages
}
check "calls of threads" refused "of launch 1 makes a call, which needs --threads 1" -m modules.yaml --threads 2 races 6 8 call
check "calls of threads outside of windows" refused "of launch 1 makes a call, which needs --threads 1" -m modules.yaml --threads 2 races 1 300 call
check "no number" refused "needs a number from 1 to 64, not 'two'" -m modules.yaml --threads two vector_add 64
check "no thread" refused "needs a number from 1 to 64" -m modules.yaml --threads 0 vector_add 64
check "no clock" refused "has no clock" --threads 2 vector_add 64
check "no partitions" refused "machine 'gpu' is one partition" -m gpu --threads 2 vector_add 64
check "stacks that are dropped elsewhere" refused "module.0.simt.stack_drop: lines of a block's stacks are dropped" -m modules.yaml \
    --set "module.*.simt.stack_near=false" --threads 2 vector_add 64
check "tasks" refused "accelerators that take tasks" -m nucd --threads 2 vector_add 64
check "links" refused "the link link.. is between partitions" -m "$examples/machines/stacks.yaml" --threads 2 vector_add 64
check "a network with memories at its nodes" refused "net: a network can be divided if crossbars are at its nodes" -m nupim --threads 2 vector_add 64
check "TOM" refused "a part of kind tom_unit shares state" -m tom --threads 2 vector_add 64
for option in "--trace memory" "--check dram" "--partition-study study" "--log commit:log" "--gdb 1" "--max-insns 9" "--max-memory 1GiB"; do
    # shellcheck disable=SC2086
    check "$option" refused "${option%% *}.*\(--threads\|exclude each other\)\|--threads.*${option%% *}" -m modules.yaml --threads 2 $option vector_add 64
done
more() {
    run -m modules.yaml --threads 9 vector_add 64 && grep -q 'has 4 partitions, so 4 threads' messages
}
check "more threads than partitions" more

# The second multiprocessor of the first module has its stacks in the second one's memory.
uneven=(modules.yaml --set module.0.simt.count=4 --set module.2.simt.count=1 --set module.3.simt.count=1)
far() {
    run -m "${uneven[@]}" --threads 2 races 3 8 && without_host stats.json >many.stats &&
        cmp -s many.stats one.stats && grep -q 'no effect: by .homes., stacks of module.0.simt are in memories of other' messages
}
check "stacks elsewhere: one thread" alone "${uneven[@]}" races 3 8
check "stacks elsewhere: no windows" far

# Random machines. Networks have other topologies, clocks and latencies than the one above, and modules other parts.
pick() {
    local choices=("$@")
    echo "${choices[RANDOM % ${#choices[@]}]}"
}
random_machine() {
    local shape count bits nodes
    shape=$(pick "2 2x1 1" "4 2x2 2" "4 4x1 2" "8 4x2 3")
    read -r count shape bits <<<"$shape"
    nodes=$(seq -s' ' 0 $((count - 1)))
    cat <<END
extends: $examples/machines/modules.yaml
homes: "R12 B4 C4 H4 S$bits C2 O6"
module:
  count: $count
  simt: {count: $(pick 1 2 3), placement: $(pick contiguous module), warps: $(pick 16 48), clock: $(pick 1.4 1.25 2) GHz, l1: {size: $(pick 4 16 32) KiB},
         policy: $(pick gto round_robin)}
  crossbar: {clock: $(pick 1.25 2.5 1.4) GHz, latency: $(pick 1 2 5), queues: $(pick fifo virtual)}
  l2: {size: $(pick 16 64) KiB, mshrs: $(pick 4 64), clock: $(pick 1.4 2) GHz}
net: {topology: $(pick mesh torus), size: $shape, clock: $(pick 2.5 1.25 2) GHz, latency: $(pick 1 3 10 40), buffer: $(pick 8 16), vcs: $(pick 2 4),
      out_nodes: $nodes}
END
}
for ((i = 1; i <= machines; i++)); do
    random_machine >random.$i.yaml
    case $((RANDOM % 4)) in
    0) program=(races $((RANDOM % 6 + 1)) $((RANDOM % 30 + 2)) time) ;;
    1) program=(bfs $((RANDOM % 2000 + 500))) ;;
    2) program=(kmeans $((RANDOM % 2000 + 500)) 8) ;;
    *) program=(races $((RANDOM % 6 + 1)) $((RANDOM % 30 + 2)) tiny) ;;
    esac
    check "random machine $i, ${program[*]}: one thread" alone random.$i.yaml "${program[@]}"
    for threads in 2 3 4; do
        check "random machine $i, ${program[*]}: $threads threads" same $threads random.$i.yaml "${program[@]}"
    done
done

conclude
