#!/bin/bash
# Maps of local memory: run.sh CROFT PROGRAMS. The programs of tests/stash/programs, in folder PROGRAMS, must behave as on
# qemu-riscv64 on machines without a stash (functional and timed, with warps of several widths) and with one; each wrong map must
# end the program with its message; and what the compiler can see must not compile. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
programs=$2
scratch

evidence() {
    tail -n 3 "$work/errors" "$work/output"
}

# Machines, each with its options; some have a stash, the last ones DMA engines.
machines=("functional" "functional --set simt.count=2" "functional --set simt.count=2 --set simt.width=4" "gpu --set simt.count=2"
    "gpu --set simt.count=2 --env kernel")
printf 'extends: gpu\nsimt: {count: 2, scratchpad: 16KiB}\nstash: {kind: stash}\n' >"$work/stash.yaml"
printf 'extends: gpu\nsimt: {count: 2}\ndma: {kind: dma}\n' >"$work/dma.yaml"
machines+=("$work/stash.yaml" stash_micro "$work/dma.yaml" "$work/dma.yaml --env kernel --set dma.requests=1")

# on STATUS MACHINE ARGUMENT...: runs the subject on a machine with its options.
on() {
    local status=$1 machine
    read -ra machine <<<"$2"
    shift 2
    run_on "${machine[0]}" "$status" "${machine[@]:1}" -- "$@"
}

same() {
    on 0 "$1" && cmp -s "$work/output" "$work/oracle"
}

for program in "$programs"/*-O[02]; do
    name=${program##*/}
    [[ $name != errors-* ]] || continue
    oracle "$work/oracle" "$program"
    check "$name under qemu-riscv64" test "$wanted" -eq 0
    subject=("$program")
    for machine in "${machines[@]}"; do
        check "$name on $machine" same "$machine"
    done
done

# wrong CASE MESSAGE: the program ends with the message and with status 139 (SIGSEGV), everywhere.
wrong() {
    local status machine
    for program in "$programs"/errors-O[02]; do
        status=0
        qemu-riscv64 "$program" "$1" >"$work/output" 2>"$work/errors" || status=$?
        check "$1 under qemu-riscv64" test "$status" -eq 139
        check "message of $1 under qemu-riscv64" grep -qF "$2" "$work/errors"
        [[ $program == *-O2 ]] || continue
        subject=("$program")
        for machine in "${machines[@]}"; do
            check "$1 on $machine" on 139 "$machine" "$1"
            check "message of $1 on $machine" grep -qF "$2" "$work/errors"
        done
    done
}

wrong alignment "the descriptor's address is 0x"
wrong stash_base "stash_base is 32: it must be a multiple of 64, the bytes of a chunk"
wrong global_base "global_base is 0x10002: it must be a multiple of 4"
wrong field_0 "field_size is 0: it must be a multiple of 4 and at least 4"
wrong field_6 "field_size is 6: it must be a multiple of 4 and at least 4"
wrong object_small "object_size is 0: it must be a multiple of 4 and at least field_size"
wrong object_7 "object_size is 7: it must be a multiple of 4 and at least field_size"
wrong row_0 "row_size is 0: it must be a multiple of object_size and at least object_size"
wrong row_part "row_size is 132: it must be a multiple of object_size and at least object_size"
wrong strides "strides is 0: it must be at least 1"
wrong stride "stride_size is 124: with several rows, it must be a multiple of 4 and at least row_size"
wrong stride_2 "stride_size is 258: with several rows, it must be a multiple of 4 and at least row_size"
wrong coherent "coherent is 2: it must be 0 or 1"
wrong range "the end of the tile in local memory is 1088: it must not exceed the block's local memory, option scratchpad of the launch"
wrong far "the end of the tile in local memory is 18446744073709551615: it must not exceed"
wrong many "the end of the tile in local memory is 18446744073709551615: it must not exceed"
wrong wrap "the end of the tile in global memory is "
wrong overlap "stash_base is 192: the tile's chunks must not belong to another map of the block"
wrong five "the number of the block's maps is 5: it must not exceed the entries of its map index table"
wrong differ "the parameter that differs, counted from 0, is 5, stride_size: all threads of a block must give equal descriptors"
wrong change_differ "the parameter that differs, counted from 0, is 5, stride_size: all threads of a block must give equal descriptors"
wrong change "the index of the map to change is 1: it must be the result of stash.addmap in the same block"
wrong change_none "the index of the map to change is 0: it must be the result of stash.addmap in the same block"
wrong change_overlap "stash_base is 256: the tile's chunks must not belong to another map of the block"
wrong dma "object_size is 8: it must be a multiple of 4 and at least field_size"

# Accesses that only a stash can refuse.
subject=("$programs/errors-O2")
for machine in "${machines[@]}"; do
    [[ $machine == *stash* ]] || continue
    check "access_outside on $machine" on 139 "$machine" access_outside
    check "its message" grep -qE "the address is 0x60010000[0-9a-f]+: it must be within the map that bits 39 to 32 name" "$work/errors"
    check "access_atomic on $machine" on 139 "$machine" access_atomic
    check "its message" grep -qE "the address is 0x60010000[0-9a-f]+: atomic instructions must not access mapped local memory" "$work/errors"
    check "access_selector on $machine" on 139 "$machine" access_selector
done

# Where a message comes from the runtime, it names instruction, kernel, line and thread.
for program in "$programs"/errors-O[02]; do
    qemu-riscv64 "$program" field_6 >"$work/output" 2>"$work/errors" || true
    check "the place of an error" grep -qE \
        '^croft: stash.addmap in kernel operate, [^ ]*errors\.c:[0-9]+, thread 0 of block 0: field_size' "$work/errors"
done

# refused MESSAGE STATEMENT: a kernel with the statement must not compile, with the message; "" means that it must, without
# warnings.
refused() {
    local status=0
    cat >"$work/f.c" <<END
#include <croft/dma.h>
#include <croft/stash.h>
struct object { int first, second; short third; };
struct packed { char c[6]; int i; } __attribute__((packed));
void kernel(struct object *p);
void kernel(struct object *p) { struct packed *q = (void *)p; float *f = (void *)p; (void)q; (void)f; $2; }
END
    "$croft" cc -std=c17 -O2 -Wall -Wextra -Werror -c "$work/f.c" -o "$work/f.o" 2>"$work/errors" || status=$?
    : >"$work/output"
    if [ -z "$1" ]; then
        check "$2 compiles" test "$status" -eq 0
    else
        check "$2 does not compile" grep -qF "$1" "$work/errors"
    fi
}

refused "" "int *s = croft_stash_map_of(simt_shared(), p, second, .objects = 8); *s = 1"
refused "" "int *s = croft_stash_map((int *)simt_shared(), &p[3].first, .objects = 8, .object_size = sizeof *p); *s = 1"
refused "" "float *s = croft_stash_map((char *)simt_shared() + 64, f, .objects = 8, .rows = 2, .stride_size = 32); *s = 1"
refused "" "const struct croft_stash_map m = croft_stash_tile(64, f, .objects = 8, .noncoherent = 1); croft_stash_add(&m)"
refused "a field is a multiple of 4 bytes" "croft_stash_map_of(simt_shared(), p, third, .objects = 8)"
refused "the array in local memory has the type of the field" "croft_stash_map_of((float *)simt_shared(), p, second, .objects = 8)"
refused "object_size is not a multiple of 4" "croft_stash_map_of(simt_shared(), q, i, .objects = 8)"
refused "object_size is not a multiple of 4, or smaller" "croft_stash_map(simt_shared(), p, .objects = 8, .object_size = 4)"
refused "a tile needs .objects" "croft_stash_map(simt_shared(), f, .rows = 8)"
refused "several rows need .stride_size" "croft_stash_map(simt_shared(), f, .objects = 8, .rows = 2)"
refused "several rows need .stride_size" "croft_stash_map(simt_shared(), f, .objects = 8, .rows = 2, .stride_size = 30)"
refused "stash_base is not a multiple of 64" "const struct croft_stash_map m = croft_stash_tile(60, f, .objects = 8); croft_stash_add(&m)"
refused "has no member named 'object'" "croft_stash_map(simt_shared(), f, .object = 8)"

conclude
