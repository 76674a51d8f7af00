/* Fatal errors of a program; argv[1] selects one. run.sh checks status and message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    int value;
};

__attribute__((noinline)) static int walk(const struct node *node, int steps)
{
    if (steps == 0)
        return node->value;
    return walk(node->next, steps - 1) + 1;
}

__attribute__((noinline)) static void jump(unsigned long address)
{
    ((void (*)(void))address)();
    puts("not reached");
}

__attribute__((noinline)) static int recurse(int n)
{
    volatile char bytes[4096];
    bytes[n & 4095] = (char)n;
    return recurse(n + 1) + bytes[1];
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct node last = {NULL, 1};
    if (strcmp(what, "load") == 0)
        return walk(&last, 3);
    if (strcmp(what, "store-double") == 0)
        __asm__ volatile("li a1, 16; fsd fa0, 8(a1)" : : : "a1", "memory");
    if (strcmp(what, "load-end") == 0)
        __asm__ volatile("lw a0, 0(%0)" : : "r"(0xbffffffeul) : "a0");
    if (strcmp(what, "store") == 0)
        *(volatile long *)0x7fffffffffff0000 = 1;
    if (strcmp(what, "store-text") == 0)
        *(volatile int *)(unsigned long)main = 1;
    if (strcmp(what, "jump-null") == 0)
        jump(0);
    if (strcmp(what, "jump-far") == 0)
        jump(0x1234567000);
    if (strcmp(what, "illegal") == 0)
        __asm__ volatile(".4byte 0xffffffff");
    if (strcmp(what, "illegal-short") == 0)
        __asm__ volatile(".2byte 0x0000");
    if (strcmp(what, "break") == 0)
        __asm__ volatile("ebreak");
    if (strcmp(what, "recursion") == 0)
        return recurse(0);
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "no-stack") == 0)
        __asm__ volatile("li sp, 0; li s0, -8; li ra, 3; ld a0, 0(sp)");
    if (strcmp(what, "own-stack") == 0) { /* a stack whose return addresses form a loop */
        static unsigned long ring[64];
        for (int i = 0; i < 64; i++)
            ring[i] = i % 2 ? (unsigned long)ring : (unsigned long)main + 32;
        __asm__ volatile("mv sp, %0; mv s0, %0; mv ra, %1; ld a0, 0(zero)" : : "r"(ring), "r"(main));
    }
    if (strcmp(what, "atomic") == 0)
        __asm__ volatile("li a0, 64; amoadd.d a1, a2, (a0)" : : : "a0", "a1");
    if (strcmp(what, "loop") == 0)
        for (;;)
            __asm__ volatile("");
    if (strcmp(what, "pipe") == 0)
        for (;;)
            puts("a line for a reader that goes away");
    return 0;
}
