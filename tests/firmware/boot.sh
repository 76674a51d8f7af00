#!/usr/bin/env bash
# Boots Debian's OpenSBI and U-Boot to U-Boot's prompt and types commands there, with 1, 2 and 4 harts;
# records and replays the input, and boots with compiled code (ALL=1: all of it). Then small programs wait for input in
# other ways. Variables: CROFT (the command), OUT (a folder for products).
# shellcheck disable=SC2016 # dollars are for U-Boot and gdb
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

CROFT=${CROFT:-build/bin/croft}
OUT=${OUT:-build/tests/firmware}
bios=${OPENSBI:-/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf}
kernel=${UBOOT:-/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin}

mkdir -p "$OUT"

# boot NAME STATUS OPTIONS... <INPUT: the status must be STATUS; the output goes to NAME.txt.
boot() {
    local name=$1 wanted=$2 status=0
    shift 2
    timeout 600 "$CROFT" run -m virt --bios "$bios" --kernel "$kernel" --max-insns 3000000000 "$@" \
        >"$OUT/$name.txt" 2>"$OUT/$name.err" || status=$?
    check "$name: status $status, not $wanted: $(tail -n 1 "$OUT/$name.err")" [ "$status" = "$wanted" ]
}

shows() {
    check "$1 does not show: $2" grep -qF -- "$2" "$OUT/$1.txt"
}

# An empty line stops the countdown; poweroff ends the run through OpenSBI and the finisher.
printf '\nversion\nprintenv bootdelay\nsetenv answer 42\necho the answer is $answer\npoweroff\n' >"$OUT/typed"

for harts in 1 2 4; do
    name=boot$harts
    boot "$name" 0 --set harts=$harts --record "$OUT/$name.input" <"$OUT/typed"
    shows "$name" "Platform HART Count       : $harts"
    shows "$name" "DRAM:  1 GiB"
    shows "$name" "=> version"
    shows "$name" "U-Boot 20"
    shows "$name" "bootdelay=2"
    shows "$name" "the answer is 42"
    boot "$name.again" 0 --set harts=$harts --stats "$OUT/$name.json" <"$OUT/typed"
    check "$name: a second run prints something else" cmp -s "$OUT/$name.txt" "$OUT/$name.again.txt"
    for way in on ${ALL:+"always"}; do
        boot "$name.$way" 0 --set harts="$harts" --jit="$way" --stats "$OUT/$name.$way.json" <"$OUT/typed"
        check "$name: it prints something else with --jit=$way" cmp -s "$OUT/$name.txt" "$OUT/$name.$way.txt"
        check "$name: other statistics with --jit=$way" cmp -s <(jq 'del(.host)' "$OUT/$name.json") <(jq 'del(.host)' "$OUT/$name.$way.json")
    done
    boot "$name.replay" 0 --set harts=$harts --replay "$OUT/$name.input" </dev/null
    check "$name: the replay prints something else" cmp -s "$OUT/$name.txt" "$OUT/$name.replay.txt"
done

boot limit 124 --max-insns 1000000 </dev/null
check "limit: no message" grep -q 'stopped after 1000000 instructions' "$OUT/limit.err"

# Bytes of a pipe arrive when the guest asks for them, regardless of when they were written.
for run in 1 2; do
    delay=$((run - 1))
    boot "pipe$run" 0 --stats "$OUT/pipe$run.json" \
        < <(sleep "$delay"; printf '\n'; sleep "$delay"; printf 'version\npoweroff\n')
    shows "pipe$run" "=> version"
    sed -i '/"host": {/,$d' "$OUT/pipe$run.json"
done
check "pipe: a second run prints something else" cmp -s "$OUT/pipe1.txt" "$OUT/pipe2.txt"
check "pipe: a second run has other statistics" cmp -s "$OUT/pipe1.json" "$OUT/pipe2.json"

# A pipe that stays open and sends nothing stops no program that only prints. Its driver looks at the line's status before
# and after each character, and has enabled the receiver's interrupt.
cat >"$OUT/silent.c" <<'END'
int main(void)
{
    volatile unsigned char *uart = (volatile unsigned char *)0x10000000;
    uart[1] = 1;
    for (unsigned i = 0; i < 65536; i++) {
        while (!(uart[5] & 0x20))
            continue;
        uart[0] = i % 64 == 63 ? '\n' : '.';
        while (!(uart[5] & 0x40))
            continue;
    }
    return 7;
}
END
"$CROFT" cc --bare -O1 "$OUT/silent.c" -o "$OUT/silent"
mkfifo "$OUT/silence.$$"
exec 5<>"$OUT/silence.$$"
rm -f "$OUT/silence.$$"
for core in functional inorder; do
    status=0
    timeout 60 "$CROFT" run -m virt --set "host.core=$core" "$OUT/silent" <&5 >"$OUT/silent.txt" 2>"$OUT/silent.err" || status=$?
    check "silent, $core: status $status, not 7" [ "$status" = 7 ]
    check "silent, $core: output is missing" [ "$(wc -l <"$OUT/silent.txt")" = 1024 ]
done
exec 5<&-

# One program reads characters through semihosting up to the end of a line; the other sleeps for ever.
cat >"$OUT/readc.c" <<'END'
#include "semihosting_call.h"
#include <stdio.h>

int main(void)
{
    long got;
    do {
        got = (long)call(7, NULL);
        printf("%ld\n", got);
    } while (got >= 0 && got != '\n');
    return got < 0 ? 3 : 5;
}
END
printf 'int main(void)\n{\n    for (;;)\n        __asm__ volatile("wfi");\n}\n' >"$OUT/sleep.c"
for name in readc sleep; do
    "$CROFT" cc --bare -O1 -g -I"$(dirname "$0")" "$OUT/$name.c" -o "$OUT/$name"
done

# run NAME STATUS OPTIONS...: like boot, for a program.
run() {
    local name=$1 wanted=$2 status=0
    shift 2
    timeout 600 "$CROFT" run -m virt "$@" >"$OUT/$name.txt" 2>"$OUT/$name.err" || status=$?
    check "$name: status $status, not $wanted: $(tail -n 1 "$OUT/$name.err")" [ "$status" = "$wanted" ]
}

run readc 5 --record "$OUT/readc.input" "$OUT/readc" < <(sleep 0.2; echo a)
check "readc: what it got" diff "$OUT/readc.txt" <(printf '97\n10\n')
run readc.replay 5 --replay "$OUT/readc.input" "$OUT/readc" </dev/null
check "readc: the replay prints something else" cmp -s "$OUT/readc.txt" "$OUT/readc.replay.txt"
printf 'croft input 1\n900000 900000 61\n' >"$OUT/other.input"
run readc.other 1 --replay "$OUT/other.input" "$OUT/readc" </dev/null
check "readc: another run's record" grep -q 'this run differs from the recorded one' "$OUT/readc.other.err"

# The user ends a run in which all harts sleep; `script` provides the terminal.
status=0
(sleep 0.5; printf 'k'; sleep 0.2; printf '\001x'; sleep 0.5) |
    timeout 600 script -qec "'$CROFT' run -m virt --record '$OUT/sleep.input' '$OUT/sleep'" /dev/null >"$OUT/sleep.txt" ||
    status=$?
check "sleep: status $status, not 0" [ "$status" = 0 ]
check "sleep: the record has no end" grep -q ' end$' "$OUT/sleep.input"
run sleep.replay 0 --replay "$OUT/sleep.input" "$OUT/sleep" </dev/null
printf 'croft input 1\n' >"$OUT/nothing.input"
run sleep.stuck 1 --replay "$OUT/nothing.input" "$OUT/sleep" </dev/null

# gdb interrupts a program that waits for a character; the program then gets one.
if command -v gdb-multiarch >/dev/null; then
    socket=$OUT/gdb.socket
    mkfifo "$OUT/keys.$$"
    exec 4<>"$OUT/keys.$$"
    rm -f "$OUT/keys.$$" "$socket"
    timeout 600 "$CROFT" run -m virt --gdb "$socket" "$OUT/readc" <&4 >"$OUT/readc.gdb.txt" 2>"$OUT/readc.gdb.err" &
    runner=$!
    while kill -0 "$runner" 2>/dev/null && ! [ -S "$socket" ]; do sleep 0.05; done
    timeout 600 gdb-multiarch -nx -q -batch -ex 'set confirm off' -ex "target remote $socket" \
        -ex 'shell (sleep 0.5; kill -INT $PPID) &' -ex continue -ex 'print $a0' -ex 'x/i $pc' \
        -ex "shell printf 'b\n' >&4" -ex continue "$OUT/readc" >"$OUT/gdb.txt" 2>&1 </dev/null || true
    status=0
    wait "$runner" || status=$?
    check "gdb: status $status, not 5" [ "$status" = 5 ]
    check "gdb: no interrupt" grep -q 'received signal SIGINT' "$OUT/gdb.txt"
    check "gdb: the call is not repeated" grep -q '^\$1 = 7$' "$OUT/gdb.txt"
    check "gdb: pc is not at the call" grep -q '=>.*ebreak' "$OUT/gdb.txt"
    check "gdb: what it got" diff "$OUT/readc.gdb.txt" <(printf '98\n10\n')
    exec 4<&-
fi

conclude
