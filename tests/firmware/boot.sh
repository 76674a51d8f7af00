#!/usr/bin/env bash
# Boots Debian's OpenSBI and U-Boot to U-Boot's prompt and types commands there, with 1, 2 and 4 harts; records and
# replays what was typed. Variables: CROFT (the command), OUT (a folder for products).
set -euo pipefail

CROFT=${CROFT:-build/bin/croft}
OUT=${OUT:-build/tests/firmware}
bios=${OPENSBI:-/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf}
kernel=${UBOOT:-/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin}
passed=0 failed=0

mkdir -p "$OUT"

check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$name"
    fi
}

# boot NAME STATUS OPTIONS... <INPUT: the output goes to NAME.txt, and the status must be that.
boot() {
    local name=$1 wanted=$2 status=0
    shift 2
    timeout 60 "$CROFT" run -m virt --bios "$bios" --kernel "$kernel" --max-insns 3000000000 "$@" \
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
    boot "$name.again" 0 --set harts=$harts <"$OUT/typed"
    check "$name: a second run prints something else" cmp -s "$OUT/$name.txt" "$OUT/$name.again.txt"
    boot "$name.replay" 0 --set harts=$harts --replay "$OUT/$name.input" </dev/null
    check "$name: the replay prints something else" cmp -s "$OUT/$name.txt" "$OUT/$name.replay.txt"
done

boot limit 124 --max-insns 1000000 </dev/null
check "limit: no message" grep -q 'stopped after 1000000 instructions' "$OUT/limit.err"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
