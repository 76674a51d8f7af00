#!/bin/bash
# TOM: tom.sh CROFT WORKDIR FOLDER (of the compiled examples/simt). On machine tom and on small.yaml, kernels whose blocks are
# offloaded must behave as on qemu-riscv64 with every policy, obey the DRAM rules, keep caches coherent and count what they
# do; --check coherence must fail when a part of what keeps them so is left out. Idle latencies are the sums of their parts.
# Tables that are wrong are warned of, and faults name who was at fault. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR FOLDER" $#
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
    ! grep -qv '^croft run: warning: idle parts take' "$work/errors" # true of small inputs
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
    local name=$1 offloaded reached=0
    offloaded=$(value offload.offloaded)
    [[ $name == ideal* ]] || reached=$(sum '^stack.*[.]unit.scratchpad_accesses$')
    check "$name: decisions" test "$(value offload.instances)" -eq $((offloaded + $(sum '^offload.refused.')))
    check "$name: packets" test "$(value offload.packets)" -eq $((offloaded + reached))
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

# reaches NAME: each access to a scratchpad is a packet of its own. Of three, two load 8 bytes in each of 32 lanes and one stores
# them: 4 + 32 * 8 bytes or 4 go to the stack, and 4 + 32 * 8 or as many again to the front, with 8 bytes of address a lane. What is
# left are the blocks' packets, 20 bytes and whole registers of 256 each, and their answers, 4 bytes and words of 8.
reaches() {
    local accesses blocks threes
    accesses=$(sum 'unit.scratchpad_accesses')
    threes=$((accesses / 3))
    blocks=$(value offload.offloaded)
    check "$1: scratchpads" test "$accesses" -gt 0
    check "$1: bytes to stacks" test $((($(value offload.packet_bytes) - threes * (2 * 260 + 4) - 20 * blocks) % 256)) -eq 0
    check "$1: bytes to the front" test $((($(value offload.answer_bytes) - threes * (2 * 260 + 516) - 4 * blocks) % 8)) -eq 0
}

# Loops that people write: each has a candidate, found by its function, which is offloaded, and results are qemu's.
written() {
    local name
    "$croft" cc -O2 -g "$here/loops.c" -o "$work/loops"
    table "$work/program" "$work/loops"
    cp "$work/candidates" "$work/loops.txt"
    for name in grid_stride words backwards pages indices triples; do
        check "$name: a candidate" grep -qE "^[0-9]+ .* $name +[0-9].* x?[(]?[|]?x[0-9]+ - " "$work/loops.txt"
        oracle "$work/oracle" "$work/loops" "$name"
        same "$name, small" -m "$here/small.yaml" --set offload.policy=no_ctrl --check coherence "$work/program" "$name"
        check "$name: offloads" test "$(value offload.offloaded)" -gt 0
    done
}

# With one block in each stack at a time, and data in all four, half of eight warps stay in the first round of their loop; decided about in
# each round, all of them go.
rounds() {
    [ -f "$work/loops" ] || "$croft" cc -O2 -g "$here/loops.c" -o "$work/loops"
    table "$work/program" "$work/loops"
    oracle "$work/oracle" "$work/loops" grid_stride
    same "decided once" -m "$here/small.yaml" --set offload.pending=1 --check coherence "$work/program" grid_stride
    check "decided once: some stay" test "$(value offload.offloaded) $(value offload.refused.full)" = "4 4"
    same "decided in each round" -m "$here/small.yaml" --set offload.pending=1 --set offload.each_round=true --check coherence \
        "$work/program" grid_stride
    adds "decided in each round"
    check "decided in each round: all go" test "$(value offload.offloaded) $(value offload.refused.full)" = "8 0"
    check "decided in each round: one at a time" test "$(sum 'unit.running_peak')" -eq 4
    same "decided in each round, learned" -m "$here/small.yaml" --set offload.each_round=true --set offload.map=tmap \
        --set offload.learn_instances=1 --check coherence "$work/program" grid_stride
    adds "decided in each round, learned"
    # A block that is no loop comes to its begin once, though stacks have room soon after it was refused.
    table "$work/program" "$folder/backprop"
    check "no loop: runs" run 0 -m tom "$work/program" 20480
    without_host "$work/stats.json" >"$work/once.json"
    check "no loop, in each round: runs" run 0 -m tom --set offload.each_round=true "$work/program" 20480
    check "no loop: the same statistics" diff "$work/once.json" <(without_host "$work/stats.json")
}

# Blocks that begin with loads of arguments all go to the stack of these, or to those of the arrays; in ideal to the emptiest.
destination() {
    local way
    local -A tasks=([first]=32 [own]="8 8 8 8")
    "$croft" cc -O2 -g -Wall -Wextra "$here/arguments.c" -o "$work/arguments"
    table "$work/program" "$work/arguments"
    oracle "$work/oracle" "$work/arguments"
    for way in first own; do
        same "destination $way" -m "$here/small.yaml" --set offload.policy=no_ctrl --set offload.destination=$way --check coherence "$work/program"
        adds "destination $way"
        stacks_of "destination $way" "${tasks[$way]}"
    done
    check "destination own, learned: runs" run 0 -m "$here/small.yaml" --set offload.destination=own --set offload.map=tmap \
        --set offload.learn_instances=4 "$work/program"
    check "destination own, learned: the arrays' requests" test "$(value offload.map.requests)" -lt $((5 * 16))
    check "destination emptiest: runs" run 0 -m "$here/small.yaml" --set offload.policy=ideal --set offload.destination=emptiest "$work/program"
    stacks_of "destination emptiest" "8 8 8 8"
    maps 1 'destination: emptiest is for policy: ideal, where each stack has all data' --set offload.destination=emptiest
}

# stacks_of NAME TASKS: how many each stack has executed, without those that have none.
stacks_of() {
    check "$1: stacks" test "$(jq -r '[.total | to_entries[] | select(.key | test("unit.tasks$")) | .value | select(. > 0)] | join(" ")' "$work/stats.json")" = "$2"
}

# Keys that depart from the paper change times only. A push waits for no longer if it leaves out other multiprocessors' stores.
keys() {
    local name own
    table "$work/program" "$work/blocks" "${wide[@]}"
    for name in shared diverging late; do
        oracle "$work/oracle" "$work/blocks" "$name"
        same "$name, balance" -m "$here/small.yaml" --set offload.balance=true --check coherence "$work/program" "$name"
        adds "$name, balance"
        same "$name, map_choice even" -m "$here/small.yaml" --set offload.map=tmap --set offload.map_choice=even \
            --set offload.learn_instances=6 --check coherence "$work/program" "$name"
        same "$name, width" -m "$here/small.yaml" --set offload.send_held=true --set offload.registers_by_number=true \
            --check coherence "$work/program" "$name"
        adds "$name, width"
        same "$name, push" -m tom --set offload.policy=no_ctrl --check coherence "$work/program" "$name"
        own=$(value offload.push_time)
        same "$name, push_all" -m tom --set offload.policy=no_ctrl --set offload.push_all=true --check coherence "$work/program" "$name"
        check "$name, push_all: no shorter" test "$(value offload.push_time)" -ge "$own"
    done
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
            [ "$name" != spaces ] || reaches "$name $options"
            same "$name $options, small no_ctrl" -m "$here/small.yaml" --set offload.policy=no_ctrl --check coherence \
                "$work/program" "$name"
            [ "$name" != late ] || check "$name $options: packets wait" test "$(sum 'unit.waiting_peak')" -gt 4
        done
    done
    # Those that have come to the block's end keep their registers while the others go on.
    oracle "$work/oracle" "$work/blocks" apart
    same "apart, min-PC" -m tom --set offload.policy=no_ctrl --set simt.reconvergence=minpc "$work/program" apart
    check "apart, min-PC: offloads" test "$(value offload.offloaded)" -gt 0
    # Data of accesses to scratchpads pass packets for which the unit has no room.
    oracle "$work/oracle" "$work/blocks" spaces
    same "spaces, units without room" -m "$here/small.yaml" --set offload.policy=no_ctrl --set 'stack.unit.queue=1' "$work/program" spaces
    check "spaces, units without room: scratchpads" test "$(sum 'unit.scratchpad_accesses')" -gt 0
    oracle "$work/oracle" "$work/blocks" late
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
    full=$(value offload.refused.full)
    # The loop has more than four instructions for its load: with an instruction a place, a block fills more than four.
    check "late, ratio 1: runs" run 0 -m tom --set offload.pending=4 --set offload.alu_ratio=1 "$work/program" late
    check "late, ratio 1: one at a time" test "$(sum 'unit.running_peak')" -le 4
    check "late, ratio 1: others stay" test "$(value offload.refused.compute)" -eq "$full"
    check "late, ratio 100: runs" run 0 -m tom --set offload.pending=4 --set offload.alu_ratio=100 "$work/program" late
    check "late, ratio 100: all have room" test "$(value offload.refused.compute) $(value offload.refused.full)" = "0 0"
    # Registers for one warp in each stack: others stay, unless 48 are allowed to be under way; then their packets wait.
    check "late, few registers: runs" run 0 -m tom --set stack.simt.registers=512 "$work/program" late
    check "late, few registers: others stay" test "$(value offload.refused.full)" -gt 0 -a "$(value offload.offloaded)" -gt 0
    check "late, few registers: none waits for a warp" test "$(sum 'unit.waiting_peak')" -eq 4
    check "late, 48 of few registers: runs" run 0 -m tom --set stack.simt.registers=512 --set offload.pending=48 "$work/program" late
    check "late, 48 of few registers: all go" test "$(value offload.refused.full)" -eq 0
    check "late, 48 of few registers: they wait" test "$(sum 'unit.waiting_peak')" -gt 4
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
    table "$work/program" "$work/blocks" --coalesced 31 --misses 100 # so that the store in front is no block
    oracle "$work/oracle" "$work/blocks" crossing
    same "crossing" -m tom --check coherence "$work/program" crossing
    check "crossing: offloads" test "$(value offload.offloaded)" -ge $((4 * 6))
    for key in push drop_near; do
        check "crossing, $key: found" run 3 -m tom --check coherence --set "offload.$key=false" "$work/program" crossing
        check "crossing, $key: message" says "key $key of the offload controllers"
    done
    # Stores of other warps that have not come to the first-level cache yet are pushed, too.
    oracle "$work/oracle" "$work/blocks" swapped
    same "swapped" -m tom --set offload.policy=no_ctrl --set simt.l1.write_buffer=4 --check coherence "$work/program" swapped
    oracle "$work/oracle" "$work/blocks" crossing
    # Where NUCD takes threads, too, a warp must still wait for its stores before its block leaves.
    same "crossing, with NUCD" -m undercroft --set offload.policy=no_ctrl --set simt.l1.write_buffer=4 --check coherence \
        "$work/program" crossing
    check "crossing, with NUCD: offloads" test "$(value offload.offloaded)" -ge $((4 * 6))
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
    local near far front host half key
    table "$work/program" "$work/chase"
    local own=$(((27 + 19) * 714)) vault=$((8000 + 17 * 1600)) cross=$((2 * 2 * 800))
    read -r near _ < <(per near)
    within "near" "$near" $((own + cross + vault)) $((714 + 2 * 800 + 1600))
    # With half the TSVs, both bursts of a line take twice their time: 8 clocks more.
    half=()
    for key in tBURST tCCDS tCCDL; do half+=(--set "stack.dram.$key=12.8 ns"); done
    read -r near _ < <(per near "${half[@]}")
    within "near, half the TSVs" "$near" $((own + cross + vault + 8 * 1600)) $((714 + 2 * 800 + 1600))
    read -r far _ < <(per far)
    within "far" "$far" $((own + 2 * cross + vault + 2 * 11000 + 10 * 400)) $((714 + 4 * 800 + 1600))
    read -r _ front < <(per near --set offload.policy=none)
    read -r _ host < <(per near --set offload.map=tmap --set offload.learn_instances=1000000)
    # In place of the link, the stack's crossbar and the vault: 600 ns, 24 B and 152 B at 15.754 GB/s.
    within "from the host" "$host" \
        $((own + cross + 800 + (8 + 8 + 3) * 800 + 120 * 1429 + 600000 + 1523 + 9648)) \
        $((714 + 6 * 800 + 2 * 1429))
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
    printf 'extends: tom\noffload: none\n' >"$work/silent.yaml"
    check "units alone: refused" run 2 -m "$work/silent.yaml" "$work/program" shared
    check "units alone: message" says '^croft run: .*tom[.]yaml:[0-9]+: no part sends blocks to this unit; allowed: with a part of kind tom, or no unit'
    check "no multiprocessors: refused" run 1 -m tom --set simt.count=0 --set stack.simt.count=0 "$work/program" shared
    check "no multiprocessors: message" says '^croft run: offload: the machine has no multiprocessors [(]simt[.]count is 0'
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
    same "kernel, tmap" --env kernel -m "$here/small.yaml" --set offload.map=tmap --set offload.learn_instances=6 \
        "$work/program" shared
    check "kernel, tmap: offloads" test "$(value offload.offloaded)" -gt 0
    check "kernel, tmap: maps" test "$(value offload.map.changed_bytes)" -gt 0
}

# entry FIELD: of the only block of the table that was executed, its bytes at an offset of the entry, as a number.
entry() {
    local number offset
    number=$(jq -r '[.total | to_entries[] | select(.key | test("^offload.candidate.*instances$")) | .value] |
        map(. > 0) | index(true)' "$work/stats.json")
    offset=$(readelf -SW "$work/program" | awk '/[.]tom[.]candidates/ { sub(/^.*[.]tom[.]candidates/, ""); print $3; exit }')
    od -An -t u8 -j $((0x$offset + 16 + 64 * number + $1)) -N 8 "$work/program" | tr -d ' '
}

# By brute force over a trace of requests: for each map, its lowest bit, the requests of blocks to the stack of their first one,
# the blocks with requests to one stack, and the sum of stacks. A block is a run of requests of a warp from its code.
count_requests() {
    zstd -dc "$work/requests.zst" | tail -c +65 | od -An -v -t u4 -w48 | awk -v begin="$(entry 0)" -v end="$(entry 8)" '
        function xor(a, b) { return a % 2 != b % 2 ? 2 * (int(a / 2) != int(b / 2)) + 1 : 2 * (int(a / 2) != int(b / 2)) }
        function stack(number, bit, at, s) {
            if (bit) return int(number / 2 ^ bit) % 4
            s = int(number / 128) % 4
            for (at = 18; at < 30; at += 2) s = xor(s, int(number / 2 ^ at) % 4)
            return s
        }
        function ended(key, bit, s, used) {
            for (bit = 0; bit <= 16; bit += bit ? 1 : 7) {
                used = 0
                for (s = 0; s < 4; s++) {
                    used += per[key, bit, s] > 0
                    if (s == first[key, bit]) together[bit] += per[key, bit, s]
                    per[key, bit, s] = 0
                }
                single[bit] += used == 1
                stacks[bit] += used
            }
            delete open[key]
        }
        {
            number = $3 + $4 * 2 ^ 32 - 2 ^ 31; pc = $5 + $6 * 2 ^ 32; key = $7 " " $8 " " int($9 / 65536)
            if (pc < begin || pc >= end) { if (key in open) ended(key); next }
            for (bit = 0; bit <= 16; bit += bit ? 1 : 7) {
                s = stack(number, bit)
                if (!(key in open)) first[key, bit] = s
                per[key, bit, s]++
            }
            open[key] = 1
        }
        END {
            for (key in open) ended(key)
            for (bit = 0; bit <= 16; bit += bit ? 1 : 7) print bit, together[bit], single[bit], stacks[bit]
        }'
}

# The same as the analyzer has counted it.
counted_requests() {
    jq -r '.total as $t | (0, range(7; 17)) as $b |
        [$b, $t["offload.map.bit.\($b).together"], $t["offload.map.bit.\($b).single"], $t["offload.map.bit.\($b).stacks"]] |
        join(" ")' "$work/stats.json"
}

# The map that is best by these counts.
best_bit() {
    counted_requests | awk '$1 && $2 > most { most = $2; bit = $1 } END { print bit }'
}

peers() {
    sum '^peer.*sent_bytes$'
}

# learned NAME OPTIONS... PROGRAM...: a run in which the map is learned, and what it counts.
learned() {
    local name=$1 bit
    shift
    same "$name" "$@"
    adds "$name"
    bit=$(best_bit)
    check "$name: the best map" test "$(value offload.map.bit)" -eq "$bit"
    check "$name: blocks seen" test "$(value offload.map.instances)" -eq $((6 + $(value offload.map.overshoot)))
    check "$name: blocks stayed" test "$(value offload.refused.learning)" -ge "$(value offload.map.instances)"
    check "$name: offloads" test "$(value offload.offloaded)" -gt 0
    check "$name: the host was asked" test "$(value offload.map.host_requests)" -gt 0
    # shellcheck disable=SC2016 # jq's variables
    check "$name: ranges" jq -e --argjson bit "$bit" '[.total | to_entries[] |
        select(.key | test("^offload.map.range.[0-9]+.accesses$")) | .value] as $seen | [.total | to_entries[] |
        select(.key | test("^offload.map.range.[0-9]+.bit$")) | .value] as $bits |
        [range(100)] | all($bits[.] == (if $seen[.] > 0 then $bit else 0 end))' "$work/stats.json" >/dev/null
}

# The map is learned while the program runs, or known before. What the analyzer counts equals a count by brute force.
mapping() {
    local name bit
    for name in shared late; do
        table "$work/program" "$work/blocks"
        oracle "$work/oracle" "$work/blocks" "$name"
        same "$name, seen" -m tom --set offload.policy=none --set offload.map_output="$work/maps" \
            --trace "memory:$work/requests.zst" "$work/program" "$name"
        check "$name, seen: stays" test "$(value offload.refused.learning)" -eq "$(value offload.map.instances)"
        # Lanes of `late` part in front of the block, so that one run of requests is of two instances.
        [ "$name" = late ] || check "$name, seen: as by brute force" diff <(count_requests) <(counted_requests)
        # Both step through one array. A block of `shared` loads and stores in each of ten rounds.
        check "$name, seen: offsets" test "$(sum 'fixed_offsets$')" -eq "$(sum 'measured_accesses$')"
        [ "$name" = late ] || check "$name, seen: accesses" test "$(sum 'measured_accesses$')" -eq $((24 * (2 * 10 - 1)))
        bit=$(best_bit)
        check "$name, seen: the file" grep -qx "bit $bit" "$work/maps"
        same "$name, bmap" -m tom --set offload.policy=no_ctrl "$work/program" "$name"
        cp "$work/stats.json" "$work/bmap.json"
        same "$name, oracle" -m tom --set offload.policy=no_ctrl --set offload.map=oracle \
            --set offload.map_file="$work/maps" --check dram --check coherence "$work/program" "$name"
        check "$name, oracle: fewer bytes between stacks" test "$(peers)" -lt \
            "$(jq '[.total | to_entries[] | select(.key | test("^peer.*sent_bytes$")) | .value] | add' "$work/bmap.json")"
        learned "$name, tmap" -m tom --set offload.map=tmap --set offload.learn_instances=6 --check dram \
            --check coherence "$work/program" "$name"
        learned "$name, small tmap" -m "$here/small.yaml" --set offload.map=tmap --set offload.policy=no_ctrl \
            --set offload.learn_instances=6 --check coherence "$work/program" "$name"
    done
    table "$work/program" "$folder/stencil"
    oracle "$work/oracle" "$folder/stencil"
    same "stencil, seen" -m tom --set offload.policy=none --set offload.map_output="$work/maps" \
        --trace "memory:$work/requests.zst" "$work/program"
    check "stencil, seen: as by brute force" diff <(count_requests) <(counted_requests)
    alone
    copied
    crowded
    unlearned
}

# `shared` with a map that puts all of a block's lines into one stack: no bytes between stacks.
alone() {
    table "$work/program" "$work/blocks"
    run 0 -m tom --set offload.policy=none --set offload.map_output="$work/maps" "$work/program" shared
    bit=$(best_bit)
    check "alone: one stack" test "$(value "offload.map.bit.$bit.single")" -eq "$(value offload.map.instances)"
    check "alone: fixed" run 0 -m tom --set offload.map=fixed --set offload.map_bit="$bit" "$work/program" shared
    check "alone: fixed, no bytes between stacks" test "$(peers)" -eq 0
    check "alone: oracle" run 0 -m tom --set offload.map=oracle --set offload.map_file="$work/maps" "$work/program" shared
    check "alone: oracle, no bytes between stacks" test "$(peers)" -eq 0
    check "alone: bmap" run 0 -m tom "$work/program" shared
    check "alone: bmap, bytes between stacks" test "$(peers)" -gt 0
}

# The program says what it allocates; its ranges begin with pages; copying takes the time that the bytes take.
copied() {
    local before
    "$croft" cc -O2 --offload "$here/blocks.c" -o "$work/program"
    oracle "$work/oracle" "$work/program" shared
    same "allocated" -m tom --set offload.map=tmap --set offload.learn_instances=6 "$work/program" shared
    check "allocated: two ranges and the stacks" test "$(jq '[.total | to_entries[] |
        select(.key | test("^offload.map.range.[0-9]+.base$")) | .value | select(. > 0)] | length' "$work/stats.json")" -eq 3
    check "allocated: their sizes" test "$(sum '^offload.map.range.[01].bytes$')" -eq $((2 * 128 * 40 * 8))
    check "allocated: pages" test $(($(value offload.map.range.0.base) % 4096 + $(value offload.map.range.1.base) % 4096)) -eq 0
    check "allocated: copied bytes" test "$(value offload.map.copied_bytes)" -eq $((2 * 128 * 40 * 8))
    run 0 -m tom "$work/program" shared
    before=$(value sim.time)
    check "copied: runs" run 0 -m tom --set offload.copy=true "$work/program" shared
    local took=$((600000000 + 81920 * 1000000000 / 15754)) # fs: 600 ns, and 81,920 B at 15.754 GB/s
    check "copied: stop" test $(($(value offload.map.stop_time) / 1000000)) -eq $((took / 1000000))
    # The rest of the run is not the same with and without a copy: other refreshes, and fetches meanwhile. But a run is
    # longer than a copy that takes longer than the program: 600 ns, and 81,920 B at 0.1 GB/s.
    took=$((600000000 + 819200000000))
    check "copied slowly: runs" run 0 -m tom --set offload.copy=true --set 'offload.pcie_bandwidth=0.1 GB/s' "$work/program" shared
    check "copied slowly: stop" test "$(value offload.map.stop_time)" -eq "$took"
    check "copied slowly: time" test "$before" -lt "$took" -a "$(value sim.time)" -gt "$took" -a \
        "$(value sim.time)" -lt $((took + 2 * before))
}

# full LEFT OPTIONS...: a program with 130 static arrays of 4 KiB, compiled with the options, has LEFT ranges too many.
full() {
    local left=$1
    shift
    "$croft" cc -O2 "$@" -include "$work/many.h" "$here/blocks.c" -o "$work/program"
    check "full table $*: runs" run 0 -m tom --set offload.copy=true "$work/program" shared
    check "full table $*: qemu's output" cmp -s "$work/oracle" "$work/output"
    check "full table $*: one warning" test "$(grep -c 'more than 100 ranges of 4096 bytes or more' "$work/errors")" -eq 1
    check "full table $*: ranges left out" test "$(value offload.map.left_out)" -eq "$left"
}

# The arrays and thread stacks, and the memory behind the program or the two blocks that it allocates.
crowded() {
    seq 130 | sed 's/.*/static char array&[4096] __attribute__((used)) = {1};/' >"$work/many.h"
    oracle "$work/oracle" "$work/blocks" shared
    full $((130 + 1 + 1 - 100))
    full $((130 + 1 + 2 - 100)) --offload
}

# maps STATUS MESSAGE OPTIONS...: the run ends with that status and a message.
maps() {
    local status=$1 message=$2
    shift 2
    check "$message: status" run "$status" -m tom "$@" "$work/program" shared
    check "$message" says "$message"
}

# limit TIME [OPTIONS...]: a run in which learning ends at that time, with fewer blocks than learn_instances.
limit() {
    same "limit of $1" -m tom --set offload.map=tmap --set "offload.learn_limit=$1" "${@:2}" "$work/program" shared
    check "limit of $1: no overshoot" test "$(value offload.map.overshoot)" -eq 0
    check "limit of $1: offloads" test "$(value offload.offloaded)" -gt 0
}

# Learning ends after a time: with the map that is best then, or, before the end of any block, with the machine's own map.
limited() {
    oracle "$work/oracle" "$work/blocks" shared
    limit "12 us"
    check "limit of 12 us: time" test "$(value offload.map.learn_time)" -eq 12000000000
    check "limit of 12 us: fewer blocks" test "$(value offload.map.instances)" -gt 0 -a \
        "$(value offload.map.instances)" -lt 24
    check "limit of 12 us: the best map" test "$(value offload.map.bit)" -eq "$(best_bit)"
    limit "9 us"
    check "limit of 9 us: time" test "$(value offload.map.learn_time)" -eq 9000000000
    # No block has ended, but blocks under way have asked for lines.
    check "limit of 9 us: blocks under way" test "$(value offload.map.unended)" -gt 0 -a \
        "$(value offload.map.unended)" -eq "$(value offload.map.instances)"
    check "limit of 9 us: the best map" test "$(value offload.map.bit)" -eq "$(best_bit)"
    check "limit of 9 us: requests" test "$(value offload.map.bit.7.together)" -le "$(value offload.map.requests)" -a \
        "$(value offload.map.requests)" -gt 0
    limit "1 ns"
    check "limit of 1 ns: no map changes" test "$(value offload.map.instances)" -eq 0 -a \
        "$(value offload.map.bit)" -eq 0 -a "$(value offload.map.changed_bytes)" -eq 0
    same "late limit" -m tom --set offload.map=tmap --set offload.learn_instances=6 --set 'offload.learn_limit=1 s' \
        "$work/program" shared
    check "late limit: the instances end it" test "$(value offload.map.learn_time)" -lt 100000000000 -a \
        "$(value offload.map.instances)" -eq $((6 + $(value offload.map.overshoot)))
}

# Warps take turns at their blocks while the map is learned; with nothing to learn, no data are at the host.
in_turn() {
    local pending
    oracle "$work/oracle" "$work/blocks" shared
    for pending in 1 2; do
        learned "$pending at a time" -m tom --set offload.map=tmap --set offload.learn_instances=6 \
            --set "offload.learn_pending=$pending" --check coherence "$work/program" shared
        check "$pending at a time: others wait" test "$(value offload.map.held)" -gt 0
        check "$pending at a time: overshoot" test "$(value offload.map.overshoot)" -lt "$pending"
    done
    limit "12 us" --set offload.learn_pending=1
    check "limit of 12 us, one at a time: under way" test "$(value offload.map.unended)" -le 1
    check "limit of 12 us, one at a time: others wait" test "$(value offload.map.held)" -gt 0
    same "nothing to learn" -m tom --set offload.map=tmap --set offload.learn_instances=0 "$work/program" shared
    check "nothing to learn: at once" test "$(value offload.map.host_requests)" -eq 0 -a "$(value offload.map.bit)" -eq 0 -a \
        "$(value offload.refused.learning)" -eq 0 -a "$(value offload.offloaded)" -gt 0
}

# Learning that does not end, and keys and files that are wrong.
# shellcheck disable=SC2016 # backquotes of messages
unlearned() {
    table "$work/program" "$work/blocks"
    maps 0 'warning: the mapping was not learned: 24 instances of blocks were executed, and 100 are needed' \
        --set offload.map=tmap
    check "unlearned: stays" test "$(value offload.packets)" -eq 0
    limited
    in_turn
    maps 1 'map_bit: 20; allowed with map: fixed: 7 to 16' --set offload.map=fixed --set offload.map_bit=20
    maps 1 'map_file: map: oracle needs a file' --set offload.map=oracle
    maps 1 'map_output: allowed with policy: none' --set offload.map_output="$work/maps"
    maps 1 'map_file: .*absent: cannot read' --set offload.map=oracle --set offload.map_file="$work/absent"
    maps 1 'map_file: .*: cannot read the file of maps: Is a directory' --set offload.map=oracle --set offload.map_file="$work"
    printf '# nothing\n' >"$work/maps"
    maps 1 'map_file: .*maps: there is no line `bit NUMBER`' --set offload.map=oracle --set offload.map_file="$work/maps"
    printf 'bit 12\nframes 0x80000000\n' >"$work/maps"
    maps 1 'map_file: .*maps:2: a line is `bit NUMBER` or `frames ADDRESS BYTES`' --set offload.map=oracle --set offload.map_file="$work/maps"
    printf 'bit 17\n' >"$work/maps"
    maps 1 'map_file: .*maps:1: bit 17; allowed: 7 to 16' --set offload.map=oracle --set offload.map_file="$work/maps"
    printf 'bit 12\nframes 0x80001000 262144\n' >"$work/maps"
    maps 1 'map_file: .*maps:2: 0x80001000, 262144 bytes; allowed: whole frames of 262144' --set offload.map=oracle --set offload.map_file="$work/maps"
}

# Offloads that cost nothing, to stacks that hold all data: a load takes as long as one of the own stack in `near`, blocks make
# no bytes between stacks or in packets, and redundant instructions do not exist.
ideal() {
    local name near far _
    table "$work/program" "$work/chase"
    read -r near _ < <(per near)
    read -r far _ < <(per far --set offload.policy=ideal)
    within "ideal: far" "$far" $((near - 714 - 4 * 800 - 1600)) $((2 * (714 + 4 * 800 + 1600)))
    table "$work/program" "$work/blocks" "${wide[@]}"
    for name in shared diverging late floats spaces crossing; do
        oracle "$work/oracle" "$work/blocks" "$name"
        same "ideal, $name" -m tom --check dram --set offload.policy=ideal "$work/program" "$name"
        adds "ideal, $name"
        check "ideal, $name: no bytes" test "$(($(value offload.packet_bytes) + $(value offload.answer_bytes) + $(peers)))" -eq 0
        check "ideal, $name: nothing twice" test "$(value offload.redundant_instructions)" -eq 0
        check "ideal, $name: no other reason" test "$(($(value offload.instances) - $(value offload.offloaded)))" -eq \
            "$(($(value offload.refused.condition) + $(value offload.refused.no_access) + $(value offload.refused.no_stack)))"
        same "ideal, $name, small" -m "$here/small.yaml" --set offload.policy=ideal "$work/program" "$name"
    done
    table "$work/program" "$work/blocks"
    check "ideal, shared: runs" run 0 -m tom --set offload.policy=ideal "$work/program" shared
    check "ideal, shared: all blocks" test "$(value offload.offloaded)" -eq $((4 * 6))
    check "ideal, late: runs" run 0 -m tom --set offload.policy=ideal --set offload.pending=1 "$work/program" late
    check "ideal, late: one at a time" test "$(sum 'unit.running_peak')" -le 4
    check "ideal, late: others stay" test "$(value offload.refused.full)" -gt 0
    maps 1 'policy: ideal has all data in each stack; it needs map: bmap' --set offload.policy=ideal --set offload.map=tmap
    maps 1 'policy: ideal does nothing for coherence' --set offload.policy=ideal --check coherence
}

for name in blocks chase; do
    "$croft" cc -O2 -g -Wall -Wextra "$here/$name.c" -o "$work/$name"
done
if [ -n "${ONLY:-}" ]; then
    for name in $ONLY; do $name; done
else
    cases
    written
    rounds
    destination
    keys
    packets
    coherence
    latencies
    bad
    faults
    logs
    traced
    kernel
    mapping
    ideal
    kernels
fi
conclude
