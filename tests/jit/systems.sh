#!/bin/bash
# Whole systems interpreted and compiled: their output, messages, status and statistics are the same to the byte, as are snapshots. systems.sh
# CROFT WORKDIR. ALL=1: all programs of tests/firmware, and each region beside steps. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
croft=$(realpath "$1")
here=$(realpath "$(dirname "$0")/..")
work=$(fresh "$2")
cd "$work"
printf 'ab\n' >typed

# build NAME SOURCE [OPTIONS]: a program in machine mode.
build() {
    "$croft" cc --bare -std=gnu17 -O2 "-I$here/firmware" "${@:2}" -lm -o "$1"
}

# run WAY OPTIONS...: all that is to be compared goes to the folder of --jit=WAY.
run() {
    local way=$1 status=0
    shift
    rm -rf "$way"
    mkdir "$way"
    timeout 300 "$croft" run --jit="$way" --stats "$way/stats" "$@" <typed >"$way/stdout" 2>"$way/stderr" || status=$?
    echo "$status" >"$way/status"
    jq 'del(.host)' "$way/stats" >"$way/statistics" 2>/dev/null || :
    rm -f "$way/stats"
}

# same WAY NAME OPTIONS...: interpreted and compiled in this way.
same() {
    local way=$1 name=$2
    shift 2
    run off "$@"
    run "$way" "$@"
    check "$name, --jit=$way" diff -r off "$way"
}

# Programs that check privileged state: changed code, page tables, PMP, and interrupts.
names=(interrupts patch)
[ -z "${ALL:-}" ] || names=(traps illegal status delegation counters fields atomics paging pmp trigger edges interrupts cbo harts patch)
for name in "${names[@]}"; do
    build "$name" "$here/firmware/$name.c" "$here"/firmware/support/{support.c,attempt.S}
    same always "$name" -m virt --set harts=2 --max-insns 10000000 "$name"
    [ -z "${ALL:-}" ] || same check "$name" -m virt --set harts=2 --max-insns 2000000 "$name"
done

# A loop beneath page tables, and one beneath the kernel, which end at this very instruction.
build paged "$here/bench/firmware/paged.c" -DSUPERVISOR=1
"$croft" cc -O2 "$here/bench/queens.c" -o queens
for limit in 20000001 20000002 20000129 23456789; do
    same on "page tables, $limit instructions" -m virt --max-insns "$limit" paged
    same on "beneath the kernel, $limit instructions" --env kernel --max-insns "$limit" queens
    check "$limit instructions, not all" [ "$(cat on/status)" = 124 ]
done

# Code that rewrites itself while it is compiled: a program, a machine without address translation, and the kernel, which refuses it.
"$croft" cc -O2 "$here/bench/hostile/rewrite.c" -o rewrite
build bare_rewrite "$here/bench/hostile/rewrite.c"
for limit in 9000001 9000065; do
    same on "a program that rewrites itself, $limit instructions" --env user --max-insns "$limit" rewrite
    same on "a machine that rewrites itself, $limit instructions" -m virt --max-insns "$limit" bare_rewrite
done
same always "the kernel refuses that" --env kernel rewrite
check "the kernel refuses that, its message" grep -q 'not executable' off/stderr

# Snapshots are the same file, and what is restored goes on compiled as it does interpreted.
build guest "$here/firmware/snapshot/guest.c" "$here"/firmware/support/{support.c,attempt.S}
for at in 333333 700000; do
    for way in off on always; do
        run "$way" -m virt --set harts=2 --save "$way.snapshot" --save-at "$at" guest
    done
    check "saved at $at" cmp off.snapshot on.snapshot
    check "saved at $at, always" cmp off.snapshot always.snapshot
    same on "restored from $at" -m virt --set harts=2 --restore off.snapshot
    same always "restored from $at" -m virt --set harts=2 --restore on.snapshot
    check "restored from $at, to its end" [ "$(cat always/status)" = 7 ]
done

# A signal ends a run in compiled code, too, and its snapshot goes on from there in either way.
cat >loop.c <<'END'
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    uint64_t state = 1;
    puts("ready");
    fflush(stdout);
    for (uint64_t i = 0;; i++) {
        state = state * 6364136223846793005u + i;
        if (i % 100000 == 0) {
            printf("%llx\n", (unsigned long long)state);
            fflush(stdout);
        }
    }
}
END
build loop loop.c
for way in off on always; do
    status=0
    coproc "$croft" run -m virt --jit=$way --save "$way.signal" loop
    pid=$COPROC_PID
    for ((i = 0; i < 20; i++)); do read -r line <&"${COPROC[0]}"; done
    kill -INT "$pid"
    cat <&"${COPROC[0]}" >rest
    wait "$pid" || status=$?
    check "a signal, --jit=$way: status $status after '$line'" [ "$status" = 130 ]
    same on "restored after a signal, --jit=$way" -m virt --restore "$way.signal" --max-insns 3000000
    check "restored after a signal, --jit=$way, goes on" [ "$(wc -l <on/stdout)" -ge 2 ]
done
conclude
