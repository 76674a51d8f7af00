#!/bin/bash
# All five mechanisms in machine undercroft: undercroft.sh CROFT WORKDIR. A program whose steps are each another mechanism's prints
# what it prints under qemu-riscv64, whatever is on, and repeats; where two mechanisms meet, the rules of emu/machine/README.md
# hold. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
examples=$(realpath "$here/../../examples")
work=$(fresh "$2")
cd "$work" || exit 1

evidence() {
    tail -n 5 messages output
}

# total NAME [FILE]: the sum of the statistics whose names match, of the whole run.
total() {
    jq --arg name "$1" '[.total | to_entries[] | select(.key | test($name)) | .value] | add // 0' "${2:-one.json}"
}

source=$examples/together/pipeline.c
"$croft" neural --topology 3-8-1 --epochs 100 -o tone.h "$source" train >messages 2>&1
"$croft" cc -O2 -g "$source" -lm -o plain 2>>messages
"$croft" cc -O2 -g --offload -include "$PWD/tone.h" -DCROFT_APPROX_BY=CROFT_BY_AXRAM "$source" -lm -o pipeline 2>>messages
qemu-riscv64 plain 64 2>>messages | head -n 1 >expected
check "the program is right under qemu-riscv64" grep -q "4096 pixels, 0 wrong" expected

# same NAME PROGRAM OPTIONS...: the first line is qemu-riscv64's, and no check finds anything.
same() {
    local name=$1 program=$2
    shift 2
    "$croft" run -m undercroft --check coherence --check nucd --check dram --stats one.json "$@" "$program" 64 >output 2>messages
    check "$name: status" test $? = 0
    check "$name: output" cmp expected <(head -n 1 output)
}

same "all" pipeline
# shellcheck disable=SC2016 # awk's fields
check "the quality is stated" awk '/^quality lost/ { exit !($3 > 0 && $3 < 5) }' output
check "words that maps fetch" test "$(total '^stash.[0-9]+.map.0.fetched$')" = 4096
check "words that maps register" test "$(total '^stash.[0-9]+.map.1.registered$')" = 4096
check "blocks go to the stacks" test "$(total '^offload.offloaded$')" -gt 50
check "tasks go to accelerators" test "$(total '^nucd.offloads$')" = 8
check "and execute there" test "$(total '^accel.[0-9]+.tasks$')" = 8
check "warps invoke networks" test "$(total '^axram.invocations$')" = $((4096 / 32))
check "packets go first" test "$(total '^net.critical_packets$')" -gt 0
cp one.json first.json
same "again" pipeline
check "it repeats" cmp <(sed '/^  "host"/,$d' first.json) <(sed '/^  "host"/,$d' one.json)
"$croft" report one.json -o page.html >output 2>messages
for name in axram.invocations nucd.offloads offload.offloaded net.critical_packets fetched; do
    check "one page shows $name" grep -q "$name" page.html
done

same "no offloading" pipeline --set offload.policy=none
check "no block goes" test "$(total '^offload.offloaded$')" = 0
same "no stash" pipeline --set stash=none
same "no engine" pipeline --set nucd.mode=none
same "no units" plain --set axram=none
same "no congestion management" pipeline --set net.priority_buffer=0
same "nothing" plain --set offload.policy=none --set stash=none --set nucd.mode=none --set axram=none --set net.priority_buffer=0

# TOM's maps leave accelerator memory where its chips look for it.
same "a fixed map" pipeline --set offload.map=fixed --set offload.map_bit=12
check "a fixed map: networks" test "$(total '^axram.invocations$')" = $((4096 / 32))
same "a learned map" pipeline --set offload.map=tmap
check "a learned map: learned" test "$(total '^offload.map.bit$')" -gt 0
check "a learned map: networks" test "$(total '^axram.invocations$')" = $((4096 / 32))

# An invalidation while a map is copied. Each warp with the network stands still in one of its invocations until the copy has ended;
# the units do not, so that invocation's results, and the messages that drop old copies of them, come during the copy.
source=$here/meet.c
"$croft" cc -O2 -g "$source" -lm -o meet_plain 2>messages
"$croft" cc -O2 -g --offload -include "$PWD/tone.h" -DCROFT_APPROX_BY=CROFT_BY_AXRAM "$source" -lm -o meet 2>>messages
qemu-riscv64 meet_plain 2>>messages | head -n 1 >expected_meet
check "a copy: the program is right under qemu-riscv64" grep -q "256 sums, 0 wrong" expected_meet
copy=(-m undercroft --check coherence --check dram --set offload.map=tmap --set offload.learn_instances=6 --set offload.copy=true)
"$croft" run "${copy[@]}" --stats one.json meet >output 2>messages
check "a copy: status" test $? = 0
check "a copy: output" cmp expected_meet <(head -n 1 output)
stop=$(total '^offload.map.stop_time$') # fs; a multiprocessor's clock is shorter than 1 ns, one of the memory takes 800 ps
check "a copy: takes time" test "$stop" -gt 20000000000
check "a copy: warps wait for its end" test "$(sed -n 's/^longest.*: //p' output)" -ge $((stop / 1000000))
check "a copy: invocations do not" test "$(jq '[.total | to_entries[] | select((.key | startswith("axram.invocation_clocks.")) and
    (.key | test("mean|more") | not) and .value > 0) | .key | split(".")[2] | tonumber] | max' one.json)" -lt $((stop / 800000))
check "a copy: nor longer ones" test "$(total '^axram.invocation_clocks.more$')" = 0
check "a copy: all invoke" test "$(total '^axram.invocations$')" = $((8 * 60))
"$croft" run "${copy[@]}" --set axram.invalidate=false meet >output 2>messages
check "a copy, not invalidated: found" test $? = 3
# Launches after the choice leave the words that threads have on their stacks where they are.
"$croft" cc -O2 -g --offload "$here/stacks_stay.c" -o stacks_stay 2>messages
"$croft" run -m undercroft --set stack_hash=true --set offload.map=tmap --set offload.learn_instances=1 --check coherence \
    --stats one.json stacks_stay >output 2>messages
check "a map learned during launches: status" test $? = 0
check "a map learned during launches: output" grep -q "^20 launches, 0 wrong" output
check "a map learned during launches: learned" test "$(total '^offload.map.bit$')" -gt 0

# refused NAME MESSAGE OPTIONS...
refused() {
    local name=$1 message=$2
    shift 2
    "$croft" run -m undercroft "$@" pipeline 16 >output 2>messages
    check "$name: status" test $? = 1
    check "$name: message" grep -q -- "$message" messages
}

# What TOM's packets need of a network; without these rules, the program does not end.
refused "a network of whole packets" "packets of blocks carry the registers of a warp" --set net.flow=cut_through \
    --set net.buffer=16 --set net.priority_buffer=0
refused "packets that stay in the network" "would keep back other stacks' requests" --set stack.unit.queue=1 \
    --set offload.policy=no_ctrl
same "a short queue" pipeline --set stack.unit.queue=1

# Tasks that share a line of 128 bytes are in order.
"$croft" cc -O2 -g "$examples/nucd/meabo2.c" -lm -o meabo2 2>messages
"$croft" run -m undercroft --check coherence meabo2 >output 2>messages
check "tasks that share long lines" test $? = 0

# Accelerators read from memory which pages the kernel has made present for threads.
"$croft" cc -O2 -g "$here/shown.c" -o shown 2>messages
"$croft" run -m undercroft --env kernel --check coherence --stats one.json shown >output 2>messages
check "pages that threads bring: status" test $? = 0
check "pages that threads bring: output" grep -q "^16 tasks, 0 wrong" output
check "pages that threads bring: tasks" test "$(total '^nucd.offloads$')" = 16

# A second level at a memory has no place for caches of NUCD's accelerators, which share their stack's crossbar.
cat >level.yaml <<'END'
extends: undercroft
stack:
  unit: {memory: l2}
  l2: {memory: crossbar, size: 64 KiB, line: 128 B, write_policy: write_through, write_allocate: false}
END
"$croft" run -m level.yaml plain >output 2>messages
check "a second level at stacks: status" test $? = 2
check "a second level at stacks: message" grep -q "reaches stack.0.l2 through other parts" messages
conclude
