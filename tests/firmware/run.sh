#!/usr/bin/env bash
# Machine-mode programs on croft and on qemu-system-riscv64. Variables: CROFT (the command), OUT (a folder for
# products), QEMU (default qemu-system-riscv64; must be installed). Arguments name the tests to run; default:
# all.
#
# The programs check themselves. Their output is then compared with QEMU's, except lines that begin with
# "spec:", where the specification leaves a choice or QEMU 7.2 deviates from it.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/firmware}
QEMU=${QEMU:-qemu-system-riscv64}
limit=600 # seconds for one run

mkdir -p "$OUT"
OUT=$(realpath "$OUT")

# build OUTPUT SOURCE... [OPTIONS]: builds a machine-mode program.
build() {
    local output=$1
    shift
    "$CROFT" cc --bare -std=gnu17 -O2 -g -Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla "$@" -lm -o "$OUT/$output"
}

# on_croft OUTPUT STATUS ARGUMENTS...: runs croft, whose status must be STATUS. Standard output goes to
# OUTPUT.croft.
on_croft() {
    local name=$1 wanted=$2 status=0
    shift 2
    timeout "$limit" "$CROFT" run -m virt --max-insns 2000000000 "$@" >"$OUT/$name.croft" 2>"$OUT/$name.err" ||
        status=$?
    if [ "$status" = "$wanted" ]; then
        pass
    else
        fail "$name: status $status on croft, not $wanted" \
            "$(cat "$OUT/$name.err"; grep FAILED "$OUT/$name.croft" || tail -n 3 "$OUT/$name.croft")"
    fi
}

# on_qemu NAME ARGUMENTS...: runs QEMU; its output goes to NAME.qemu, its status to $qemu_status.
on_qemu() {
    local name=$1
    shift
    qemu_status=0
    timeout "$limit" "$QEMU" -M virt -bios none -display none -serial stdio -monitor none "$@" -kernel "$OUT/$name" \
        >"$OUT/$name.qemu" 2>"$OUT/$name.qemu.err" || qemu_status=$?
}

comparable() {
    grep -vE '^spec:|^[0-9]+ passed, [0-9]+ failed$' "$1" || true
}

# same NAME: both outputs are equal except for "spec:" lines.
same() {
    local difference
    if difference=$(diff <(comparable "$OUT/$1.croft") <(comparable "$OUT/$1.qemu")); then
        pass
    else
        fail "$1: the output differs (<: croft, >: QEMU)" "$difference"
    fi
}

# bare NAME [SCRIPT]: builds a program without start-up code and libraries, with a given linker script or as
# one segment.
bare() {
    riscv64-unknown-elf-gcc -march=rv64gc -mabi=lp64d -mcmodel=medany -nostdlib -static -Wl,--no-relax,--build-id=none \
        -Wl,-n,--no-warn-rwx-segments "${2:--Ttext=0x80000000}" "$here/programs/$1.S" -o "$OUT/$1"
}

# refused NAME TEXT ARGUMENTS...: croft prints TEXT on one line and exits with status 1, or $STATUS.
refused() {
    local name=$1 text=$2
    shift 2
    on_croft "$name" "${STATUS:-1}" "$@" </dev/null
    check "$name: the message names '$text'" grep -qF -- "$text" "$OUT/$name.err"
    check "$name: one line" test "$(wc -l <"$OUT/$name.err")" = 1
}

# test_checks NAME HARTS [croft|single|counted]: a program that checks itself; with `croft`, it is not compared with QEMU; with
# `single`, QEMU executes the harts in turn; with `counted`, its time is counted in instructions, too, not the host's.
test_checks() {
    local name=$1 harts=$2 count
    build "$name" "$here/$name.c" "$here/support/support.c" "$here/support/attempt.S"
    on_croft "$name" 0 --set "harts=$harts" "$OUT/$name" </dev/null
    count=$(sed -nE 's/^([0-9]+) passed, [0-9]+ failed$/\1/p' "$OUT/$name.croft")
    add "${count:-0}" 0
    check "$name: has checks" test "${count:-0}" -gt 0
    # With two harts at a time, QEMU's atomics are real ones.
    local how=(-accel 'tcg,thread=multi')
    case ${3:-} in
    croft) return ;;
    single) how=(-accel 'tcg,thread=single') ;;
    counted) how=(-accel 'tcg,thread=single' -icount 'shift=3,sleep=off') ;;
    esac
    on_qemu "$name" -smp 2 "${how[@]}" </dev/null
    same "$name"
}

# test_program NAME HARTS SOURCE: a program with input from NAME.stdin and expected status in NAME.status, if
# these files exist.
test_program() {
    local name=$1 harts=$2 source=$3 input=/dev/null status=0
    [ ! -e "${source%.c}.stdin" ] || input=${source%.c}.stdin
    [ ! -e "${source%.c}.status" ] || status=$(cat "${source%.c}.status")
    build "$name" "$source"
    on_croft "$name" "$status" --set "harts=$harts" "$OUT/$name" <"$input"
    on_qemu "$name" -smp "$harts" <"$input"
    same "$name"
    check "$name: status $qemu_status on QEMU, not $status" test "$qemu_status" = "$status"
}

test_checks_all() {
    local name
    for name in traps illegal status delegation counters fields atomics paging pmp trigger edges; do
        test_checks "$name" 1
    done
    test_checks interrupts 1 counted # its timers are 2 ms ahead: a busy machine may be late
    test_checks harts 2
    test_checks patch 2 single # else QEMU 7.2 may never see code that another hart stores
    # Software sets A and D.
    on_croft paging_fault 0 --set mmu.ad=fault "$OUT/paging" </dev/null
    check "page faults for A and D" diff -q "$OUT/paging.croft" "$OUT/paging_fault.croft"
    test_checks cbo 1 croft
}

# A run with an instruction log gives the same result as one without.
test_log() {
    local name
    for name in interrupts delegation trigger edges harts patch; do
        "$CROFT" run -m virt --set harts=2 "$OUT/$name" >"$OUT/$name.plain" 2>/dev/null </dev/null || true
        "$CROFT" run -m virt --set harts=2 --log commit:/dev/null "$OUT/$name" >"$OUT/$name.logged" 2>/dev/null </dev/null || true
        check "$name: the log changes the run" cmp -s "$OUT/$name.plain" "$OUT/$name.logged"
    done
    # The log of traps has what the log of instructions says about traps, and changes nothing either.
    local machine harts
    for name in interrupts delegation traps paging edges; do
        for machine in virt ddr3 hbm1; do
            harts=host.count=2
            [ "$machine" != virt ] || harts=harts=2
            rm -f "$OUT/$name.traps"
            "$CROFT" run -m "$machine" --env bare --set $harts "$OUT/$name" >"$OUT/$name.plain" 2>/dev/null </dev/null || true
            "$CROFT" run -m "$machine" --env bare --set $harts --log "trap:$OUT/$name.traps" "$OUT/$name" \
                >"$OUT/$name.logged" 2>/dev/null </dev/null || true
            "$CROFT" run -m "$machine" --env bare --set $harts --log insn "$OUT/$name" 2>&1 >/dev/null </dev/null |
                grep -E ': (exception |          tval )' >"$OUT/$name.expected" || true
            check "$name on $machine: the log of traps changes the run" cmp -s "$OUT/$name.plain" "$OUT/$name.logged"
            check "$name on $machine: has traps" test -s "$OUT/$name.traps"
            check "$name on $machine: the same traps" cmp -s "$OUT/$name.expected" "$OUT/$name.traps"
        done
    done
    # counters.c writes 1000: the log shows what the next instruction reads.
    "$CROFT" run -m virt --log "commit:$OUT/counters.log" "$OUT/counters" >/dev/null 2>&1 </dev/null || true
    check "a written minstret in the log" grep -q ' c2818_minstret 0x00000000000003e8$' "$OUT/counters.log"
}

test_programs() {
    local name
    for name in newlib die abort; do
        test_program "$name" 1 "$here/programs/$name.c"
    done
    test_program handlers 2 "$here/programs/handlers.c"
}

test_examples() {
    test_program timer 1 "$here/../../examples/firmware/timer.c"
    test_program mailbox 4 "$here/../../examples/firmware/mailbox.c"
    check "mailbox: the last sum" grep -q 'round 2: the sum is 18' "$OUT/mailbox.croft"
    build echo "$here/../../examples/firmware/echo.c"
    printf 'hello\nexit\n' >"$OUT/echo.stdin"
    on_croft echo 0 "$OUT/echo" <"$OUT/echo.stdin"
    on_qemu echo <"$OUT/echo.stdin"
    same echo
}

# Devices of virtio in all eight slots of QEMU's board; what is written to the disks is in their files afterwards. QEMU has no
# console here.
test_virtio() {
    local sums i
    local -a drives=() theirs=() many=()
    build virtio "$here/virtio.c" "$here/support/support.c" "$here/support/attempt.S"
    for i in 1 2 3 4; do
        drives+=(--drive "file=$OUT/virtio.disk$i")
        theirs+=(-drive "file=$OUT/virtio.disk$i,format=raw,if=none,id=d$i" -device "virtio-blk-device,drive=d$i")
    done
    new_disks
    on_croft virtio 0 --drive "file=$OUT/virtio.disk,format=raw" "${drives[@]}" --netdev none \
        --set devices.entropy=default --set devices.console=default "$OUT/virtio" < <(printf k)
    add "$(sed -nE 's/^([0-9]+) passed, [0-9]+ failed$/\1/p' "$OUT/virtio.croft")" 0
    check "no check of virtio failed" test -z "$(grep FAILED "$OUT/virtio.croft")"
    check "no message" test ! -s "$OUT/virtio.err"
    check "text through the console" grep -qx 'spec: text through the console' "$OUT/virtio.croft"
    check "all disks are found" grep -qx '4 further disks' "$OUT/virtio.croft"
    sums=$(cat "$OUT"/virtio.disk* | cksum)
    check "the disk has been written" test "$(od -An -tu1 -j1536 -N3 "$OUT/virtio.disk" | tr -s ' ')" = " 5 12 19"
    check "the third disk, too" test "$(od -An -tu1 -j3584 -N3 "$OUT/virtio.disk2" | tr -s ' ')" = " 51 58 65"
    new_disks
    on_qemu virtio -global virtio-mmio.force-legacy=false -drive "file=$OUT/virtio.disk,format=raw,if=none,id=d" \
        -device virtio-blk-device,drive=d "${theirs[@]}" -device virtio-rng-device -device virtio-net-device </dev/null
    same virtio
    check "the same bytes as under QEMU" test "$(cat "$OUT"/virtio.disk* | cksum)" = "$sums"
    # A disk for reading only, beside others, and files that are no disks.
    chmod a-w "$OUT/virtio.disk"
    on_croft virtio_readonly 1 --drive "file=$OUT/virtio.disk,readonly=on" "${drives[@]}" --netdev none \
        --set devices.entropy=default --set devices.console=default "$OUT/virtio" < <(printf k)
    check "writing fails" grep -qx 'write 4 sectors: 0x1 FAILED, should be 0x0' "$OUT/virtio_readonly.croft"
    check "not to another disk" grep -qx 'write 4 sectors to it: 0x0' "$OUT/virtio_readonly.croft"
    check "the files are as before" test "$(cat "$OUT"/virtio.disk* | cksum)" = "$sums"
    rm -f "$OUT/virtio.disk"
    refused no_disk "$OUT/virtio.disk: No such file" --drive "file=$OUT/virtio.disk" "$OUT/virtio"
    echo 123 >"$OUT/virtio.disk"
    refused odd_disk "4 bytes are not a positive multiple of 512" --drive "file=$OUT/virtio.disk" "$OUT/virtio"
    refused folder_disk "$OUT: " --drive "file=$OUT" "$OUT/virtio"
    refused one_file "devices.disk.1: $OUT/virtio.disk1: it is another disk" --drive "file=$OUT/virtio.disk1" \
        --drive "file=$OUT/virtio.disk1,readonly=on" "$OUT/virtio"
    build newlib "$here/programs/newlib.c"
    on_croft one_file_to_read "$(cat "$here/programs/newlib.status")" --drive "file=$OUT/virtio.disk1,readonly=on" \
        --drive "file=$OUT/virtio.disk1,readonly=on" "$OUT/newlib" <"$here/programs/newlib.stdin"
    refused one_interrupt "already belongs to devices.disk.0" --drive "file=$OUT/virtio.disk1" --drive "file=$OUT/virtio.disk2" \
        --set devices.disk.1.irq=1 "$OUT/virtio"
    refused no_peer "must listen on this Unix socket" --netdev "unix:$OUT/none" "$OUT/virtio"
    for i in {0..16}; do many+=(--drive "file=$i"); done
    STATUS=2 refused_usage --drive nothing
    STATUS=2 refused_usage "${many[@]}"
    STATUS=2 refused_usage --netdev tap
}

# Disks of zeros, of 64 to 68 sectors.
new_disks() {
    local i
    rm -f "$OUT"/virtio.disk*
    truncate -s $((64 * 512)) "$OUT/virtio.disk"
    for i in 1 2 3 4; do truncate -s $(((64 + i) * 512)) "$OUT/virtio.disk$i"; done
}

# refused_usage OPTIONS...: a usage error.
refused_usage() {
    local status=0
    "$CROFT" run "$@" "$OUT/virtio" >/dev/null 2>"$OUT/usage.err" </dev/null || status=$?
    check "$*: status $status, not 2" test "$status" = 2
    check "$*: the message names the option" grep -q -- "${1}" "$OUT/usage.err"
}

# What a kernel is told: command line, initial file system, a device tree of the user's own.
test_board() {
    build board "$here/programs/board.c"
    head -c 10000 "$OUT/board" | tail -c 9999 >"$OUT/board.initrd"
    on_croft board 0 --append 'console=ttyS0 x="a b"' --initrd "$OUT/board.initrd" "$OUT/board" </dev/null
    check "bootargs" grep -qx 'bootargs: console=ttyS0 x="a b"' "$OUT/board.croft"
    check "initrd" grep -qx "initrd: 9999 bytes, sum $(od -An -v -tu1 -w1 "$OUT/board.initrd" | awk '{s += $1} END {print s}')" \
        "$OUT/board.croft"
    "$CROFT" run -m virt --set harts=3 --append one --drive file=ignored --dump-dtb "$OUT/board.dtb"
    check "the dumped tree has 3 harts" grep -qa 'cpu@2' "$OUT/board.dtb"
    check "and a disk" grep -qa 'virtio_mmio@10001000' "$OUT/board.dtb"
    check "not a second one" test "$(grep -ca 'virtio_mmio@10005000' "$OUT/board.dtb")" = 0
    (cd "$OUT" && "$CROFT" run -m virt --set harts=3 --append one --drive file=ignored --dump-dtb - >piped.dtb)
    check "the dumped tree on standard output" cmp "$OUT/board.dtb" "$OUT/piped.dtb"
    check "and no file of that name" test ! -e "$OUT/-"
    "$CROFT" run -m virt --dump-dtb - >/dev/full 2>"$OUT/full" || true
    check "no room on standard output" grep -q '^croft run: --dump-dtb: standard output cannot be written' "$OUT/full"
    "$CROFT" run -m virt --drive file=one --drive file=two --dump-dtb "$OUT/disks.dtb"
    check "two disks in the tree" grep -qa 'virtio_mmio@10005000' "$OUT/disks.dtb"
    on_croft board_dtb 0 --dtb "$OUT/board.dtb" "$OUT/board" </dev/null
    check "--dtb" grep -qx 'bootargs: one' "$OUT/board_dtb.croft"
    on_croft board_both 0 --dtb "$OUT/board.dtb" --append two "$OUT/board" </dev/null
    check "--append changes it" grep -qx 'bootargs: two' "$OUT/board_both.croft"
    refused bad_dtb "not a flattened device tree" --dtb "$OUT/board" "$OUT/board"
    refused no_dtb "No such file" --dtb "$OUT/none" "$OUT/board"
    refused no_initrd "--initrd: $OUT/none" --initrd "$OUT/none" "$OUT/board"
    : >"$OUT/empty"
    refused empty_initrd "no file system" --initrd "$OUT/empty" "$OUT/board"
    truncate -s 20M "$OUT/large"
    refused large_initrd "enlarge memory.size" --initrd "$OUT/large" --set memory.size=16MiB "$OUT/board"
}

test_signature() {
    build signature "$here/programs/signature.c"
    on_croft signature 0 --signature "$OUT/signature.words" "$OUT/signature" </dev/null
    check "signature" cmp -s "$OUT/signature.words" "$here/programs/signature.expected"
    local machine
    build pmp_patch "$here/pmp_patch.c" "$here/support/support.c" "$here/support/attempt.S"
    for machine in virt ddr3 hbm1; do
        on_croft "pmp_patch.$machine" 0 -m "$machine" --signature "$OUT/signature.words" "$OUT/pmp_patch" </dev/null
        check "$machine: signature of patched code" diff "$OUT/signature.words" "$here/pmp_patch.expected"
    done
    cp "$OUT/pmp_patch.virt.croft" "$OUT/pmp_patch.croft"
    on_qemu pmp_patch </dev/null
    same pmp_patch
}

test_ends() {
    build htif_pass "$here/programs/htif.c" -DNUMBER=0
    on_croft htif_pass 0 "$OUT/htif_pass" </dev/null
    check "HTIF's console" grep -qx 'through tohost' "$OUT/htif_pass.croft"
    build htif_fail "$here/programs/htif.c" -DNUMBER=1234
    on_croft htif_fail 1 "$OUT/htif_fail" </dev/null
    check "the number of a test that failed" grep -q 1234 "$OUT/htif_fail.err"
    build hang "$here/programs/hang.c"
    on_croft hang 124 --max-insns 1000000 "$OUT/hang" </dev/null
    check "a program that never ends" grep -q -- --max-insns "$OUT/hang.err"
}

# overflow NAME HART STATUS OPTIONS...: builds overflow.c, which croft and QEMU must end alike, with one line about the
# hart and the symbol that sets the size of its stack.
overflow() {
    local name=$1 hart=$2 symbol=__hart_stack_size
    shift 2
    [ "$hart" != 0 ] || symbol=__stack_size
    build "$name" "$here/programs/overflow.c" -DHART="$hart" "$@"
    on_croft "$name" 139 --set harts=4 "$OUT/$name" </dev/null
    on_qemu "$name" -smp 4 </dev/null
    check "$name: status $qemu_status on QEMU" test "$qemu_status" = 139
    same "$name"
    check "$name: two lines" test "$(wc -l <"$OUT/$name.croft")" = 2
    check "$name: names the hart and the symbol" \
        grep -qE "^stack overflow of hart $hart: its stack has [0-9]+ bytes \(-Wl,--defsym,$symbol=BYTES\), pc 0x" "$OUT/$name.croft"
    check "$name: the report" grep -qE "^croft: .*/$name: stack overflow of hart $hart: .*, store of [18] bytes to 0x" "$OUT/$name.err"
    check "$name: its source line" grep -qE '^  at 0x[0-9a-f]+, recurse.* \(.*overflow.c:[0-9]+\): ' "$OUT/$name.err"
    check "$name: its callers" grep -qE '^    #[0-9]+ 0x[0-9a-f]+ recurse.* \(.*overflow.c:[0-9]+\)' "$OUT/$name.err"
}

# trap_loop NUMBER STATUS CAUSE TEXT...: trap_loop.c with that case ends because of a loop of that cause; each text is in the
# report.
trap_loop() {
    local number=$1 wanted=$2 cause=$3 machine text
    shift 3
    build trap_loop "$here/programs/trap_loop.c" -DCASE="$number"
    for machine in virt ddr3 hbm1; do
        on_croft trap_loop "$wanted" -m "$machine" --env bare "$OUT/trap_loop" </dev/null
        check "loop $number on $machine: the output before" grep -qx before "$OUT/trap_loop.croft"
        check "loop $number on $machine: the report" \
            grep -qE ": hart 0: trap loop: $cause.*, 1002 times without progress \(--trap-loops\)$" "$OUT/trap_loop.err"
        for text; do
            check "loop $number on $machine: $text" grep -qE "$text" "$OUT/trap_loop.err"
        done
    done
}

# Traps that end a program, and those that would never end.
test_faults() {
    local machine option
    overflow overflow_boot 0
    overflow overflow_third 2
    overflow overflow_pages 3 -DFRAME=20000
    overflow overflow_small 1 -DFRAME=128 -Wl,--defsym,__hart_stack_size=5000
    # Frames that are longer than the guard: probed if their size is known at run time only, else the compiler warns.
    overflow overflow_far 0 -DFRAME=300000 -DDYNAMIC
    overflow overflow_far_third 2 -DFRAME=300000 -DDYNAMIC
    build overflow_long "$here/programs/overflow.c" -DHART=0 -DFRAME=70000 2>"$OUT/long"
    check "a frame of 70,000 bytes: a warning" grep -qE 'overflow.c:.*frame size of 7[0-9]+ bytes is larger than 65536 bytes' "$OUT/long"
    build overflow_long "$here/programs/overflow.c" -DHART=0 -DFRAME=70000 -Wframe-larger-than=100000 2>"$OUT/long"
    check "a larger limit: none" test ! -s "$OUT/long"
    build overflow_long "$here/programs/overflow.c" -DHART=0 -DFRAME=60000 2>"$OUT/long"
    check "a frame of 60,000 bytes: none" test ! -s "$OUT/long"
    # Without a guard, harts may write to the stacks of others.
    build unguarded "$here/programs/overflow.c" -DHART=0 -Wl,--defsym,__stack_guard=0 -Wl,--defsym,__stack_size=4096
    check "no guard without __stack_guard" test -s "$OUT/unguarded"
    build die "$here/programs/die.c"
    for machine in virt ddr3 hbm1; do
        on_croft die 139 -m "$machine" --env bare "$OUT/die" </dev/null
        check "$machine: the fault" grep -qE '^croft: .*/die: hart 0x0: store/AMO access fault, store of 4 bytes to 0x8000000$' "$OUT/die.err"
        check "$machine: its place" grep -qE '^  at 0x[0-9a-f]+, main.* \(.*die.c:7\): (c\.)?sw ' "$OUT/die.err"
        check "$machine: its caller" grep -qE '^    #1 0x[0-9a-f]+ _start.* \(.*crtbare.S:[0-9]+\)$' "$OUT/die.err"
    done
    trap_loop 0 139 "instruction access fault, jump to 0x0" '^  mtvec is 0x0: ' '^  before the loop: illegal instruction at .* main' '#0 .* main'
    trap_loop 1 132 "illegal instruction 0x0000" '^  mtvec is 0x8'
    trap_loop 2 132 "illegal instruction 0xffffffff" '^  at .* main.*trap_loop.c'
    trap_loop 3 139 "store/AMO access fault, store of 8 bytes" '^  sp is .*: the handler has no stack' 'careless'
    trap_loop 4 139 "instruction access fault, jump to 0x0" '^  stvec is 0x0: '
    on_croft loop_off 124 --trap-loops off --max-insns 1000000 "$OUT/trap_loop" </dev/null
    on_croft loop_early 139 --trap-loops 2 --max-insns 10000 "$OUT/trap_loop" </dev/null
    for option in 0 on -1 ''; do
        on_croft loop_usage 2 --trap-loops "$option" "$OUT/trap_loop" </dev/null
        check "--trap-loops '$option'" grep -q -- "--trap-loops needs a number" "$OUT/loop_usage.err"
    done
    # Traps that end after all, with the strictest limit.
    build trap_again "$here/programs/trap_again.c"
    on_croft trap_again 0 --trap-loops 1 --set harts=2 "$OUT/trap_again" </dev/null
    on_qemu trap_again -smp 2 </dev/null
    same trap_again
    for machine in ddr3 hbm1; do
        on_croft "trap_again_$machine" 0 -m "$machine" --env bare --set host.count=2 --trap-loops 1 "$OUT/trap_again" </dev/null
        check "$machine: the same output" cmp "$OUT/trap_again.croft" "$OUT/trap_again_$machine.croft"
    done
}

# fill.c writes 8 MiB behind its image. The store is told exactly, on a machine with a clock and without one.
test_memory() {
    local machine
    build fill "$here/programs/fill.c"
    for machine in virt ddr3; do
        on_croft fill 0 -m "$machine" --max-memory 16MiB "$OUT/fill" </dev/null
        on_croft "fill_$machine" 124 -m "$machine" --max-memory 4MiB "$OUT/fill" </dev/null
        check "$machine: the limit" grep -q 'more than 4 MiB of memory in use (--max-memory), by a store to 0x8' \
            "$OUT/fill_$machine.err"
    done
    check "the same page" cmp <(head -n 1 "$OUT/fill_virt.err") <(head -n 1 "$OUT/fill_ddr3.err")
}

test_semihosting() {
    build semihosting "$here/programs/semihosting.c"
    rm -rf "$OUT/semihosting.dir"
    mkdir -p "$OUT/semihosting.dir"
    on_croft semihosting 77 --dir "$OUT/semihosting.dir" "$OUT/semihosting" refusals </dev/null
    check "semihosting: what the specification wants" test -z "$(grep FAILED "$OUT/semihosting.croft")"
    check "semihosting: leaves nothing behind" rmdir "$OUT/semihosting.dir"
    mkdir -p "$OUT/semihosting.dir"
    (cd "$OUT/semihosting.dir" &&
        on_qemu semihosting -semihosting-config enable=on,target=native,arg=program </dev/null)
    same semihosting
}

# Two runs are equal to the byte and execute the same number of instructions.
test_repeats() {
    local run
    for run in 1 2; do
        "$CROFT" run -m virt --set harts=4 --stats "$OUT/repeat.$run.json" "$OUT/mailbox" >"$OUT/repeat.$run" </dev/null ||
            fail "mailbox, run $run"
    done
    check "mailbox repeats" cmp -s "$OUT/repeat.1" "$OUT/repeat.2"
    check "and its statistics" diff <(without_host "$OUT/repeat.1.json") <(without_host "$OUT/repeat.2.json")
}

# Placement of files in memory.
test_loading() {
    local name
    bare restart
    bare physical "-T$here/programs/physical.ld"
    bare tree "-T$here/programs/tree.ld"
    for name in restart physical tree; do
        on_croft "$name" 0 --env bare --set 'memory.size=64 MiB' "$OUT/$name" </dev/null
    done
    # As OpenSBI's fw_jump.elf from 1.4 on.
    riscv64-linux-gnu-gcc -nostdlib -static-pie -Wl,-Ttext=0,--build-id=none,--no-dynamic-linker "$here/programs/movable.S" -o "$OUT/movable"
    on_croft movable 0 --bios "$OUT/movable" </dev/null
    refused movable_program "link it with -static and without -pie" --env bare "$OUT/movable"
    # QEMU 7.2 does not search for room for the device tree, so it refuses the third program.
    for name in restart physical; do
        on_qemu "$name" </dev/null
        check "$name: status $qemu_status on QEMU" test "$qemu_status" = 0
    done
    # Linker scripts of published tests give their only segment no permission to execute.
    echo 'PHDRS { all PT_LOAD FLAGS(6); } SECTIONS { . = 0x80000000; .text : { *(.text*) *(.data*) *(.bss*) } :all }' \
        >"$OUT/flags.ld"
    mv "$OUT/restart" "$OUT/restart.kept"
    bare restart "-T$OUT/flags.ld"
    on_croft flags 0 --env bare --set 'memory.size=64 MiB' "$OUT/restart" </dev/null
    mv "$OUT/restart.kept" "$OUT/restart"
    bare tohost_odd
    refused tohost_odd "multiple of 8" "$OUT/tohost_odd"
    refused overlap "$OUT/restart (0x80000000-" --bios "$OUT/restart" --kernel "$OUT/tree"
    check "overlap: both files" grep -qF "$OUT/tree (0x80000000-" "$OUT/overlap.err"
    head -c 2097153 /dev/zero >"$OUT/raw"
    refused raw_overlap "$OUT/raw (0x80000000-0x80200000)" --bios "$OUT/raw" --kernel "$OUT/raw"
    head -c 2097152 /dev/zero >"$OUT/raw"
    STATUS=2 refused no_room memory.size --bios "$OUT/raw" --set 'memory.size=2 MiB'
}

# Timers that never fire, and the shortest turns of harts.
test_time() {
    local compare supervisor name
    for compare in 184467440737095515 184467440737095516 184467440737095517 0xffffffffffffffff; do
        for supervisor in 0 1; do
            name=never_${compare}_$supervisor
            build "$name" "$here/programs/never.c" "-DCOMPARE=${compare}u" "-DSUPERVISOR=$supervisor"
            on_croft "$name" 1 --max-insns 10000000 "$OUT/$name" </dev/null
            check "$name: says why" grep -q 'nothing will ever raise' "$OUT/$name.err"
            check "$name: does not wake" test "$(cat "$OUT/$name.croft")" = waiting
        done
    done
    build reservation "$here/programs/reservation.c"
    on_croft reservation 0 --set harts=4 --set quantum=100 "$OUT/reservation" </dev/null
    STATUS=2 refused quantum "100 to 1000000000" --set quantum=99 "$OUT/reservation"
}

# timed NAME SOURCE MACHINE STATUS OPTIONS...: the program prints the same on a timed machine and on `virt`
# with as many harts.
timed() {
    local name=$1 source=$2 machine=$3 wanted=$4 harts=1 option input=/dev/null
    shift 4
    for option in "$@"; do
        [ "$option" = "${option#host.count=}" ] || harts=${option#host.count=}
    done
    [ ! -e "${source%.c}.stdin" ] || input=${source%.c}.stdin
    build "$name" "$source" "$here/support/support.c" "$here/support/attempt.S"
    on_croft "$name.untimed" "$wanted" --set "harts=$harts" "$OUT/$name" <"$input"
    on_croft "$name.$machine" "$wanted" -m "$machine" "$@" "$OUT/$name" <"$input"
    check "$name on $machine: the output" cmp -s "$OUT/$name.untimed.croft" "$OUT/$name.$machine.croft"
}

# Timed machines.
test_timed() {
    local name machine
    for machine in ddr3 hbm1; do
        for name in traps illegal status delegation interrupts counters fields atomics paging pmp trigger edges cbo; do
            timed "$name" "$here/$name.c" "$machine" 0
        done
        timed harts "$here/harts.c" "$machine" 0 --set host.count=2
        timed patch "$here/patch.c" "$machine" 0 --set host.count=2
        timed reservation "$here/programs/reservation.c" "$machine" 0 --set host.count=4
        timed mailbox "$here/../../examples/firmware/mailbox.c" "$machine" 0 --set host.count=4
        timed timer "$here/../../examples/firmware/timer.c" "$machine" 0
        bare restart
        on_croft "restart.$machine" 0 -m "$machine" --env bare "$OUT/restart" </dev/null
    done
    build idle "$here/programs/idle.c"
    on_croft idle 0 -m nucd "$OUT/idle" </dev/null
    check "a second passes" grep -qx 'slept for 1000 ms' "$OUT/idle.croft"
    build never "$here/programs/never.c" -DCOMPARE=0xffffffffffffffffu -DSUPERVISOR=1
    on_croft never.timed 1 -m ddr3 "$OUT/never" </dev/null
    check "a wait without end" grep -q 'nothing will ever raise' "$OUT/never.timed.err"
    build hang "$here/programs/hang.c"
    on_croft hang.time 124 -m ddr3 --max-time 1ms "$OUT/hang" </dev/null
    check "--max-time" grep -q -- '1 ms of simulated time (--max-time)' "$OUT/hang.time.err"
    on_croft hang.insns 124 -m hbm1 --max-insns 123456 "$OUT/hang" </dev/null
    check "--max-insns" grep -q 'after 123456 instructions' "$OUT/hang.insns.err"
}

# How many slices of the last level have counted something: slices_with STATISTIC
slices_with() {
    grep -oE "\"l2\.[0-9]\.$1\": [1-9]" "$OUT/slices.json" | sort -u -t '"' -k 2,2 | wc -l
}

# value NAME: prints the number behind NAME in the output of offload_share.
value() {
    awk -v name="$1" '$1 == name { print $2 }' "$OUT/share.croft"
}

# share NAME OPTIONS...: four hosts that offload at the same time, with faults.
share() {
    on_croft share 0 -m nucd --set host.count=4 --firmware "$firmware" --check nucd --stats "$OUT/share.json" "${@:2}" "$OUT/share"
    check "$1: all checks" grep -q '^9 passed, 0 failed$' "$OUT/share.croft"
}

# Hosts share accelerators, whose queues hold two packets. A task T alone takes `alone` cycles, `beside` when another
# host has filled the queues of all accelerators. In turns, it then waits at most for the task that runs and the two behind
# it at the first accelerator that becomes empty; first come, first served, for the 14 or so that the other host's reorder
# buffer of 128 holds; with accelerators of its own, for nothing. Two hosts with the same 48 tasks take twice as long as
# one, and both end within two turns of a full queue.
test_sharing() {
    local firmware=$1 alone beside many first second count kind
    build share "$here/offload/share.c" "$here/support/support.c" "$here/support/attempt.S" -DHOSTS=4
    for count in 1 2 4; do
        share "$count accelerators in turns" --set accel.count=$count --set nucd.queue_lines=2
        alone=$(value alone) beside=$(value beside) many=$(value many)
        read -r _ first second < <(grep '^both' "$OUT/share.croft")
        check "$count: a task waits three turns at most ($alone, $beside)" test "$beside" -lt $((45 * alone / 10))
        check "$count: two hosts take twice the time ($many, $first, $second)" \
            test $((first + second)) -gt $((35 * many / 10)) -a $((first + second)) -lt $((42 * many / 10))
        check "$count: and end together ($alone)" test $(((first - second) * (first - second))) -lt $((36 * alone * alone))
    done
    share "first come" --set accel.count=4 --set nucd.queue_lines=2 --set nucd.arbitration=first_come
    check "first come: a task waits longer ($(value beside))" test "$(value beside)" -gt "$beside"
    share "partition" --set accel.count=4 --set nucd.queue_lines=2 --set nucd.arbitration=partition
    check "partition: a task does not wait" test "$(value beside)" -lt $((11 * alone / 10))
    for kind in nucd.arbitration=first_come nucd.retire=checkpoint host.core=inorder nucd.mode=ideal; do
        share "$kind" --set accel.count=2 --set "$kind"
    done
}

# 17 harts of two kinds: two runs are equal to the byte. The accelerators' caches are not coherent; the
# program tolerates that, and the checker reports it.
test_nucd() {
    local run
    build mailbox "$here/../../examples/firmware/mailbox.c"
    for run in 1 2; do
        on_croft "nucd.$run" 0 -m nucd --stats "$OUT/nucd.$run.json" "$OUT/mailbox" </dev/null
    done
    check "17 harts" grep -qx '17 harts' "$OUT/nucd.1.croft"
    check "their sum" grep -q 'round 2: the sum is 408' "$OUT/nucd.1.croft" # 3 (0 + 1 + ... + 16)
    check "statistics of 17 harts repeat" cmp -s <(without_host "$OUT/nucd.1.json") \
        <(without_host "$OUT/nucd.2.json")
    check "accelerators are counted" grep -q '"accel.15.l1d.misses": [1-9]' "$OUT/nucd.1.json"
    on_croft nucd.check 3 -m nucd --check coherence --check dram "$OUT/mailbox" </dev/null
    check "findings name function and line" grep -q 'by accel.0 at 0x[0-9a-f]*, receive.*mailbox.c:' "$OUT/nucd.check.err"
    check "and who wrote" grep -q 'written by host.0 at 0x[0-9a-f]*, .*(.*:[0-9]*), after' "$OUT/nucd.check.err"
    # A guest driver with croft's firmware: no stale data, because the driver flushes and tasks are written
    # back.
    local firmware kind
    firmware=$(dirname "$CROFT")/../share/croft/firmware/nucd.elf
    build offload "$here/../../examples/firmware/offload.c"
    for kind in accel.core=inorder accel.core=ooo host.core=inorder nucd.queue_lines=2 nucd.memory=256KiB; do
        on_croft "offload.$kind" 0 -m nucd --set "$kind" --firmware "$firmware" --check coherence --check dram \
            --stats "$OUT/offload.json" "$OUT/offload" </dev/null
        check "$kind: a fault is reported" grep -qx 'a fault: cause 5, address 0x8' "$OUT/offload.$kind.croft"
        check "$kind: tasks are counted" grep -q '"accel.3.tasks": 3,' "$OUT/offload.json"
    done
    on_croft offload.roi 0 -m nucd --detail roi --firmware "$firmware" "$OUT/offload" </dev/null
    build hosts "$here/offload/hosts.c" "$here/support/support.c" "$here/support/attempt.S"
    for kind in "accel.count=4 --set host.core=ooo" "accel.count=3 --set host.core=inorder" \
        "accel.count=4 --set host.l1d.prefetch=stride --set host.l1d.prefetch_degree=8 --set l2.prefetch=none" \
        "accel.count=4 --set host.l1d.prefetch=none --set l2.prefetch_degree=8 --set l2.prefetch=stride"; do
        # shellcheck disable=SC2086 # several words
        on_croft "hosts.${kind##*=}" 0 -m nucd --set $kind --set host.count=2 --firmware "$firmware" \
            --check coherence --check nucd --stats "$OUT/hosts.json" "$OUT/hosts" </dev/null
        check "$kind: host 0 offloads" grep -q "\"nucd.offloads\": 64," "$OUT/hosts.json"
        check "$kind: host 1 offloads" grep -q "\"nucd.1.offloads\": 16," "$OUT/hosts.json"
        check "$kind: no warning" test ! -s "$OUT/hosts.${kind##*=}.err"
    done
    # Hosts beyond nucd.hosts run their regions themselves, which one warning says.
    on_croft hosts.one 0 -m nucd --set host.count=2 --set nucd.hosts=1 --firmware "$firmware" --stats "$OUT/hosts.json" "$OUT/hosts" </dev/null
    check "one host of two offloads" grep -q '"nucd.offloads": 64,' "$OUT/hosts.json"
    check "which is said once" diff <(echo "croft run: warning: nucd.hosts is 1: host.1 does not offload," \
        "but runs all regions; to let it offload, set nucd.hosts to 2") "$OUT/hosts.one.err"
    test_sharing "$firmware"
    refused offload.none "has no accelerators with task units" -m virt --firmware "$firmware" "$OUT/offload"
    on_croft nucd.coherent 0 -m hbm1 --set host.count=8 --check coherence --check dram "$OUT/mailbox" </dev/null
    # A last level in slices: 8 cores beside each other, and two whose ranges are cleaned for the accelerators.
    on_croft slices.coherent 0 -m hbm1 --set host.count=8 --set l2.slices=4 --set l2.size=64KiB --check coherence \
        --check dram --stats "$OUT/slices.json" "$OUT/mailbox" </dev/null
    check "each slice has probed" test "$(slices_with dirty_probes)" = 4
    for kind in 3 4; do
        on_croft "slices.$kind" 0 -m nucd --set host.count=2 --set "l2.slices=$kind" --firmware "$firmware" \
            --check coherence --check nucd --stats "$OUT/slices.json" "$OUT/hosts" </dev/null
        check "$kind slices: host 1 offloads" grep -q "\"nucd.1.offloads\": 16," "$OUT/slices.json"
        check "$kind slices: each cleans ranges" test "$(slices_with maintained)" = "$kind"
    done
}

if ! command -v "$QEMU" >/dev/null; then
    fail "$QEMU is not installed; it is what the programs are compared with"
    conclude
    exit 1
fi
all=(checks_all log programs examples virtio board signature ends faults memory semihosting repeats loading time timed nucd)
for group in "${@:-${all[@]}}"; do
    "test_$group"
done
conclude
