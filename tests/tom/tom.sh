#!/bin/bash
# TOM: tom.sh CROFT WORKDIR FOLDER (of the compiled examples/simt). On machine tom and on small.yaml, kernels whose blocks are
# offloaded must behave as on qemu-riscv64 with every policy, obey the DRAM rules, keep caches coherent and count what they
# do; --check coherence must fail when a part of what keeps them so is left out. Idle latencies are the sums of their parts.
# Tables that are wrong are warned of, and faults name who was at fault. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ $# -ne 3 ]; then
    echo "usage: tests/tom/tom.sh CROFT WORKDIR FOLDER" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")
folder=$(realpath "$3")
wide=(--coalesced 32 --misses 100) # more blocks are worth it

evidence() {
    diff "$work/oracle" "$work/output" || true
    tail -n 5 "$work/errors"
}

# run STATUS OPTIONS... PROGRAM [ARGUMENTS]: with statistics.
run() {
    local expected=$1 status=0
    shift
    timeout 600 "$croft" run --stats "$work/stats.json" "$@" >"$work/output" 2>"$work/errors" || status=$?
    [ "$status" -eq "$expected" ]
}

value() {
    jq -r ".total[\"$1\"]" "$work/stats.json"
}

# sum PATTERN: of the values whose names match.
sum() {
    jq "[.total | to_entries[] | select(.key | test(\"$1\")) | .value] | add" "$work/stats.json"
}

says() {
    grep -qE "$1" "$work/errors"
}

silent() {
    [ ! -s "$work/errors" ]
}

# table OUTPUT PROGRAM [OPTIONS]: adds the table of blocks.
table() {
    local output=$1 program=$2
    shift 2
    "$croft" candidates "$@" -m tom -o "$output" "$program" >"$work/candidates" 2>"$work/errors"
}

# same NAME OPTIONS... PROGRAM [ARGUMENTS]: runs with the oracle's output, and nothing on standard error.
same() {
    local name=$1
    shift
    check "$name: runs" run 0 "$@"
    check "$name: qemu's output" cmp -s "$work/oracle" "$work/output"
    check "$name: no messages" silent
}

# adds NAME: what the controllers and the stacks count fits together.
adds() {
    local name=$1 offloaded
    offloaded=$(value offload.offloaded)
    check "$name: decisions" test "$(value offload.instances)" -eq $((offloaded + $(sum '^offload.refused.')))
    check "$name: packets" test "$(value offload.packets)" -eq "$offloaded"
    check "$name: tasks" test "$(sum '^stack.*[.]unit.tasks$')" -eq "$offloaded"
    check "$name: bytes" test "$(sum '^stack.*[.]unit.packet_bytes$')" -eq "$(value offload.packet_bytes)"
    check "$name: answers" test "$(sum '^stack.*[.]unit.answer_bytes$')" -eq "$(value offload.answer_bytes)"
    check "$name: lines" test "$(sum '^stack.*[.]unit.lines$')" -eq "$(value offload.dropped_lines)"
    check "$name: instructions" test "$(value offload.thread_instructions)" -eq \
        $(($(value simt.thread_instructions) - $(value offload.redundant_thread_instructions)))
}

# The shipped kernels, with more blocks than are worth it: with ALL=1 on both machines, else on one each.
kernels() {
    local program name total=0 turn=0
    for program in "$folder"/*; do
        name=$(basename "$program")
        oracle "$work/oracle" "$program"
        table "$work/program" "$program" "${wide[@]}" || true
        turn=$((turn + 1))
        if [ -n "${ALL:-}" ] || [ $((turn % 2)) -eq 0 ]; then
            same "$name, no_ctrl" -m tom --set offload.policy=no_ctrl --check dram --check coherence "$work/program"
            adds "$name, no_ctrl"
            total=$((total + $(value offload.offloaded)))
        fi
        if [ -n "${ALL:-}" ] || [ $((turn % 2)) -eq 1 ]; then
            same "$name, small" -m "$here/small.yaml" --check coherence "$work/program"
            adds "$name, small"
            total=$((total + $(value offload.offloaded)))
        fi
    done
    echo "$total blocks" >"$work/errors"
    check "kernels offload" test "$total" -gt 1000
}

# The cases of blocks.c, with the blocks that are worth it and with more.
cases() {
    local options name
    for options in "" "${wide[*]}"; do
        # shellcheck disable=SC2086
        table "$work/program" "$work/blocks" $options
        for name in shared diverging late floats spaces; do
            oracle "$work/oracle" "$work/blocks" "$name"
            same "$name $options, ctrl" -m tom --check coherence "$work/program" "$name"
            adds "$name $options, ctrl"
            [ "$name$options" = diverging ] || check "$name $options: offloads" test "$(value offload.offloaded)" -gt 0
            [ "$name" != spaces ] || check "$name $options: scratchpads" test "$(sum 'unit.scratchpad_accesses')" -gt 0
            same "$name $options, small no_ctrl" -m "$here/small.yaml" --set offload.policy=no_ctrl --check coherence \
                "$work/program" "$name"
            [ "$name" != late ] || check "$name $options: packets wait" test "$(sum 'unit.waiting_peak')" -gt 4
        done
    done
    check "late: redundant instructions" test "$(value offload.redundant_instructions)" -ge 0
    oracle "$work/oracle" "$work/blocks" late
    same "late, none" -m tom --set offload.policy=none "$work/program" late
    check "late, none: nothing is offloaded" test "$(value offload.packets)" -eq 0
    same "late, again" -m tom "$work/program" late
    cp "$work/stats.json" "$work/first.json"
    check "late: redundant" test "$(value offload.redundant_instructions)" -gt 0
    same "late, again" -m tom "$work/program" late
    check "late: the same statistics" diff <(without_host "$work/first.json") <(without_host "$work/stats.json")
}

# By hand: `sweep` reads p and the end (and sum): three registers of 32 lanes, the mask and two addresses; it writes one
# register, and status; 10 rounds store to 2 lines each. A warp comes to it six times.
packets() {
    table "$work/program" "$work/blocks"
    check "shared: runs" run 0 -m tom "$work/program" shared
    check "shared: blocks" test "$(value offload.offloaded)" -eq $((4 * 6))
    check "shared: bytes of packets" test "$(value offload.packet_bytes)" -eq $((24 * (3 * 32 * 8 + 4 + 16)))
    check "shared: lines" test "$(value offload.dropped_lines)" -eq $((24 * 20))
    check "shared: bytes of answers" test "$(value offload.answer_bytes)" -eq $((24 * (32 * 8 + 4 + 20 * 8)))
    check "shared: stores are waited for" test "$(value offload.push_time)" -gt 0
    check "late: runs" run 0 -m tom --set offload.pending=1 --set offload.policy=ctrl "$work/program" late
    check "late: one at a time" test "$(sum 'unit.running_peak')" -le 4
    check "late: others stay" test "$(value offload.refused.full)" -gt 0
    check "late: they count" test "$(value offload.candidate.1.offloaded)" -eq "$(value offload.offloaded)"
    check "busy: runs" run 0 -m tom --set offload.busy_percent=1 --set 'offload.window=1 ns' "$work/program" late
    check "busy: a channel to which blocks add bytes" test "$(value offload.refused.tx_busy)" -gt 0
    table "$work/program" "$work/blocks" "${wide[@]}"
    check "wide: runs" run 0 -m tom "$work/program" diverging
}

# What keeps caches coherent, one part switched off at a time.
coherence() {
    local key
    table "$work/program" "$work/blocks"
    for key in push drop_near drop_front; do
        check "$key: found" run 3 -m tom --check coherence --set "offload.$key=false" "$work/program" shared
        check "$key: message" says "key $key of the offload controllers"
        check "$key: summary" says 'of the loads of multiprocessors, '
    done
}

# per LAYOUT OPTIONS...: prints the time in ps that following a pointer takes, and that in clocks in front (policy none).
per() {
    local layout=$1 count times=() clocks=()
    shift
    for count in 64 128; do
        run 0 -m tom --set 'stack.*.dram.refresh=none' "$@" "$work/program" "$layout" "$count" || return
        times+=("$(sum 'unit.executed_time')")
        clocks+=("$(value simt.0.cycles)")
    done
    echo "$(((times[1] - times[0]) / 64000)) $(((clocks[1] - clocks[0]) * 714286 / 64000))"
}

# within NAME MEASURED PARTS EDGES: in ps; each part with a clock begins at an edge of it.
within() {
    echo "$1: $2, not $3 to $(($3 + $4))" >"$work/errors"
    check "$1" test "$2" -ge "$3" -a "$2" -le $(($3 + $4))
}

# Lines in open rows. In ps: a first-level cache looks up for 27 clocks of 714; a load takes 19 more (18, and one to enter the
# pipeline); a crossbar takes 2 clocks of 800 for a message of one clock (in front of the links, a line takes two clocks of
# 64 B); a vault 4 ns each way and, in clocks of 1.6 ns, 9 to the data and 8 for them; a link 11 ns and a flit of 16 B (200 at
# 80 GB/s, 400 at 40 GB/s), nine flits for a line; the crossbar in front 8 clocks and four for a line; the second level 60
# clocks of 1.4286 ns until the tags are known, and 60 after the line has come.
latencies() {
    local near far front
    table "$work/program" "$work/chase"
    local own=$(((27 + 19) * 714)) vault=$((8000 + 17 * 1600)) cross=$((2 * 2 * 800))
    read -r near _ < <(per near)
    within "near" "$near" $((own + cross + vault)) $((714 + 2 * 800 + 1600))
    read -r far _ < <(per far)
    within "far" "$far" $((own + 2 * cross + vault + 2 * 11000 + 10 * 400)) $((714 + 4 * 800 + 1600))
    read -r _ front < <(per near --set offload.policy=none)
    within "from the front" "$front" \
        $((own + 2 * cross + 800 + vault + 2 * 11000 + 10 * 200 + (8 + 8 + 3) * 800 + 120 * 1429)) \
        $((714 + 6 * 800 + 1600 + 2 * 1429))
}

# replace FILE BYTES...: puts bytes (printf's notation) into the section at an offset.
section() {
    local at=$1 bytes=$2
    local offset
    offset=$(readelf -SW "$work/program" | awk '/[.]tom[.]candidates/ { sub(/^.*[.]tom[.]candidates/, ""); print $3; exit }')
    # shellcheck disable=SC2059
    printf "$bytes" | dd of="$work/program" bs=1 seek=$((0x$offset + at)) conv=notrunc status=none
}

# Tables that are wrong: each is warned of, and the program runs.
bad() {
    oracle "$work/oracle" "$work/blocks" shared
    tables() {
        check "$1: runs" run 0 -m tom "$work/program" shared
        check "$1: qemu's output" cmp -s "$work/oracle" "$work/output"
        check "$1: message" says "$2"
        check "$1: not offloaded" test "$(value offload.packets)" -eq 0
        table "$work/program" "$work/blocks"
    }
    cp "$work/blocks" "$work/program"
    tables "no table" 'warning: the program has no section [.]tom[.]candidates, so no block is offloaded'
    section 0 'X'
    tables "magic" 'warning: [.]tom[.]candidates is not a table of version 1; no block is offloaded'
    section 12 '\051'
    tables "too many" 'warning: [.]tom[.]candidates has 41 entries; at most 40 are allowed'
    section 12 '\001'
    tables "cut short" 'warning: [.]tom[.]candidates has [0-9]+ bytes; 1 entries take 80'
    section 16 '\000\000\000\000\000\000\000\000'
    tables "not code" 'warning: entry 0 of [.]tom[.]candidates is not offloaded: 0x0 is not code'
    section 24 '\002\000\000\000\000\000\000\000'
    tables "no end" 'warning: entry 0 of [.]tom[.]candidates is not offloaded: 0x[0-9a-f]+ is a call, a return or an indirect jump'
    section 32 '\000\000\000\000\000\000\000\000'
    tables "registers that are missing" 'warning: entry 0 of .* reads a register that the entry does not send'
    printf 'extends: tom_base\noffload: {kind: tom, memory: crossbar}\n' >"$work/bare.yaml"
    check "no unit: refused" run 1 -m "$work/bare.yaml" "$work/program" shared
    check "no unit: message" says '^croft run: offload: the machine has no stack that executes blocks'
    check "write-back stacks: refused" run 1 -m tom --set simt.stack_write_back=true "$work/program" shared
    check "write-back stacks: message" says 'simt[.]stack_write_back: false'
}

# A fault in a block names the thread, the stack and the line.
faults() {
    local line
    line=$(grep -n 'sum += cells\[i [*] THREADS\];' "$here/blocks.c" | head -n 1 | cut -d : -f 1)
    table "$work/program" "$work/blocks"
    check "fault: ends" run 139 -m tom "$work/program" faulty
    check "fault: the thread" says 'thread [(]37, 0, 0[)] of block [(]0, 0, 0[)] of launch 1, lane 5 of warp 1'
    check "fault: the line" says "sweep[+]0x[0-9a-f]+ [(].*blocks[.]c:${line}[)]"
    check "fault: the stack" says '^croft: stack[.][0-3][.]simt[.]0 was executing this block, 0x.* for simt[.]0 '
}

# A warp executes the same instructions with the same results, wherever it does; redundant ones are not shown. A run that
# ends while blocks are away ends like any other.
logs() {
    local name
    table "$work/program" "$work/blocks" "${wide[@]}"
    for name in diverging late floats; do
        run 0 -m tom --set offload.policy=none --log "commit:$work/near.log" --warp 1.0.1 "$work/program" "$name" || true
        check "log of $name: runs" run 0 -m "$here/small.yaml" --set offload.policy=no_ctrl \
            --log "commit:$work/far.log" --warp 1.0.1 "$work/program" "$name"
        check "log of $name: offloads" test "$(value offload.offloaded)" -gt 0
        check "log of $name: the same" cmp -s "$work/near.log" "$work/far.log"
    done
    check "ended: runs" run 0 -m tom "$work/program" shared
    check "ended: status" run 124 -m tom --max-time "$(($(value sim.time) / 1000000 - 3000)) ns" "$work/program" shared
}

# The units' spans in a trace, one for each block.
traced() {
    table "$work/program" "$work/blocks"
    check "trace: runs" run 0 -m tom --trace "perfetto:$work/trace.json" "$work/program" shared
    check "trace: units" test "$(grep -cE '"process_name".*"stack[.][0-3][.]unit"' "$work/trace.json")" -eq 4
    check "trace: blocks" test "$(grep -cE '"ph":"b".*"cat":"offload"|"cat":"offload".*"ph":"b"' "$work/trace.json")" -ge 24
}

# Beneath the kernel, threads have virtual addresses, in stacks too.
kernel() {
    table "$work/program" "$work/blocks"
    oracle "$work/oracle" "$work/blocks" shared
    check "kernel: runs" run 0 --env kernel -m "$here/small.yaml" "$work/program" shared
    check "kernel: qemu's output" cmp -s "$work/oracle" "$work/output"
    check "kernel: offloads" test "$(value offload.offloaded)" -gt 0
}

for name in blocks chase; do
    "$croft" cc -O2 -g -Wall -Wextra "$here/$name.c" -o "$work/$name"
done
if [ -n "${ONLY:-}" ]; then
    for name in $ONLY; do $name; done
else
    cases
    packets
    coherence
    latencies
    bad
    faults
    logs
    traced
    kernel
    kernels
fi
conclude
