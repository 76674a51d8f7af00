#!/bin/bash
# Checks how the instruction table is built: changing a row's meaning recompiles few files, and a mechanism
# adds rows that no other file names. rows.sh BUILD MAKE. The emulator must be up to date, because the script
# counts what make would compile.
set -euo pipefail
build=$1 make=$2
# shellcheck source=tests/lib.sh
. tests/lib.sh

# Prints the files that make would compile; arguments may declare files as changed.
compiled() {
    "$make" --no-print-directory -n BUILD="$build" SETUP=no "$@" "$build/bin/croft" | grep -c -- ' -c ' || true
}

check "nothing is compiled when nothing has changed" test "$(compiled)" -eq 0
for rows in isa/rv64i.def isa/rv64d.def isa/zb.def; do
    count=$(compiled -W "$rows")
    check "a row of $rows compiles 2 to 20 files, not $count" test "$count" -ge 2 -a "$count" -le 20
done
"$make" --no-print-directory -s BUILD="$build" SETUP=no -W isa/rv64i.def "$build/gen/isa/insn_id.h"
check "identities that have not changed keep their header's date" test "$(compiled)" -eq 0
count=$(compiled -W isa/insn.h)
check "isa/insn.h compiles more than 20 files, not $count" test "$count" -gt 20

# With a mechanism's rows from another folder: they are in the table, and each file that expands meanings
# includes them.
toy() {
    "$make" --no-print-directory -s BUILD="$build/toy" SETUP=no OPTIMIZE=-O0 EXTRA_ROWS=tests/isa/toy_rows.def "$@" >&2
}
objects=()
for file in isa/decoder/insn emu/hart/exec/{base,base_tlb_traced} emu/hart/{step,defer} emu/simt/warp/{fp,rows_base} emu/jit/quick/{micro,native}; do
    objects+=("$build/toy/obj/$file.o")
done
table=$build/toy/manual.md
toy "$build/toy/tools/manual" && "$build/toy/tools/manual" isa/MANUAL.md >"$table"
check "a mechanism's rows are in the table" grep -q '^| .toy[.]mix. | rd, rs1, rs2 | CUSTOM | ' "$table"
check "so is its extension" grep -q '^### Xtoy: toy mechanism' "$table"
check "they do not come without being asked for" test "$(grep -c toy isa/MANUAL.md)" -eq 0
check "all files that expand rows take them" toy "${objects[@]}"
micros=$build/toy/gen/emu/jit/quick/micro.inc
[ ! -s "$micros" ] || check "so does the compiler" grep -q '^ROW(toy_mix, ' "$micros"

conclude
