/* Code that is written while it runs, and accesses to pages without permission: each must be seen at once, whatever harts keep of
 * translations. */
#include "calls.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    READ_WRITE = PROT_READ | PROT_WRITE,
    ALL = READ_WRITE | PROT_EXEC,
    READ_EXECUTE = PROT_READ | PROT_EXEC
};

static void *map(void *at, int pages, int rights)
{
    return mmap(at, (size_t)pages * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

/* Writes a function that returns `value`. */
static void emit(volatile uint32_t *at, int value)
{
    at[0] = 0x00000513 | (uint32_t)value << 20; /* li a0, value */
    at[1] = 0x00008067;                         /* ret */
    asm volatile("fence.i" ::: "memory");
}

static long call(void *at)
{
    return ((long (*)(void))at)();
}

static void rewrite(void)
{
    uint32_t *code = map(NULL, 1, ALL);
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        mprotect(code, PAGE, READ_WRITE);
        emit(code, i);
        mprotect(code, PAGE, READ_EXECUTE);
        sum += call(code);
    }
    printf("code that becomes writable: %ld\n", sum);
    mprotect(code, PAGE, ALL);
    for (int i = 0; i < 500; i++) {
        emit(code + i % 7 * 2, i);
        sum += call(code + i % 7 * 2);
    }
    printf("writable code: %ld\n", sum);
    for (int i = 0; i < 50; i++) { /* the same memory with other contents */
        code = map(code, 1, READ_WRITE);
        emit(code, i);
        mprotect(code, PAGE, READ_EXECUTE);
        sum += call(code);
        munmap(code, PAGE);
        char *data = map(NULL, 1, READ_WRITE);
        memset(data, i, PAGE);
        munmap(data, PAGE);
    }
    printf("code where data was: %ld\n", sum);
}

static sigjmp_buf back;
static volatile int code_seen;
static char *volatile address_seen;

static void caught(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    code_seen = info->si_code;
    address_seen = info->si_addr;
    siglongjmp(back, 1);
}

#define TRY(name, base, ...)                                                                                 \
    do {                                                                                                     \
        if (sigsetjmp(back, 1) == 0) {                                                                       \
            __VA_ARGS__;                                                                                     \
            printf("%d %s: done\n", __LINE__, name);                                                         \
        } else {                                                                                             \
            printf("%d %s: SIGSEGV %d at %+ld\n", __LINE__, name, code_seen,                                 \
                   (long)(address_seen - (char *)(base)));                                                   \
        }                                                                                                    \
    } while (0)

static void use(char *page, const char *name)
{
    volatile long *at = (long *)(void *)page;
    long value = 0;
    TRY(name, page, (void)*at);
    TRY(name, page, (void)*(volatile char *)(page + 7));
    TRY(name, page, *at = 5);
    TRY(name, page, __atomic_fetch_add((int *)(void *)page, 1, __ATOMIC_RELAXED));
    TRY(name, page, asm volatile("lr.d %0, (%1)" : "=r"(value) : "r"(page) : "memory"));
    TRY(name, page, asm volatile("fsd fa0, 0(%0)" ::"r"(page) : "memory"));
    TRY(name, page, asm volatile("flw ft0, 0(%0)" ::"r"(page) : "memory", "ft0"));
}

static void permissions(void)
{
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO};
    char *pages = map(NULL, 5, READ_WRITE);
    sigaction(SIGSEGV, &action, NULL);
    strcpy(pages + PAGE, "kept");
    mprotect(pages + PAGE, PAGE, PROT_READ);
    mprotect(pages + 2 * PAGE, PAGE, PROT_NONE);
    munmap(pages + 3 * PAGE, PAGE);
    use(pages, "read and write");
    use(pages + PAGE, "read");
    use(pages + 2 * PAGE, "none");
    use(pages + 3 * PAGE, "unmapped");
    use((char *)0x5000, "low");
    printf("%s\n", pages + PAGE);
    mprotect(pages + 2 * PAGE, PAGE, READ_WRITE);
    use(pages + 2 * PAGE, "none before");
    mprotect(pages + 2 * PAGE, PAGE, PROT_WRITE);
    use(pages + 2 * PAGE, "write alone");
    *(volatile long *)(void *)pages = 77;
    madvise(pages, PAGE, MADV_DONTNEED);
    printf("forgotten: %ld\n", *(volatile long *)(void *)pages);
    /* After many faults all goes on as before. */
    for (volatile int i = 0; i < 3000; i++)
        if (sigsetjmp(back, 1) == 0)
            *(volatile char *)(pages + PAGE) = 1;
    printf("%s\n", pages + PAGE);
    for (int i = 0; i < 4; i++) { /* half of it has a page */
        volatile long *across = (long *)(void *)(pages + 3 * PAGE - 8 + 2 * i);
        TRY("load across the border", across, (void)*across);
        TRY("store across the border", across, *across = -1);
    }
}

int main(void)
{
    rewrite();
    permissions();
    return 0;
}
