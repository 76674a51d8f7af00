#!/bin/bash
# Machines described as trees of parts in YAML: trees.sh CROFT WORKDIR FOLDER (of the compiled examples/simt).
# On stacks.yaml (four stacks and 64 multiprocessors) and tree.yaml (nine modules with 16 stacks), kernels
# must behave as on qemu-riscv64, obey the DRAM rules, and send requests to all stacks. A kernel with more
# blocks than multiprocessors must use every multiprocessor and link; with the description's parts and keys in
# another order, its statistics must be equal to the byte. Prints "N passed, N failed"; the status is 1 if any failed.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR FOLDER" $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
work=$(fresh "$2")
folder=$(realpath "$3")

# shuffled FILE SEED: prints a description with its parts, and the keys of each part, in another order. Drops comments.
shuffled() {
    awk -v seed="$2" '
        function shuffle(list, count,   i, j, other) {
            for (i = count; i > 1; i--) { j = 1 + int(rand() * i); other = list[i]; list[i] = list[j]; list[j] = other }
        }
        function end(   i) {
            shuffle(key, keys)
            for (i = 1; i <= keys; i++) part[parts] = part[parts] key[i]
            keys = 0
        }
        BEGIN { srand(seed) }
        /^ *(#|$)/ { next }
        /^[^ ]/ { end(); part[++parts] = $0 "\n"; next }
        /^  [^ ]/ { key[++keys] = $0 "\n"; next }
        { key[keys] = key[keys] $0 "\n" }
        END { end(); shuffle(part, parts); for (i = 1; i <= parts; i++) printf "%s", part[i] }' "$1"
}

# run MACHINE-FILE STATISTICS PROGRAM [ARGUMENT]
run() {
    local file=$1 statistics=$2
    shift 2
    timeout 600 "$croft" run -m "$file" --check dram --stats "$statistics" "$@" >"$work/output" 2>"$work/errors"
}

evidence() {
    diff "$work/oracle" "$work/output" || true
    tail -n 3 "$work/errors"
}

# values PATTERN: prints the run's values whose names match, one per line.
values() {
    sed -n '/^  "total"/,/^  "regions"/p' "$work/one.json" | grep -E "^ *\"($1)\": [0-9]+,?\$" | sed 's/.*: //; s/,$//'
}

# all NUMBER PATTERN: NUMBER names match, and no value is 0.
all() {
    local number zeros
    number=$(values "$2" | wc -l)
    zeros=$(values "$2" | grep -cx 0 || true)
    echo "$number values, $zeros of them 0" >>"$work/errors"
    [ "$number" -eq "$1" ] && [ "$zeros" -eq 0 ]
}

# meaning NAME TEXT: the statistic's meaning is the text.
meaning() {
    grep -F -A 3 "\"$1\": {" "$work/one.json" >>"$work/errors"
    grep -F -A 3 "\"$1\": {" "$work/one.json" | grep -qF "\"meaning\": \"$2\""
}

# kernel MACHINE STACKS PROGRAM [ARGUMENT]
kernel() {
    local machine=$1 stacks=$2 name="$1, $3"
    shift 2
    oracle "$work/oracle" "$folder/$1" "${@:2}"
    check "$name: runs" run "$here/$machine.yaml" "$work/one.json" "$folder/$1" "${@:2}"
    check "$name: qemu's output" cmp -s "$work/oracle" "$work/output"
    check "$name: all stacks" all "$stacks" '[a-z]+\.[0-9]+\.dram\.read_requests'
}

# whole MACHINE STACKS MULTIPROCESSORS LINKS NAMES: NAMES are those of the links.
whole() {
    local machine=$1 other=$work/other/$1.yaml seed
    kernel "$machine" "$2" scalar_product 160
    check "$machine: all multiprocessors" all "$3" '.*simt\.[0-9]+\.blocks'
    check "$machine: requests on all links" all "$4" "($5)\.[0-9]+\.request\.messages"
    check "$machine: responses on all links" all "$4" "($5)\.[0-9]+\.response\.messages"
    mkdir -p "$work/other"
    for seed in 1 2; do
        shuffled "$here/$machine.yaml" $seed >"$other"
        check "$machine: order $seed has the same lines" diff <(grep -vE '^ *(#|$)' "$here/$machine.yaml" | sort) <(sort "$other")
        check "$machine: runs in order $seed" run "$other" "$work/two.json" "$folder/scalar_product" 160
        check "$machine: the same statistics" diff <(without_host "$work/one.json") <(without_host "$work/two.json")
    done
}

# The stacks' multiprocessors have twice as many warps and threads as the others.
wider() {
    local name="stacks, wider"
    oracle "$work/oracle" "$folder/scalar_product" 160
    check "$name: runs" run "$here/stacks.yaml" "$work/one.json" --set 'stack.*.simt.warps=96' \
        --set 'stack.*.simt.threads=3072' --set link.energy_bit=7pJ "$folder/scalar_product" 160
    check "$name: qemu's output" cmp -s "$work/oracle" "$work/output"
    check "$name: set" grep -q 'warps: 96' "$work/one.json.machine.yaml"
    check "$name: energy that is set" meaning link.3.response.transfer.energy 'energy_bit 7 pJ (--set)'
    check "$name: energy that is not set" meaning peer.0.request.idle.energy 'energy_idle 1.5 pJ (package: TOM)'
}

# Slices of a second level that are tied to memory channels, by a description and by --set.
partitions() {
    local name="axram, vector_add"
    oracle "$work/oracle" "$folder/vector_add"
    check "$name: runs" run "$here/axram.yaml" "$work/one.json" "$folder/vector_add"
    check "$name: qemu's output" cmp -s "$work/oracle" "$work/output"
    check "$name: all slices read memory" all 6 'simt\.l2\.[0-9]+\.fills'
    check "$name: all slices write stores" all 6 'simt\.l2\.[0-9]+\.written_through'
    check "$name: no dirty lines" test "$(values 'simt\.l2\.[0-9]+\.write_backs' | sort -u)" = 0
    name="stacks, 32 slices"
    check "$name: runs" run "$here/stacks.yaml" "$work/one.json" --set simt.l2.slices=32 \
        --set simt.l2.interleave=partition "$folder/vector_add"
    check "$name: qemu's output" cmp -s "$work/oracle" "$work/output"
    check "$name: all slices read memory" all 32 'simt\.l2\.[0-9]+\.fills'
}

# Each part that does something in time is a group of the timeline, by its name.
traced() {
    local name
    timeout 600 "$croft" run -m "$here/stacks.yaml" --trace "perfetto:$work/trace.json" --max-time 1us \
        "$folder/vector_add" >"$work/output" 2>"$work/errors" || true
    for name in host.0 host.0.l1d l2 crossbar link.3 peer.11 simt.63 simt.63.l1 stack.3.crossbar stack.3.simt.0 \
        'stack.3.dram channel 15'; do
        check "timeline: $name" grep -q "\"process_name\".*\"name\":\"$name\"" "$work/trace.json"
    done
}

# A memory without a path from any requester is refused by name, by every command.
refused() {
    local status=0 shown=0
    printf 'extends: ddr3\nisland: {kind: group, count: 1, dram: {standard: ddr3_1600k}}\n' >"$work/island.yaml"
    timeout 600 "$croft" run -m "$work/island.yaml" "$folder/lud" >"$work/output" 2>"$work/errors" || status=$?
    check "island: refused" test "$status" -eq 2
    check "island: message" grep -q '^croft run: .*island.yaml:2: host.0 has no way to island.0.dram; it must reach all memories, through crossbars and links$' "$work/errors"
    "$croft" show "$work/island.yaml" >"$work/output" 2>"$work/errors" || shown=$?
    check "island: not shown" test "$shown" -eq 2
    check "island: show's message" grep -q '^croft show: .*island.yaml:2: host.0 has no way to island.0.dram; it must ' "$work/errors"
}

# What show prints is the machine again, and nothing in it is idle that was not set.
shown() {
    local name
    for name in "$@"; do
        "$croft" show "$name" >"$work/shown.yaml"
        timeout 600 "$croft" run -m "$work/shown.yaml" --max-insns 1000 "$folder/lud" >"$work/output" 2>"$work/errors" || true
        check "$name: shown and run" test "$(grep -c warning "$work/errors")" -eq 0
    done
}

refused
traced
shown ddr3 hmc nucd
kernel stacks 4 vector_add
kernel stacks 4 lud
whole stacks 4 68 16 'link|peer'
wider
partitions
kernel tree 16 vector_add
kernel tree 16 lud
whole tree 16 64 24 'inner|down|up|leaf_down|leaf_up'
conclude
