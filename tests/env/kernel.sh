#!/usr/bin/env bash
# The `kernel` environment: runs the guests of the `user` environment and tests of virtual memory. Variables:
# CROFT (the command), OUT (a folder for products), CHECK_RANGES (built from check_ranges.c), SHARE (croft's
# files).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/kernel-env}
CHECK_RANGES=$(realpath "${CHECK_RANGES:-build/tests/env/check_ranges}")
SHARE=$(realpath "${SHARE:-build/share/croft}")
OUT=$(fresh "$OUT")
mkdir "$OUT/dir"

# run STATUS NAME TEXT OPTIONS...: croft run --env kernel OPTIONS must end with that status, and its output or
# error output must contain TEXT.
run() {
    local wanted=$1 name=$2 text=$3 status=0
    shift 3
    timeout 600 "$CROFT" run --env kernel "$@" >"$OUT/output" 2>&1 </dev/null || status=$?
    if [ "$status" = "$wanted" ] && grep -qF -- "$text" "$OUT/output"; then
        pass
    else
        fail "$name: status $status, not $wanted, or no '$text'" "$(cat "$OUT/output")"
    fi
}

for name in pointers files process fault regions sandbox kernel; do
    "$CROFT" cc -O1 -g "$here/guest_$name.c" -o "$OUT/$name"
done
"$CROFT" cc -O1 -mno-relax -nostartfiles "$here/guest_stack.c" -o "$OUT/stack"

for machine in functional virt 'functional --set mmu.ad=fault' 'virt --set harts=3'; do
    read -ra options <<<"-m $machine --dir $OUT/dir"
    run 0 "pointers on $machine" ' 0 failed' "${options[@]}" "$OUT/pointers" 0xc0000000
    run 0 "files on $machine" ' 0 failed' "${options[@]}" "$OUT/files"
    run 0 "process on $machine" ' 0 failed' "${options[@]}" "$OUT/process"
    run 0 "kernel on $machine" ' 0 failed' "${options[@]}" "$OUT/kernel" checks
done
run 0 "memory that is all used" '128000 pages' --set 'memory.size=512 MiB' "$OUT/kernel" big 500
run 9 "more than there is" refused --set 'memory.size=512 MiB' "$OUT/kernel" big 520
run 137 "the last page" 'memory is full: no page is left for 0x' "$OUT/kernel" big 1014
run 0 "break beyond physical memory, little of it touched" ' 0 failed' --set 'memory.size=16 MiB' \
    --set 'user_stack.size=1 MiB' "$OUT/process"

# What a call moves is not copied whole: the same 64 MiB, 64 times.
if [ "$( (
    ulimit -v 3000000
    "$CROFT" run --env kernel "$OUT/kernel" vectors 2>"$OUT/errors" | wc -c
))" = 2147479552 ] && grep -qx '2147479552 bytes' "$OUT/errors"; then
    pass
else
    fail "a large transfer" "$(cat "$OUT/errors")"
fi

# A read ends with what a pipe holds, 1 MiB, though its other end stays open.
# shellcheck disable=SC2016 # Perl's variables
timeout 600 perl -e 'pipe(my $reader, my $writer); fcntl($writer, 1031, 1 << 20) or die; syswrite($writer, "x" x (1 << 20));
    my $child = fork; if (!$child) { open(STDIN, "<&", $reader); exec @ARGV; } waitpid($child, 0);' \
    "$CROFT" run --env kernel "$OUT/kernel" pipe >/dev/null 2>"$OUT/errors" || true
check "a read ends with what a pipe holds: $(cat "$OUT/errors")" grep -qx '1048576 bytes' "$OUT/errors"

# The program gets the same stack as in the `user` environment.
"$CROFT" run -E A=1 "$OUT/stack" x 'y z' >"$OUT/user"
run 0 stack 'argv y z' -E A=1 "$OUT/stack" x 'y z'
run 0 regions "" --stats "$OUT/regions.json" "$OUT/regions"
if cmp -s "$OUT/user" <("$CROFT" run --env kernel -E A=1 "$OUT/stack" x 'y z') &&
    grep -q '"first": {' "$OUT/regions.json"; then
    pass
else
    fail "the stack differs, or a region has lost its name"
fi

# The ranges agree with the page tables.
for arguments in process "kernel checks" "pointers 0x84000000"; do
    read -ra words <<<"$arguments"
    if (cd "$OUT/dir" && timeout 600 "$CHECK_RANGES" "$SHARE" "$OUT/${words[0]}" "${words[@]:1}") >"$OUT/output" 2>&1; then
        pass
    else
        fail "ranges of $arguments" "$(cat "$OUT/output")"
    fi
done

fault() {
    local status=$1 text=$2
    shift 2
    run "$status" "fault $*" "$text" --max-insns 50000000 "$OUT/$1" "$2"
}
fault 139 'load of 8 bytes from 0x0, where nothing is mapped' fault load
fault 139 'guest_fault.c:' fault load
fault 139 '_start+' fault load
fault 139 'load of 4 bytes from 0xc0000000, where nothing is mapped' fault load-end
fault 139 'store of 8 bytes to 0x7fffffffffff0000, where nothing is mapped' fault store
fault 139 'which is read-only' fault store-text
fault 139 'jump to 0x0, where nothing is mapped' fault jump-null
fault 139 'jump to 0x1234567000, where nothing is mapped' fault jump-far
fault 132 'illegal instruction 0xffffffff' fault illegal
fault 133 'breakpoint (ebreak)' fault break
fault 139 "sp is below 0xbf800000, the end of the stack's 8192 KiB" fault recursion
fault 134 'ended itself by signal 6, SIGABRT' fault abort
fault 139 'load of 8 bytes from 0x0' fault no-stack
fault 139 'atomic access of 8 bytes to 0x40, where nothing is mapped' fault atomic
fault 124 '(--max-insns) at 0x80' fault loop
fault 139 'store of 1 bytes to 0x0, where nothing is mapped' kernel null
fault 139 'which is read-only' kernel text
fault 139 ', which is not executable' kernel data
fault 139 'endless recursion' kernel stack
fault 139 'where nothing is mapped' kernel gap
fault 139 'which allows no access' kernel guard
fault 139 'which is read-only' kernel readonly
fault 139 'load of 1 bytes from 0xffffffff80000000, where nothing is mapped' kernel kernel
fault 139 'where nothing is mapped' kernel noncanonical
fault 132 'illegal instruction 0x10002573' kernel privileged
fault 132 'illegal instruction 0x10500073' kernel wfi
fault 133 'breakpoint' kernel semihosting
fault 135 'misaligned atomic access' kernel misaligned

run 1 "memory elsewhere" 'memory.base: --env kernel needs 0x80000000' --set memory.base=0x40000000 "$OUT/fault"
run 1 "too little memory" 'leave no room for a program' --set 'memory.size=9 MiB' "$OUT/fault"
run 1 "a program that does not fit" "outside of the memory" --set 'memory.size=9484 KiB' "$OUT/fault"
run 1 "no such program" '/nonexistent' /nonexistent
run 1 "too many arguments" 'user_stack.size' --set 'user_stack.size=64 KiB' "$OUT/stack" "$(head -c 60000 /dev/zero | tr '\0' a)"
run 2 "firmware" 'are for --env bare' --bios x "$OUT/fault"
run 2 "a disk" 'are for --env bare' --drive file=x "$OUT/fault"
run 2 "a network" 'are for --env bare' --netdev none "$OUT/fault"
conclude
