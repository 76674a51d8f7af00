#!/bin/bash
# Compares decoder and disassembler with GNU objdump and GNU as: tests/isa/objdump.sh PROGRAM FOLDER PROGRAM
# is built from tests/isa/objdump.c; FOLDER receives intermediate files. RANDOM_WORDS sets the number of
# random encodings, SEED their selection.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

program=$1
folder=$2
random_words=${RANDOM_WORDS:-3000000}
seed=${SEED:-1}
cross=riscv64-unknown-elf-
march=rv64gc_zba_zbb_zbc_zbs_zfh_zawrs_zicbom_zicbop_zicboz_zihintpause
mkdir -p "$folder"

# result NAME STATUS FILE: counts a test; if it failed, prints its part of FILE.
result() {
    if [ "$2" -eq 0 ]; then
        pass
        printf 'ok: %s: %s\n' "$1" "$(tail -n 1 "$3")"
    else
        fail "$1" "$(cat "$3")"
    fi
}

# compare NAME BYTES COMMAND...: disassembles the output of `PROGRAM COMMAND` as instructions of BYTES bytes.
# Without symbols, objdump treats all bytes as code.
compare() {
    local name=$1 bytes=$2 base=$folder/$1 status=0
    shift 2
    "$program" "$@" >"$base.bin"
    printf '\t.text\n\t.incbin "%s"\n' "$base.bin" >"$base.s"
    "${cross}as" "-march=$march" "$base.s" -o "$base.o"
    "${cross}strip" -s "$base.o"
    "${cross}objdump" -d -z -M no-aliases "$base.o" |
        "$program" check $(($(stat -c %s "$base.bin") / bytes)) >"$base.log" || status=$?
    result "objdump, $name" "$status" "$base.log"
    rm -f "$base.bin" "$base.o"
}

# Assembles the disassembler's text and expects the original encodings.
round_trip() {
    local base=$folder/round_trip status=0
    "$program" text >"$base.s"
    "$program" bits >"$base.expected"
    {
        "${cross}as" "-march=$march" "$base.s" -o "$base.o" &&
            "${cross}ld" --no-relax -e 0 -Ttext=0x80000000 "$base.o" -o "$base.elf" &&
            "${cross}objcopy" -O binary -j .text "$base.elf" "$base.bin" &&
            cmp "$base.expected" "$base.bin" &&
            printf '%d instructions come back from the assembler\n' $(($(stat -c %s "$base.bin") / 4))
    } >"$base.log" 2>&1 || status=$?
    result "GNU as, round trip of every row" "$status" "$base.log"
    rm -f "$base.s" "$base.o" "$base.elf"
}

compare "all 16-bit encodings" 2 narrow
compare "every row, extreme operands" 4 rows
compare "random 32-bit encodings" 4 random "$seed" "$random_words"
round_trip
conclude
