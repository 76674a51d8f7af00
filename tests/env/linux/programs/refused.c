/* Accesses that fault in code that runs often: where and why, and that they have changed nothing. The argument is the number of rounds. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static sigjmp_buf back;
static uint8_t *base;
static volatile uintptr_t faulted;
static unsigned long sum;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    const uintptr_t place = (uintptr_t)info->si_addr - (uintptr_t)base;
    faulted = 1 + (unsigned long)number;
    if (place < 4 * PAGE) /* elsewhere, and across pages, QEMU's are the host's */
        faulted += 64 * (place / PAGE) + (unsigned long)info->si_code * 1024;
    siglongjmp(back, 1);
}

#define TRY(...)                                                                                             \
    do {                                                                                                     \
        faulted = 1;                                                                                         \
        if (sigsetjmp(back, 1) == 0) {                                                                       \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        sum = sum * 31 + faulted;                                                                            \
    } while (0)

static uint64_t add(uint64_t *at, uint64_t value)
{
    __asm__ volatile("amoadd.d %0, %0, (%1)" : "+r"(value) : "r"(at) : "memory"); /* rd is rs2 */
    return value;
}

/* Loops that only a fault ends; `place` has the last access before it, or what it gave. */
static volatile uint64_t place;

static __attribute__((noinline)) void store_words(volatile uint64_t *p, uint64_t value)
{
    for (;; p++) {
        place = (uint64_t)p - (uint64_t)base;
        *p = value++;
    }
}

static __attribute__((noinline)) void add_words(uint64_t *p, uint64_t value)
{
    for (;; p++)
        place = add(p, value);
}

static __attribute__((noinline)) void add_numbers(volatile double *p)
{
    for (;; p++)
        p[-1] = p[0] + 0.5;
}

static __attribute__((noinline)) void load_bytes(const volatile uint8_t *p)
{
    for (;; p++)
        place += p[-2047] + 1U;
}

/* Stores below the value of a register, alone and beside loads above it. */
static __attribute__((noinline)) void store_below(uintptr_t p, uint64_t value)
{
    for (int i = 0; i < 4; i++, value++)
        __asm__ volatile("sd %1, -2048(%0)\n\tsb %1, -1024(%0)" : : "r"(p), "r"(value) : "memory");
}

static __attribute__((noinline)) void store_beside(uintptr_t p, uint64_t value)
{
    for (int i = 0; i < 4; i++, value++)
        __asm__ volatile("sd %1, -2048(%0)\n\tld t0, 8(%0)" : : "r"(p), "r"(value) : "memory", "t0");
}

/* Stores below address 0 from the same code that has stored elsewhere. */
static void dive(uint64_t value)
{
    const uintptr_t above = (uintptr_t)base + 2 * PAGE, below[] = {16, 2040, 24, 2000};
    for (unsigned i = 0; i < 256; i++) {
        const uintptr_t p = i % 64 == 63 ? below[i / 64] : above;
        TRY(store_below(p, value));
        TRY(store_beside(p, value));
    }
}

/* Walks to the unmapped page. */
static void walk(uint64_t value)
{
    uint64_t *at = (uint64_t *)(base + 2 * PAGE);
    TRY(store_words(at, value));
    sum = sum * 31 + place;
    TRY(add_words(at, value));
    sum = sum * 31 + place;
    TRY(add_numbers((volatile double *)at + 1));
    TRY(load_bytes((uint8_t *)at + 2047));
    sum = sum * 31 + place;
}

int main(int count, char **arguments)
{
    const int rounds = count > 1 ? atoi(arguments[1]) : 0;
    base = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, NULL);
    munmap(base + 3 * PAGE, PAGE);
    uint64_t kept = 0;
    for (int i = 0; i < rounds; i++) {
        volatile uint64_t *words = (volatile uint64_t *)(base + PAGE);
        volatile double *numbers = (volatile double *)(base + PAGE);
        mprotect(base + PAGE, PAGE, i % 3 == 0 ? PROT_NONE : i % 3 == 1 ? PROT_READ : PROT_READ | PROT_WRITE);
        for (int k = 0; k < 4; k++) {
            TRY(words[k] += (uint64_t)i);
            TRY(kept += add((uint64_t *)(base + PAGE + 64), (uint64_t)k + 1));
            TRY(numbers[16 + k] = numbers[20 + k] + 0.5);
            TRY(*(volatile uint16_t *)(base + PAGE + 100) = (uint16_t)i);
            TRY(*(volatile uint8_t *)(base + 3 * PAGE + k) = 1);
            TRY(kept += *(volatile uint32_t *)(base + 3 * PAGE - 2)); /* half of it is there */
            TRY(kept += *(volatile uint32_t *)(base + PAGE - 2));
            TRY(kept += *(volatile uint8_t *)((UINT64_C(1) << 38) - 1 - (uint64_t)k));
            TRY(kept += *(volatile uint64_t *)((UINT64_C(1) << 38) + (uint64_t)k * 8));
            TRY(kept += *(volatile uint64_t *)(UINT64_MAX - 7 - (uint64_t)k * 8));
            TRY(kept += *(volatile uint64_t *)(uintptr_t)((uint64_t)k * 8));
            sum = sum * 31 + kept;
        }
        walk((uint64_t)i);
        dive((uint64_t)i);
    }
    mprotect(base + PAGE, PAGE, PROT_READ);
    for (int i = 0; i < 3 * PAGE; i++)
        sum = sum * 31 + base[i];
    printf("%lu %lu\n", sum, (unsigned long)kept);
    return 0;
}
