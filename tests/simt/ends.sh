#!/bin/bash
# Launches that end early, on the functional machine, beneath the kernel and on machine gpu, and the progress line
# while they run: ends.sh CROFT. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
scratch

cat >"$work/ends.c" <<'END'
#include <croft/simt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int stop;
static int done[1];

static void spin(int *p)
{
    while (!stop)
        simt_pause();
    *p = 1;
}

static void nothing(int *p)
{
    (void)p;
}

static void slow(int *p)
{
    for (volatile int i = 0; i < 100000; i++)
        ;
    *p = 2;
}

static void trap(int *p)
{
    for (volatile int i = 0; i < 1000; i++)
        ;
    if (thread_x() == 5)
        *(volatile int *)8 = *p;
}

static int down(int n, volatile int *where)
{
    volatile int frame[20] = {n};
    return down(n + frame[0], frame) + *where;
}

static void deep(int *p) /* only one thread's stack overflows, into its neighbour's or, of thread 0, below all */
{
    if (thread_x() == (unsigned)*p && block_x() == 1)
        *p = down(1, p);
}

static void beyond(int *p)
{
    int *shared = simt_shared();
    *p = shared[simt_shared_size() / 4];
}

static void highest(volatile int *p)
{
    *p = *(volatile char *)UINTPTR_MAX;
}

int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    if (!strcmp(what, "spin")) {
        simt_launch(spin, done, simt_dim(1), simt_dim(32));
    } else if (!strcmp(what, "waits")) {
        simt_launch(nothing, done, simt_dim(1), simt_dim(1));
        simt_launch(spin, done, simt_dim(3, 2), simt_dim(32));
        simt_wait(2);
    } else if (!strcmp(what, "trap")) {
        simt_launch(nothing, done, simt_dim(1), simt_dim(1));
        simt_launch(trap, done, simt_dim(1), simt_dim(32));
        for (int i = 0; i < 10; i++)
            simt_launch(nothing, done, simt_dim(1), simt_dim(1));
    } else if (!strcmp(what, "once")) {
        simt_launch(nothing, done, simt_dim(1), simt_dim(1));
    } else if (!strcmp(what, "beyond")) {
        simt_launch(beyond, done, simt_dim(1), simt_dim(1), .scratchpad = 256);
    } else if (!strcmp(what, "highest")) {
        simt_launch(highest, done, simt_dim(1), simt_dim(32));
    } else if (!strcmp(what, "deep") || !strcmp(what, "low")) {
        done[0] = !strcmp(what, "deep") ? 13 : 0;
        simt_launch(deep, done, simt_dim(2), simt_dim(32));
    } else if (!strcmp(what, "many")) {
        for (int i = 1; i <= 1100; i++) {
            if (i == 500 && simt_launch(nothing, done, simt_dim(1), simt_dim(1 << 20)) != -1)
                abort();
            if ((i == 1 ? simt_launch(slow, done, simt_dim(1), simt_dim(1))
                        : simt_launch(nothing, done, simt_dim(1), simt_dim(1))) != i)
                abort();
        }
    }
    puts(simt_wait(0) == 0 ? "ended" : "not ended");
    return 0;
}
END
"$croft" cc -O2 -std=c17 "$work/ends.c" -o "$work/ends" || exit 1

# try STATUS MESSAGE COMMAND...: checks the command's exit status and that its output contains MESSAGE.
try() {
    local expected=$1 message=$2 status=0
    shift 2
    timeout -k 1 600 "$@" >"$work/output" 2>&1 || status=$?
    if [ "$status" -eq "$expected" ] && grep -qF -e "$message" "$work/output"; then
        pass
    else
        fail "${*:2}: status $status, expected $expected and: $message" "$(cat "$work/output")"
    fi
}

for machine in "--set simt.count=2" "--env kernel --set simt.count=2" "-m gpu --set simt.count=2" "-m gpu --env kernel --set simt.count=2"; do
    # shellcheck disable=SC2086
    run() { try "$1" "$2" "$croft" run $machine "${@:4}" "$work/ends" "$3"; }
    # shellcheck disable=SC2086
    try 130 "stopped by SIGINT" timeout --preserve-status -s INT 1 "$croft" run $machine "$work/ends" spin
    run 124 "(--max-insns)" spin --max-insns 200000
    # What the program waits for: without a clock, a launch ends within its call.
    case $machine in
    *gpu*) calls=wait options=("--max-insns 200000" "--max-time 200us") ;;
    *) calls=launch options=("--max-insns 200000") ;;
    esac
    for option in "${options[@]}"; do
        # shellcheck disable=SC2086
        run 124 "(${option% *})" waits $option
        check "$option: the launch" grep -qE "^  the program waits in simt_$calls\(2?\) for launch 2: spin" "$work/output"
        check "$option: its blocks" grep -qE '^    3 x 2 x 1 blocks of 32 x 1 x 1 threads: 6 of 6 blocks have not ended, [05] of these not begun$' "$work/output"
        check "$option: its threads" grep -qE '^    [0-9]+ threads at 0x[0-9a-f]+, spin' "$work/output"
    done
    run 139 "thread (5, 0, 0) of block (0, 0, 0) of launch 2," trap
    run 0 "ended" many
    run 139 "beyond the end of the block's scratchpad" beyond
    run 139 "load of 1 bytes from 0xffffffffffffffff" highest
    for what in deep low; do
        run 139 "stack overflow: sp is" $what
        check "$what: the thread" grep -q "in thread ($([ $what = deep ] && echo 13 || echo 0), 0, 0) of block (1, 0, 0)" "$work/output"
        check "$what: the function" grep -q ' down+' "$work/output"
    done
    run 0 "does not see threads" once --log commit:/dev/null
done

# The coherence checker does not watch multiprocessors, which the first launch says, once.
try 0 "warning: --check coherence does not watch multiprocessors" "$croft" run -m gpu --check coherence "$work/ends" many
check "said once" test "$(grep -c coherence "$work/output")" -eq 1
"$croft" run -m gpu "$work/ends" many >"$work/output" 2>&1
check "only with the checker" test "$(grep -c coherence "$work/output")" -eq 0

conclude
