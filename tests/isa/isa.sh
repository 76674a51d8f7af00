#!/bin/bash
# Checks `croft run --isa`: instructions and CSRs outside of the chosen extensions trap, misa has the chosen letters, and
# bad strings get messages. isa.sh CROFT
set -euo pipefail
croft=$1
# shellcheck source=tests/lib.sh
. tests/lib.sh
scratch
cross=riscv64-unknown-elf-

# program NAME TEXT: assembles a program that executes TEXT and ends with status 0; newer instructions come as .insn.
program() {
    printf '\t.globl _start\n\t.option norelax\n\t.option norvc\n_start:\n\t%s\n\tli a0, 0\n\tli a7, 93\n\tecall\n' "$2" >"$work/$1.s"
    "${cross}gcc" -march=rv64gc_zba_zbb_zbc_zbs_zfh_zicbom_zicbop_zicboz_zawrs_zihintpause -mabi=lp64d -nostdlib -static \
        -Wl,--no-relax,-n,-Ttext=0x80000000 "$work/$1.s" -o "$work/$1" 2>"$work/log" || cat "$work/log"
}

# status STATUS ISA NAME: the program's exit status; 132 is that of SIGILL.
status() {
    local got=0
    "$croft" run --isa "$2" "$work/$3" >"$work/out" 2>"$work/err" || got=$?
    evidence() { echo "status $got"; cat "$work/err"; }
    check "$3 under $2: status $1" test "$got" -eq "$1"
}

# needs NAME WITHOUT WITH TEXT...: the program traps under the ISA string WITHOUT, and runs under WITH and by default.
needs() {
    local name=$1 without=$2 with=$3
    program "$name" "$4"
    status 132 "$without" "$name"
    status 0 "$with" "$name"
    status 0 all "$name"
}

needs m rv64iac rv64im 'mul a0, a1, a2'
needs a rv64im rv64ia 'la a1, _start; lr.w a0, (a1)'
needs f rv64imac rv64if 'fadd.s fa0, fa1, fa2'
needs fcsr rv64imac_zicsr rv64if 'csrr a0, fcsr'
needs d rv64imafc rv64id 'fadd.d fa0, fa1, fa2'
needs c rv64imafd rv64ic '.option rvc; c.add a1, a2; .option norvc'
needs c_fld rv64imafc rv64imafdc 'la s0, _start; .option rvc; c.fld fa0, 0(s0); .option norvc'
needs zicsr rv64imac rv64i_zicntr 'csrr a0, time'
needs zicntr rv64gc rv64i_zicntr 'csrr a0, instret'
needs zihpm rv64gc_zicntr rv64i_zihpm 'csrr a0, hpmcounter3'
needs zifencei rv64imafdc_zicsr rv64i_zifencei 'fence.i'
needs zba rv64gc_zbb_zbc_zbs rv64i_zba 'sh1add a0, a1, a2'
needs zbb rv64gc_zba_zbc_zbs rv64ib 'andn a0, a1, a2'
needs zbc rv64gcb rv64i_zbc1p0 'clmul a0, a1, a2'
needs zbs rv64gc_zba_zbb_zbc RV64I_ZBS 'bset a0, a1, a2'
needs zicond rva22u64 rv64i_zicond '.insn r 0x33, 5, 7, a0, a1, a2'
needs zcb rva22u64 rv64i_zcb 'li a0, 5; .2byte 0x9d75'
needs zcb_mul rv64iac_zcb rv64im_zcb '.2byte 0x9d4d'
needs zfhmin rva20u64 rva22u64 'fcvt.s.h fa0, fa1'
needs zfhmin_d rv64if_zfh rv64gc_zfhmin 'fcvt.d.h fa0, fa1'
needs zfh rva22u64 rva22u64_zfh 'fadd.h fa0, fa1, fa2'
needs zicbom rva20u64 rva22u64 'la a1, _start; cbo.clean (a1)'
needs zicboz rv64gc_zicbom rv64i_zicboz 'addi a1, sp, -512; cbo.zero (a1)'
needs zawrs rva22u64 rv64i_zawrs 'wrs.nto'

# Parts of extensions beside the whole ones.
status 0 rv64gc_zca_zcd_zmmul_zaamo1p0_zalrsc_zcb m

# Hints are what their base says where they are not known.
program hints 'prefetch.r 0(a0); pause; .insn r 0x33, 0, 0, x0, x0, x2'
status 0 rv64i hints

# shellcheck disable=SC2317 # check calls it
evidence() { cat "$work/err"; }

# In the timed machines harts have the same extensions.
"$croft" run -m ddr3 --set isa=rv64gc "$work/zicond" >/dev/null 2>"$work/err" && trapped=0 || trapped=$?
check "zicond on a timed core: traps" test "$trapped" -eq 132
check "the message names the instruction and the harts" grep -q \
    'illegal instruction 0x0ec5d533, which is czero.eqz: the harts are rv64imafdc_zicsr_zifencei$' "$work/err"

# misa and the CSR fields that extensions own, in machine mode: the program stores the value of a0 to tohost, shifted by 1, plus 1.
cat >"$work/misa.s" <<'X'
        .option norvc
        .globl _start, tohost
_start: csrr a1, misa
        slli a0, a1, 32
        srli a0, a0, 32
        li a2, 0x3ffffff
        and a0, a0, a2
        la a2, wanted
        ld a2, 0(a2)
        xor a0, a0, a2
        snez a0, a0
        slli a0, a0, 1
        ori a0, a0, 1
        la a1, tohost
        sd a0, 0(a1)
1:      j 1b
        .data
        .balign 8
wanted: .dword WANTED
        .section .tohost, "aw"
        .balign 64
tohost: .dword 0
X
# letters ISA LETTERS: misa has exactly these letters.
letters() {
    local wanted=0 i
    for ((i = 0; i < ${#2}; i++)); do
        wanted=$((wanted | 1 << ($(printf '%d' "'${2:i:1}") - 97)))
    done
    sed "s/WANTED/$wanted/" "$work/misa.s" >"$work/misa_wanted.s"
    "${cross}gcc" -march=rv64i_zicsr -mabi=lp64 -nostdlib -static -Wl,--no-relax,-n,-Ttext=0x80000000 "$work/misa_wanted.s" \
        -o "$work/misa" 2>/dev/null
    check "misa of $1 is $2" "$croft" run --env bare --isa "$1" "$work/misa"
}
letters all acdfimsu
letters rv64i_zicsr isu
letters rv64imafc acfimsu

# refused ISA PATTERN: exit status 2 and a message.
refused() {
    local got=0
    "$croft" run --isa "$1" "$work/m" >/dev/null 2>"$work/err" || got=$?
    evidence() { cat "$work/err"; }
    check "$1: status 2" test "$got" -eq 2
    check "$1: message" grep -q -- "$2" "$work/err"
}
refused rv32imac "isa: 'rv32imac': harts are RV64 only; write rv64imac$"
refused rv64gcv "v: vectors are not modelled; known: rv64imafdc_zicbom_"
refused rv64gc_zve64x "zve64x: vectors are not modelled"
refused rv64em "e: the base with 16 registers is not modelled; write rv64im$"
refused rv64gc_zfinx "zfinx: it contradicts f"
refused rv64gc_zbz1p0 "unknown extension 'zbz'; known: .*, and the profiles rva20u64, rva22u64$"
refused rva23u64 "an ISA string begins with rv64i, rv64g or a profile's name; known: "
refused rv64imafd_zca "zca: this part of c is not modelled alone; write c$"
refused "" "an ISA string begins with"
got=0
"$croft" run --env kernel --isa rv64imac "$work/m" >/dev/null 2>"$work/err" || got=$?
check "the kernel needs more: status 2" test "$got" -eq 2
check "the kernel needs more: message" grep -q "the kernel of --env kernel uses extensions that the harts lack: fd_zicbom_" "$work/err"

# Newer instructions on every kind of core, against QEMU.
"$croft" cc -O2 -march=rv64gc_zfh_zbc_zicbop -mabi=lp64d tests/isa/newer.c -o "$work/newer"
QEMU_CPU=rv64,Zfh=true oracle "$work/wanted" "$work/newer"
for machine in functional ddr3 "nucd --set host.core=inorder" "nucd --set host.core=inorder --set host.width=8"; do
    # shellcheck disable=SC2086 # a machine with its settings
    "$croft" run -m $machine "$work/newer" >"$work/out" 2>"$work/err" || true
    evidence() { diff "$work/wanted" "$work/out"; cat "$work/err"; }
    check "newer instructions on $machine" cmp -s "$work/wanted" "$work/out"
done
conclude
