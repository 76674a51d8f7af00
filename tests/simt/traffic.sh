#!/bin/bash
# Memory traffic of kernels on machine gpu, against bounds derived by hand: traffic.sh CROFT EXAMPLES, the folder of
# the compiled kernels of examples/simt. A bound is the bytes that the kernel's data need, counted below, times a
# factor, plus 64 KB for code's constants, arguments, and lines that the host's caches write meanwhile. Thread stacks
# and barriers need none. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1") examples=$(realpath "$2")
scratch
cd "$work" || exit 1

# moves NAME BYTES PERCENT PROGRAM ARGUMENT...: the region's bursts of 64 bytes must not exceed PERCENT of BYTES.
moves() {
    local name=$1 bound=$(($2 * $3 / 100 + 65536)) moved
    shift 3
    if ! "$croft" run -m gpu --stats stats.json "$@" >output 2>&1; then
        fail "$name: the program failed" "$(cat output)"
        return
    fi
    moved=$(awk '/"regions"/ { region = 1 } region && /"dram\.(reads|writes)": / { gsub(/[^0-9]/, "", $2); sum += 64 * $2 } END { print sum + 0 }' stats.json)
    if [ "$moved" -gt 0 ] && [ "$moved" -le "$bound" ]; then
        pass
    else
        fail "$name: $moved bytes, allowed: up to $bound"
    fi
}

cat >kernels.c <<'END'
#include <croft/roi.h>
#include <croft/simt.h>
#include <stdlib.h>
#include <string.h>

struct work { long words, bad; };

enum { COUNT = 1 << 20 };
_Alignas(128) int values[COUNT]; /* the compiler does not know its contents */

static void empty(struct work *w)
{
    (void)w;
}

/* Sums that live in registers over barriers. */
static void meet(struct work *w)
{
    uint64_t a = thread_x(), b = block_x(), c = thread_id(), d = 1;
    for (long i = 0; i < w->words; i++) {
        a += b, b ^= c, c += d, d += a;
        simt_barrier();
    }
    if (a + b + c + d == 0)
        w->bad = 1;
}

/* Fills words of the stack and adds them up. */
static void fill(struct work *w)
{
    volatile long own[64];
    long sum = 0, id = (long)thread_id();
    for (long i = 0; i < w->words; i++)
        own[i] = id + i;
    for (long i = w->words; i-- > 0;)
        sum += own[i];
    if (sum != w->words * id + w->words * (w->words - 1) / 2)
        w->bad = 1;
}

/* Reads all values. */
static void read_all(struct work *w)
{
    int sum = 0;
    for (long i = (long)thread_id(); i < COUNT; i += (long)thread_count())
        sum |= values[i];
    if (sum)
        w->bad = 1;
}

int main(int argc, char **argv)
{
    static struct work work;
    struct simt_dim grid = simt_dim((uint32_t)atoi(argv[2])), block = simt_dim((uint32_t)atoi(argv[3]));
    work.words = argc > 4 ? atol(argv[4]) : 0;
    croft_roi_begin("kernel");
    if ((!strcmp(argv[1], "empty")  ? simt_launch(empty, &work, grid, block)
         : !strcmp(argv[1], "meet") ? simt_launch(meet, &work, grid, block)
                                    : simt_launch(fill, &work, grid, block)) < 0)
        return 1;
    if (!strcmp(argv[1], "fill+read") && simt_launch(read_all, &work, grid, block) < 0)
        return 1;
    simt_wait(0);
    croft_roi_end("kernel");
    return work.bad != 0;
}
END
"$croft" cc -O2 -std=c17 kernels.c -o kernels || exit 1

# No data. Three stores of 8 bytes by each of 384,000 threads would be 9.2 MB.
moves "empty, 1500 blocks of 256" 0 100 ./kernels empty 1500 256
moves "100 barriers" 0 100 ./kernels meet 60 256 100
# 8 bytes * 4 words * 153,600 threads = 4.9 MB of stacks, of which 8 blocks * 15 are alive at a time. They are
# 8 warps * 4 words * 256 bytes each, so those of a multiprocessor exceed its first level of 32 KiB, and all of
# them, 983,040 bytes, fit into the second level of 1 MiB.
moves "4 words of stack, 600 blocks" 0 100 ./kernels fill 600 256 4
# 100 threads: the last warp of 4 lanes stores a quarter of each line. Read from memory first, these lines were 528,960
# bytes.
moves "8 words of stack, 600 blocks of 100 threads" 0 100 ./kernels fill 600 100 8
# A launch that reads 4 MiB after it: its lines displace none of the stacks that the caches hold, because they were
# dropped. Otherwise those that have left the first level, 366,976 bytes, are written.
moves "4 words of stack, 600 blocks, then 4 MiB read" 4194304 101 ./kernels fill+read 600 256 4

# The kernels' data: arrays that are read once, or read and written within the second level of 1 MiB. The factor
# is for lines that are written in part because arrays do not begin at a line, and then read first.
moves "reduction: 16384 floats" 65536 110 "$examples/reduction"
moves "scalar_product: 48 pairs of vectors of 1024 floats" 393216 110 "$examples/scalar_product"
moves "walsh: 8192 floats" 32768 110 "$examples/walsh"
moves "vector_add: two arrays read and one written of 65536 floats" 786432 110 "$examples/vector_add"
moves "stencil: two cubes of 32 * 32 * 32 floats" 262144 110 "$examples/stencil" 32
moves "lud: 64 * 64 floats" 16384 110 "$examples/lud"

conclude
