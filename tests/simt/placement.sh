#!/bin/bash
# Numbers of multiprocessors, groups of them, the placement of blocks, and registers: placement.sh CROFT TREE, the description
# tests/machine/stacks.yaml. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1") tree=$(realpath "$2")
scratch
cd "$work" || exit 1

cat >where.c <<'END'
#include <croft/simt.h>
#include <stdio.h>

struct where { int block[20]; };

/* Notes the multiprocessor; formats a number, which needs 3 KiB of stack. */
static void note(struct where *w)
{
    char text[32];
    if (thread_x() == 0) {
        snprintf(text, sizeof text, "%.1f", 2.5 + multiprocessor_id());
        sscanf(text, "%d", &w->block[block_x()]);
    }
}

int main(void)
{
    static struct where w;
    for (int launch = 0; launch < 2; launch++) {
        if (simt_launch(note, &w, simt_dim(20), simt_dim(64)) < 0)
            return 1;
        simt_wait(0);
        for (int i = 0; i < 20; i++)
            printf("%d%c", w.block[i] - 2, i < 19 ? ' ' : '\n');
    }
    return 0;
}
END
"$croft" cc -O2 -std=c17 where.c -o where || exit 1
printf '0-7 0\n8 3\n\nlaunch 2\n0-18 1\n19 0\n' >table

# prints NAME PATTERN OPTION...: the output matches the pattern.
prints() {
    local name=$1 pattern=$2
    shift 2
    "$croft" run "$@" where >output 2>&1
    if grep -qE "$pattern" output; then pass; else fail "$name" "$(cat output)"; fi
}

for count in 64 68; do
    prints "$count multiprocessors" '^[0-9 ]+$' -m gpu --set "simt.count=$count"
done
prints "too large stacks, set by hand" 'stacks of 16384 B for 3072 warps' -m gpu --set simt.count=64 --set "simt.stack=16 KiB"
four=(-m gpu --set simt.count=4)
prints "round robin" '^0 1 2 3 ' "${four[@]}"
prints "contiguous" '^0 0 0 0 0 1 1 1 1 1 2 2 2 2 2 3 3 3 3 3$' "${four[@]}" --set simt.placement=contiguous
prints "table, first launch" '^0 0 0 0 0 0 0 0 3 ' "${four[@]}" --set simt.placement=table --set simt.placement_table=table
prints "table, second launch" '^(1 ){19}0$' "${four[@]}" --set simt.placement=table --set simt.placement_table=table
printf '0 4\n' >table
prints "bad table" '^croft run: simt.placement_table: table:1: "4" is not a multiprocessor; allowed: 0 to 3, ' \
    "${four[@]}" --set simt.placement=table --set simt.placement_table=table
prints "no table" '^croft run: simt.placement_table: missing; simt.placement: table needs' "${four[@]}" --set simt.placement=table

# 8 multiprocessors in front and 4 in each of 4 stacks: 24, so 20 * 8 / 24 = 6 blocks are for the front, and up to 20 *
# 12 / 24 = 10 for the front and the first stack. Those of the stacks have a clock and a cache of their own.
prints "groups" '^([0-7] ){6}((8|9|10|11) ){4}((12|13|14|15) ){3}((16|17|18|19) ){3}((20|21|22|23) ?){4}$' -m "$tree" \
    --set simt.count=8 --set 'stack.*.simt.count=4' --set 'stack.*.simt.clock=700 MHz' --set 'stack.*.simt.l1.size=16 KiB' \
    --set simt.placement=module

# A kernel of 20 registers, as the program says, in blocks of 256 threads: 6 blocks are 48 warps. Determined from the
# code, `pointers` needs two registers of 32 bits for each of four addresses; the float replaces b.
cat >registers.c <<'END'
#include <croft/simt.h>

struct data { float *a, *b, *c, *d; };

static void nothing(struct data *p)
{
    (void)p;
}

static void pointers(struct data *p)
{
    float *a = p->a, *b = p->b, *c = p->c, *d = p->d;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    *a = *b;
    __asm__ volatile("" : : : "memory");
    *c = *d;
}

int main(void)
{
    static float x[4];
    static struct data data = {x, x + 1, x + 2, x + 3};
    simt_launch(nothing, &data, simt_dim(1), simt_dim(256), .registers = 20);
    simt_launch(pointers, &data, simt_dim(1), simt_dim(256));
    for (int i = 0; i < 3; i++)
        simt_launch(nothing, &data, simt_dim(1), simt_dim(256), .registers = 20);
    simt_wait(0);
    return 0;
}
END
"$croft" cc -O2 -std=c17 registers.c -o where || exit 1
prints "registers of the program" \
    '^croft run: launch 1: 20 32-bit registers per thread, as the program says; .* holds 6 blocks of 256 threads, 48 of 48 warps, limited by warps$' \
    -m gpu --verbose
prints "registers of the code" '^croft run: launch 2: 8 32-bit registers per thread \(the compiler.s code names [0-9]+\); ' -m gpu --verbose
told=$("$croft" run -m gpu --verbose where 2>&1 | grep -c "registers per thread")
check "each kernel is described once" test "$told" = 2

conclude
