#!/bin/bash
# Tests croft candidates --for stash: candidates_stash.sh CROFT. What it finds in stash_copies.c is compared with maps written by hand,
# and how many copies it finds in the workloads of examples/stash with how often their source opens, changes and closes views of
# configurations that copy. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
examples=$here/../../examples/stash
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages output
}

# lists PROGRAM [OPTIONS...]: the command succeeds without output on standard error.
lists() {
    local program=$1
    shift
    "$croft" candidates --for stash "$@" "$program" >output 2>messages
    judge $? "$program $*"
    check "$program $*: no message" test ! -s messages
}

# has NAME LINE...: the lines behind those of the output that begin with `NAME: ` are these, without blanks before them, and places in the
# source.
has() {
    local name=$1
    shift
    awk -v name="$name: " 'index($0, name) == 1 { on = 1; next } !/^    / { on = 0 } on { print }' output |
        sed -E 's/^ +//; /^no: /s/ \([^ ]*\)$//; s/[^ (]*stash_copies.c:/line /g' >found
    printf '%s' "${@/%/$'\n'}" >expected
    check "$name" cmp -s found expected
}

# holds NAME OPTION... FILTER: the filter of jq is true for the output.
holds() {
    local name=$1
    shift
    jq -e "$@" output >judged
    judge $? "$name"
}

"$croft" cc -std=c17 -Wall -Wextra -O2 -g "$here/stash_copies.c" -o copies
lists copies
has field 'croft_stash_map((char *)simt_shared(), (float *)([a0] + 12000 * block_x() + 16), .objects = 500, .object_size = 24)'
check "field: both copies" grep -qE '^field: in .*stash_copies.c:28, out .*stash_copies.c:33$' output
has divided 'croft_stash_map((char *)simt_shared() + 64, (float *)([a0 + 8] + 48 * block_y() * [a0 + 16] + 80 * block_x()), .objects = 20, .rows = 12, .stride_size = 4 * [a0 + 16], .noncoherent = 1)' \
    'the kernel stores to the tile and does not copy it back'
has plane 'croft_stash_map((char *)simt_shared() + 1024, (float *)([a0 + 8] + 64 * block_y() * [a0 + 16] + 64 * block_x()), .objects = 16, .rows = block_dim_y(), .stride_size = 4 * [a0 + 16])' \
    'rows: one for each thread of the block'
has rows 'croft_stash_map((char *)simt_shared(), (float *)([a0] + 4), .objects = 32, .object_size = 24, .rows = 40, .stride_size = 2400)'
has doubles 'croft_stash_map((char *)simt_shared(), (double *)([a0 + 24]), .objects = 96, .object_size = 40)'
has three 'croft_stash_map((char *)simt_shared(), (struct { float word[3]; } *)([a0]), .objects = 64, .object_size = 24)'
has guarded 'croft_stash_map((char *)simt_shared(), (uint32_t *)([a0 + 32] + 400 * round(line 93)), .objects = 100)' \
    'the tile changes with each round of the loop at line 93: croft_stash_change() there'
has named 'croft_stash_map((char *)simt_shared(), (uint32_t *)((char *)&table + 256), .objects = 32)'
has unknown 'croft_stash_map((char *)simt_shared(), (float *)([a0 + 8]), .objects = [a0 + 48], .rows = ((8 * [a0 + 48]) / ([a0 + 48])), .stride_size = 4 * [a0 + 16])'
check "what has no map is counted" grep -qE '^9 maps replace 11 copies; [0-9]+ other copies have none \(--why says why\)$' output
for name in changed gathered scattered bytes shifted sparse reversed spread squared doubling called global local; do
    has "$name"
done

lists copies --why
has changed 'no: what it stores is not what it loads: fadd.s changes it'
has gathered 'no: the address in global memory depends on data that each thread loads'
has scattered 'no: the address in the scratchpad depends on data that each thread loads'
has bytes 'no: it copies 1 bytes at a time; words of a map have 4'
has sparse "no: it copies 4 of each 8 bytes of the scratchpad; a map's tile has no gaps"
has reversed 'no: its objects are -4 bytes apart; a map has fields of 4 bytes in objects of a multiple of 4'
has spread 'no: several words of the scratchpad belong to one of global memory'
has squared 'no: an address has a product of coordinates or rounds'
has doubling 'no: the address in the scratchpad changes from round to round by no fixed step'
has called 'no: the address in global memory depends on the result of a call'
check "shifted" grep -qF 'it begins at byte 12 of the scratchpad; a map begins at a multiple of 64' output
for name in global local; do
    check "$name: nothing" test "$(grep -c "^$name:" output)" -eq 0
done

# One kernel, and JSON.
lists copies --symbol field --json
holds "JSON" '.copies == 2 and .others == 0 and (.maps | length) == 1 and (.maps[0] |
    .field_size == 4 and .object_size == "24" and .objects == "500" and .coherent and .stash_base == "0" and (.rows == null))'
lists copies --symbol divided --json --why
holds "JSON: rows" '.maps[0] | .rows == "12" and .stride_size == "4 * [a0 + 16]" and .coherent == false'
lists copies --symbol gathered --json --why
holds "JSON: reasons" '.maps == [] and (.refused[0].reason | contains("data that each thread loads"))'

# Copies of a field of each workload: of its views, by hand, that it finds, and others, where a loop ends differently in its rounds. NW copies tiles with a border itself, in four more loops that begin within a
# chunk or have gaps.
while read -r name wanted others; do
    "$croft" cc -O2 -g "$examples/$name.c" -lm -o workload
    lists workload --json --why
    # shellcheck disable=SC2016 # names of jq
    holds "$name: $wanted copies" --argjson wanted "$wanted" \
        '([.maps[] | .in, .out | select(. and contains("config.h"))] | length) == $wanted'
    # shellcheck disable=SC2016 # names of jq
    holds "$name: $others others" --argjson others "$others" '[.refused[] | select(.source | contains("config.h"))] | length == $others'
done <<'END'
micro/implicit 2 0
micro/on_demand 2 0
micro/pollution 6 0
micro/reuse 2 0
backprop 11 0
lud 13 0
needleman_wunsch 1 0
pathfinder 5 0
sgemm 10 0
stencil 5 0
surf 8 1
END

# Without debug information there are addresses; code that was not optimised has none that are found, and nothing breaks.
"$croft" cc -O2 "$here/stash_copies.c" -o plain
lists plain
check "without lines" grep -qE '^field: in 0x[0-9a-f]+, out 0x[0-9a-f]+$' output
for flag in -O0 -O1 -O3 -Os; do
    "$croft" cc "$flag" -g "$here/stash_copies.c" -o other
    lists other --why
done
"$croft" candidates --for stash --line 64 copies >output 2>messages
check "an option of TOM" grep -qF -- '--for stash takes no --line' messages
for length in 64 5000 40000; do
    head -c "$length" copies >part
    status=0
    "$croft" candidates --for stash --why part >output 2>messages || status=$?
    check "cut to $length: status $status" test "$status" -le 1
done
for seed in $(seq 12); do
    RANDOM=$seed
    cp copies broken
    for end in 64 400 4096 4096 8192 8192 8192 8192; do
        printf '%b' "\\x$(printf '%x' $((RANDOM % 256)))" |
            dd of=broken bs=1 seek=$(((RANDOM * 32768 + RANDOM) % end)) conv=notrunc status=none
    done
    status=0
    timeout 20 "$croft" candidates --for stash --why broken >output 2>messages || status=$?
    check "broken $seed: status $status" test "$status" -le 1
done
conclude
