/* Regions with a forbidden operation, or none: wrongs WHAT. The host can run them, too. */
#include <croft/nucd.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Alignas(64) long lines[8 * 8];
static const char *const words[] = {"text",  "rodata", "amo",       "call",  "clock",     "deep",     "hang",
                                    "hangs", "spin",   "malformed", "leave", "leave_far", "jump_out", "jump"};
enum what {
    TEXT,
    RODATA,
    AMO,
    CALL,
    CLOCK,
    DEEP,
    HANG,
    HANGS,
    SPIN,
    MALFORMED,
    LEAVE,
    LEAVE_FAR,
    JUMP_OUT,
    JUMP,
    FINE
};

int main(int argc, char **argv);

static __attribute__((noinline)) long descend(long depth)
{
    volatile long frame[64];
    for (long i = 0; i < 64; i++)
        frame[i] = depth;
    return depth == 0 ? frame[63] : frame[0] - depth + descend(depth - 1);
}

static long count(void)
{
    long cycles, time, instructions;
    __asm__ volatile("rdcycle %0\n rdtime %1\n rdinstret %2" : "=r"(cycles), "=r"(time), "=r"(instructions));
    return (cycles | time | instructions) != 0;
}

static void wait_for_ever(void)
{
    for (;;)
        __asm__ volatile("");
}

/* Jumps to the next instruction as a return does. On the host, that changes nothing. */
static inline __attribute__((always_inline)) void pretend_return(void)
{
    __asm__ volatile("lla t0, 1f\n jr t0\n1:" : : : "t0");
}

static jmp_buf outside;

static __attribute__((noinline)) void jump_from(jmp_buf *to, long depth)
{
    if (depth == 0)
        longjmp(*to, 3);
    jump_from(to, depth - 1);
    __asm__ volatile("" : : : "memory"); /* no tail call */
}

/* Jumps within the region, from a function to one that it calls and back. */
static __attribute__((noinline)) long jump_within(void)
{
    jmp_buf here;
    volatile long sum = 0;
    for (volatile long i = 1; i < 4; i++) {
        int got = setjmp(here);
        sum += got;
        if (got == 0)
            jump_from(&here, i);
    }
    return sum;
}

CROFT_REGION(act, CROFT_INOUT(long *, p, 64), CROFT_VALUE(enum what, what), CROFT_VALUE(const void *, target))
{
    long old;
    p[0]++;
    switch (what) {
    case TEXT:
    case RODATA: *(volatile int *)(uintptr_t)target = 0; break;
    case AMO:
        __asm__ volatile("amoadd.d %0, %1, (%2)" : "=r"(old) : "r"(1l), "r"((char *)p + 4) : "memory");
        break;
    case CALL: p[1] = write(1, "", 0); break;
    case CLOCK: p[1] = count(); break;
    case DEEP: p[1] = descend(100); break;
    case LEAVE: pretend_return(); break;
    case JUMP_OUT: jump_from(&outside, 3); break;
    case JUMP: p[1] = jump_within(); break;
    case LEAVE_FAR:
        pretend_return();
        for (long i = 0; i < 1000; i++) /* some batches of instructions */
            p[1] += i;
        break;
    case HANG:
    case HANGS: wait_for_ever(); break;
    default: break;
    }
}

CROFT_REGION(malformed, CROFT_OUT(char *, p, size), CROFT_VALUE(unsigned long, size))
{
    if (size)
        p[0] = 5;
}

int main(int argc, char **argv)
{
    enum what what = 0;
    while (what < FINE && (argc < 2 || strcmp(argv[1], words[what]) != 0))
        what++;
    puts("before");
    fflush(stdout);
    if (setjmp(outside))
        return 7;
    for (long i = 0; i < 8; i++) {
        enum what now = what == HANGS || i == 5 ? what : FINE;
        act(lines + 8 * i, now, what == TEXT ? (const void *)main : words);
    }
    if (what == SPIN)
        wait_for_ever();
    if (what == MALFORMED)
        malformed((char *)lines, -1ul); /* longer than any segment */
    for (long i = 0; i < 8; i++)
        printf("%ld ", lines[8 * i]);
    printf("%ld\n", lines[41]);
}
