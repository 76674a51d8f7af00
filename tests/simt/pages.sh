#!/bin/bash
# Virtual addresses of threads on machine gpu (--env kernel): pages.sh CROFT. Counts of TLB misses, page walks and faults
# against numbers derived by hand, results against qemu-riscv64, faults by name. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
scratch
cd "$work" || exit 1

cat >pages.c <<'END'
#include <croft/roi.h>
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct work { volatile char *bytes; long pages, rounds, sum; volatile long seen, go; };
static struct work w;

static void each(struct work *p) /* a thread touches each page in turn */
{
    long sum = 0;
    for (long r = 0; r < p->rounds; r++)
        for (long i = 0; i < p->pages; i++)
            sum += p->bytes[i * PAGE];
    p->sum = sum;
}

static void lanes(struct work *p) /* each thread touches a page of its own */
{
    p->bytes[(long)thread_id() * PAGE] += 1;
}

static void tell(struct work *p)
{
    p->bytes[8 * PAGE] = 1;
    p->seen = 1;
}

static void say(struct work *p) /* calls that need pages, and calls of the kernel */
{
    char *own = malloc(300000);
    memset(own, 'a', 300000);
    free(own);
    if (write(1, (const char *)p->bytes + 20 * PAGE, 3 * PAGE) != 3 * PAGE || write(1, (void *)16, 4) != -1)
        p->sum = -1;
}

static void revoked(struct work *p)
{
    p->bytes[5] = 1;
    p->seen = 1;
    while (!p->go)
        simt_pause();
    if (thread_x() == 7)
        p->bytes[5] = 2; /* there */
}

static void wrong(struct work *p)
{
    if (thread_x() == 7 && block_x() == 3)
        p->bytes[5] = 1; /* here */
}

/* Linux's mmap and mprotect, for which the C library has no functions. */
static long call(long number, long a, long b, long c, long d, long e, long f)
{
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a3 __asm__("a3") = d,
                  a4 __asm__("a4") = e, a5 __asm__("a5") = f, a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return a0;
}

static void *take(long pages)
{
    long at = call(222, 0, pages * PAGE, 3, 0x22, -1, 0); /* private, anonymous, to read and write */
    if (at < 0)
        exit(1);
    return (void *)at;
}

#define RUN(...) (simt_launch(__VA_ARGS__) < 0 || simt_wait(0) != 0 ? exit(1) : (void)0)

int main(int argc, char **argv)
{
    const char *what = argv[1];
    w.pages = argc > 2 ? atol(argv[2]) : 64;
    w.rounds = argc > 3 ? atol(argv[3]) : 1;
    w.bytes = take(w.pages);
    if (what[0] == 'p') /* present pages */
        memset((void *)w.bytes, 1, (size_t)w.pages * PAGE);
    croft_roi_begin("threads");
    if (!strcmp(what + 1, "each")) {
        RUN(each, &w, simt_dim(1), simt_dim(1));
    } else if (!strcmp(what + 1, "lanes")) {
        RUN(lanes, &w, simt_dim((unsigned)w.pages / 64), simt_dim(64));
    } else if (!strcmp(what + 1, "tell")) {
        simt_launch(tell, &w, simt_dim(1), simt_dim(1));
        while (!w.seen) /* no call, so the kernel gets to the page by interrupt only */
            ;
        simt_wait(0);
    } else if (!strcmp(what + 1, "say")) {
        RUN(say, &w, simt_dim(2), simt_dim(2));
    } else if (!strcmp(what + 1, "revoke")) { /* a page that becomes read-only while a thread waits */
        simt_launch(revoked, &w, simt_dim(4), simt_dim(32));
        while (!w.seen)
            ;
        call(226, (long)w.bytes, PAGE, 1, 0, 0, 0);
        w.go = 1;
        simt_wait(0);
    } else if (!strcmp(what + 1, "null")) {
        w.bytes = NULL;
        RUN(wrong, &w, simt_dim(8), simt_dim(32));
    } else { /* a page that becomes read-only between two launches */
        RUN(wrong, &w, simt_dim(8), simt_dim(32));
        call(226, (long)w.bytes, PAGE, 1, 0, 0, 0);
        RUN(wrong, &w, simt_dim(8), simt_dim(32));
    }
    croft_roi_end("threads");
    for (long i = 0; i < w.pages; i++)
        w.sum += w.bytes[i * PAGE];
    printf("%ld\n", w.sum);
}
END
"$croft" cc -O2 -g pages.c -o pages || exit 1
line=$(grep -n '/\* here' pages.c | cut -d: -f1)

# counts NAME: the value of a statistic of the region "threads", one multiprocessor, in stats.json.
counts() {
    awk -v name="\"$1\":" '/"regions"/ { region = 1 } region && $1 == name { sub(/,/, "", $2); print $2; exit }' stats.json
}

# runs WHAT [OPTION... --] [ARGUMENT...]: the program under the kernel gives qemu's output.
runs() {
    local what=$1 options=()
    shift
    while [[ ${1:-} == --* ]]; do
        if [ "$1" = -- ]; then shift; break; fi
        options+=("$1" "$2")
        shift 2
    done
    qemu-riscv64 ./pages "$what" "$@" >wanted
    timeout 60 "$croft" run -m gpu --env kernel --set simt.count=1 "${options[@]}" --stats stats.json ./pages "$what" "$@" \
        >output 2>errors
    check "$what $*: the status" test $? -eq 0
    check "$what $*: qemu's output" cmp -s output wanted
}
evidence() { cat errors; }

is() { check "$1 is $(counts "$1"), not $2" test "$(counts "$1")" -eq "$2"; }

# Each page is walked to once, by three reads of a three-level table (Sv39); so is the one page of `w` and the state of
# threads, or the two. A second and third touch of up to 128 pages, less these, hit in the first level.
runs peach 64
extra=$(($(counts simt.tlb.walks) - 64))
check "the program's own pages are 1 to 3, not $extra" test "$extra" -ge 1 -a "$extra" -le 3
is simt.tlb.walk_reads $((3 * (64 + extra)))
runs peach 120 3
is simt.tlb.walks $((120 + extra))
is simt.0.tlb.misses $((120 + extra))
is simt.tlb.hits 0
is simt.tlb.faults 0
# 400 pages exceed the first level, which holds the 128 last ones, so each touch misses there, but fit into the second.
runs peach 400 3
is simt.tlb.walks $((400 + extra))
check "the first level misses each touch" test "$(counts simt.0.tlb.misses)" -ge 1200
check "the second level serves two rounds" test "$(counts simt.tlb.hits)" -ge 800
# 1024 pages in turn exceed both, of least recently used pages.
runs peach 1024 2
check "walks for each touch" test "$(counts simt.tlb.walks)" -ge 2048
# A line of the walk cache holds 16 entries, so reads of the third level miss once in 16 walks.
check "walks hit in the walk cache" test "$(counts simt.walk_cache.misses)" -le $((2 * 1024 / 16 + 8))
# 64 lanes miss at once: 64 walks, and with one walker they take longer.
runs planes 64
is simt.tlb.walks $((64 + extra))
wide=$(counts simt.busy)
runs planes --set simt.walkers=1 -- 64
is simt.tlb.walks $((64 + extra))
check "one walker takes longer" test "$(counts simt.busy)" -gt "$wide"
runs planes --set simt.tlb.l2_entries=0 --set simt.tlb.l2_ways=0 -- 64
is simt.tlb.walks $((64 + extra))

# Pages that nobody has touched: each is faulted in once, after a walk that ends at none.
runs aeach 32
is simt.tlb.faults 32
is simt.tlb.walks $((2 * 32 + extra))
runs alanes 128
is simt.tlb.faults 128
runs atell 16
check "the kernel was interrupted" test "$(counts simt.tlb.faults)" -ge 1
runs asay 64

# Time under the kernel is at least the time without it.
for what in peach planes; do
    "$croft" run -m gpu --set simt.count=1 --stats stats.json ./pages $what 256 >output 2>errors
    user=$(counts simt.busy)
    "$croft" run -m gpu --set simt.count=1 --env kernel --stats stats.json ./pages $what 256 >output 2>errors
    check "$what takes $(counts simt.busy) fs under the kernel, $user without" test "$(counts simt.busy)" -ge "$user" -a "$user" -gt 0
done

# Walks find their way without a second level, without a crossbar, and in each of several stacks.
cat >stacks.yaml <<'END'
extends: gpu
simt: none
dram: none
crossbar: {out: "link.*"}
stack:
  kind: group
  count: 2
  simt: {count: 2, memory: crossbar}
  crossbar: {}
  dram: {standard: hmc_tom}
link: {kind: link, count: 2, to: "stack[i].crossbar", request_bandwidth: 80 GB/s}
peer:
  kind: link
  count: 2
  from: "stack[i].crossbar"
  to: "stack[1-i].crossbar"
END
for options in "--set simt.l2=none" "--set simt.l2=none --set simt.crossbar=none" "--set simt.crossbar=none --set simt.l2.slices=1"; do
    # shellcheck disable=SC2086
    runs planes $options -- 128
    is simt.tlb.walks $((128 + extra))
done
# 8 blocks of 64 threads on 4 multiprocessors: half of the pages in each stack.
qemu-riscv64 ./pages planes 512 >wanted
"$croft" run -m stacks.yaml --env kernel --stats stats.json ./pages planes 512 >output 2>errors
check "stacks: qemu's output" cmp -s output wanted
for i in 0 1; do
    is "stack.$i.simt.tlb.walks" $((256 + extra))
done

# Faults name the thread, its block, the line and the reason.
for what in anull aread; do
    "$croft" run -m gpu --env kernel ./pages $what >output 2>errors
    check "$what: the status" test $? -eq 139
    check "$what: the thread" grep -q 'in thread (7, 0, 0) of block (3, 0, 0) of launch' errors
    check "$what: the line" grep -q "pages.c:$line" errors
done
timeout 60 "$croft" run -m gpu --env kernel ./pages prevoke >output 2>errors
check "a revoked permission: the status" test $? -eq 139
check "a revoked permission: the thread" grep -q 'in thread (7, 0, 0) of block' errors
check "a revoked permission: the line" grep -q "pages.c:$(grep -n '/\* there' pages.c | cut -d: -f1)" errors
check "the reason" grep -q 'which is read-only' errors

# Runs repeat to the byte.
for i in 1 2; do
    "$croft" run -m gpu --env kernel --stats "$i.json" ./pages alanes 256 >output 2>errors
done
check "statistics repeat" cmp -s <(without_host 1.json) <(without_host 2.json)
conclude
