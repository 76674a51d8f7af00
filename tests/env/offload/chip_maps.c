/* Processes of Linux that map chips of AxRAM, give parts back, and end in each state, by the device itself. Each case is a process of its
 * own, and says what it has seen. */
#define _GNU_SOURCE
#include <croft/axram.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/linux/axram_device.h"

enum { PAGE = 4096, WORDS = CROFT_AXRAM_WORDS, FLOATS = 2 };

struct chips {
    struct axram_chips answer;
    char *memory;
};

static int take(int device, uint32_t count, struct axram_chips *answer)
{
    *answer = (struct axram_chips){.count = count};
    return ioctl(device, AXRAM_TAKE, answer) ? errno : 0;
}

/* Takes chips and maps all of accelerator memory at its physical address. */
static struct chips begin(uint32_t count)
{
    struct chips chips;
    const int device = open("/dev/axram", O_RDWR | O_CLOEXEC);
    if (device < 0 || take(device, count, &chips.answer)) {
        perror("/dev/axram");
        exit(1);
    }
    chips.memory = mmap((void *)(uintptr_t)chips.answer.base, chips.answer.size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE, device, 0);
    if (chips.memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    close(device);
    return chips;
}

static void pause_for(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * microseconds}, NULL);
}

static pid_t start(void (*run)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run();
        exit(0);
    }
    pause_for(2000);
    return child;
}

static int end(pid_t child, int number)
{
    int status;
    if (number)
        kill(child, number);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whether `count` chips are free. */
static int is_free(uint32_t count)
{
    struct axram_chips answer;
    const int device = open("/dev/axram", O_RDWR | O_NONBLOCK);
    const int status = take(device, count, &answer);
    close(device);
    return status == 0;
}

static sigjmp_buf back;

static void come_back(int number)
{
    siglongjmp(back, number);
}

/* Returns the signal of a store, or 0. */
static int touch(volatile char *at)
{
    const int number = sigsetjmp(back, 1);
    if (number == 0)
        *at = 1;
    return number;
}

static void catch_all(void)
{
    const struct sigaction action = {.sa_handler = come_back};
    const int numbers[] = {SIGSEGV, SIGBUS, SIGILL};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

static int error_of(const void *mapped)
{
    return mapped == MAP_FAILED ? errno : 0;
}

/* What the device refuses. */
static void refused(void)
{
    struct axram_chips answer;
    int device = open("/dev/axram", O_RDWR | O_NONBLOCK), second = open("/dev/axram", O_RDWR | O_NONBLOCK);
    char *memory;
    printf("%d %d %d", take(device, 13, &answer), take(device, UINT32_MAX, &answer),
           ioctl(device, AXRAM_TAKE, (void *)8) ? errno : 0);
    printf(" %d", ioctl(device, _IO('A', 0x61), 0) ? errno : 0);
    printf(" %d %d %d", take(device, 7, &answer), take(device, 1, &answer), take(second, 6, &answer));
    take(second, 5, &answer);
    printf(" %u\n", answer.first);
    close(second);
    const uint64_t size = answer.size, turn = answer.piece * answer.all;
    char *const place = (char *)(uintptr_t)answer.base;
    const int both = PROT_READ | PROT_WRITE;
    printf("%d", error_of(mmap(place, PAGE, both, MAP_PRIVATE | MAP_FIXED, device, 0)));
    printf(" %d", error_of(mmap(place, PAGE, both | PROT_EXEC, MAP_SHARED | MAP_FIXED, device, 0)));
    printf(" %d", error_of(mmap(place, size + PAGE, both, MAP_SHARED | MAP_FIXED, device, 0)));
    printf(" %d", error_of(mmap(place, PAGE, both, MAP_SHARED | MAP_FIXED, device, (off_t)size)));
    printf(" %d", error_of(mmap(place, PAGE, both, MAP_SHARED | MAP_FIXED, device, -PAGE)));
    printf(" %d", error_of(mmap(place + PAGE, PAGE, both, MAP_SHARED | MAP_FIXED, device, 0)));
    memory = mmap(place, turn, both, MAP_SHARED | MAP_FIXED, device, 0);
    printf(" %d", error_of(memory));
    printf(" %d", mprotect(memory, PAGE, both | PROT_EXEC) ? errno : 0);
    printf(" %d", error_of(mremap(memory, turn, turn + PAGE, MREMAP_MAYMOVE)));
    printf(" %d", error_of(mremap(memory, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place + turn + PAGE)));
    printf(" %d\n", error_of(mremap(memory, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place + 2 * turn)));
    catch_all();
    printf("%d %d %d", touch(memory), touch(memory + PAGE), touch(place + 2 * turn));
    printf(" %d\n", touch(memory + answer.piece * 7));
}

/* The memory is mapped before the chips are taken. */
static void early(void)
{
    struct axram_chips answer;
    int device = open("/dev/axram", O_RDWR);
    catch_all();
    char *const place = (char *)(uintptr_t)croft_axram_query(CROFT_AXRAM_BASE);
    char *memory = mmap(place, 1 << 18, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device, 0);
    printf("%d", touch(memory));
    take(device, 1, &answer);
    printf(" %d %d\n", touch(memory), place == (char *)(uintptr_t)answer.base);
}

/* A part is unmapped and protected: the rest stays, and so do the chips until all is unmapped. */
static void parts(void)
{
    struct chips chips = begin(12);
    uint32_t *words = (uint32_t *)chips.memory;
    catch_all();
    memset(chips.memory, 1, 4 * PAGE);
    munmap(chips.memory + PAGE, PAGE);
    mprotect(chips.memory + 2 * PAGE, PAGE, PROT_READ);
    printf("%d %d %d %d", touch(chips.memory), touch(chips.memory + PAGE), touch(chips.memory + 2 * PAGE),
           touch(chips.memory + 3 * PAGE));
    /* by the chip: from and to what is left, what is gone, and what may be read */
    volatile unsigned signals = 0;
    for (volatile unsigned page = 0; page < 4; page++) {
        const int number = sigsetjmp(back, 1);
        uint32_t *const at = words + page * PAGE / sizeof *words;
        if (number) {
            signals = signals * 100 + (unsigned)number;
            continue;
        }
        memcpy(words + 3 * PAGE / 4, (const uint32_t[8]){0x4e4e5841, FLOATS | 1u << 8, 1 | 1u << 8, 1},
               8 * sizeof *words);
        croft_axram_config(words + 3 * PAGE / 4, words + 3 * PAGE / 4 + 4 * WORDS);
        croft_axram_initiate(words, words + WORDS);
        croft_axram_wrt_res(at, at + WORDS);
        signals = signals * 100;
    }
    printf(" %08u", signals);
    munmap(chips.memory, PAGE);
    munmap(chips.memory + 2 * PAGE, chips.answer.size - 3 * PAGE);
    printf(" %d", is_free(1));
    munmap(chips.memory, chips.answer.size);
    printf(" %d\n", is_free(12));
}

/* A child has its parent's mapping, and the chips while it lives. */
static int told[2], asked[2];

static void inherit(void)
{
    struct chips chips = begin(12);
    char c = 0;
    chips.memory[5] = 42;
    if (fork() != 0)
        _exit(0);
    chips.memory[6] = 1;
    if (write(told[1], chips.memory + 5, 1) != 1 || read(asked[0], &c, 1) != 1)
        exit(1);
    exit(0);
}

static void heirs(void)
{
    char c = 0;
    if (pipe(told) || pipe(asked))
        return;
    pid_t parent = start(inherit);
    if (read(told[0], &c, 1) != 1)
        return;
    printf("%d %d %d", end(parent, 0), c, is_free(1));
    fflush(stdout);
    if (write(asked[1], "", 1) != 1)
        return;
    for (int i = 0; i < 100 && !is_free(12); i++)
        pause_for(100);
    printf(" %d\n", is_free(12));
}

/* Those who wait are killed, or get a signal, or get their turn. */
static void hold(void)
{
    (void)begin(12);
    pause();
}

static void hold_some(void)
{
    (void)begin(6);
    pause();
}

static void take_and_leave(void)
{
    struct chips chips = begin(12);
    exit(chips.memory[0]);
}

static void nothing(int number)
{
    (void)number;
}

static void wait_interrupted(void)
{
    struct axram_chips answer;
    const struct sigaction action = {.sa_handler = nothing};
    const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    int device = open("/dev/axram", O_RDWR), first;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    first = take(device, 12, &answer);
    exit(first == EINTR && take(device, 12, &answer) == 0 ? 3 : 4);
}

static void waits(void)
{
    pid_t holder = start(hold), first = start(hold), second = start(wait_interrupted),
          third = start(take_and_leave), fourth = start(hold_some);
    printf("%d", end(first, SIGKILL));
    printf(" %d", end(holder, SIGKILL));
    printf(" %d %d", end(second, 0), end(third, 0));
    pause_for(2000);
    printf(" %d %d", is_free(7), is_free(6));
    printf(" %d %d\n", end(fourth, SIGTERM), is_free(12));
}

/* A process uses the network of the last one, whose hidden results the chip writes to memory that the process has not touched. Nobody finds
 * them. */
enum { INPUTS = 16, HIDDEN = 32, OUTPUTS = 2, WEIGHTS = INPUTS * HIDDEN + HIDDEN * OUTPUTS };
enum { NETWORK = 1 << 17, BLOCKS = 1 + WEIGHTS / 4 + HIDDEN + 2 };

static void configure(void)
{
    struct chips chips = begin(12);
    uint32_t *words = (uint32_t *)(chips.memory + NETWORK);
    const uint32_t header[4] = {0x4e4e5841, FLOATS | 2u << 8, INPUTS | HIDDEN << 8 | OUTPUTS << 16, WEIGHTS};
    memcpy(words, header, sizeof header);
    croft_axram_config(words, words + BLOCKS * WORDS);
}

static void use(void)
{
    struct chips chips = begin(12);
    uint32_t *words = (uint32_t *)(chips.memory + NETWORK), *in = (uint32_t *)chips.memory,
             *out = in + INPUTS * WORDS;
    const float one = 1;
    for (unsigned i = 0; i < (1 + WEIGHTS / 4) * WORDS; i++)
        memcpy(words + i, &one, sizeof one);
    for (unsigned i = 0; i < INPUTS * WORDS; i++)
        memcpy(in + i, &one, sizeof one);
    croft_axram_initiate(in, in + INPUTS * WORDS);
    croft_axram_wrt_res(out, out + OUTPUTS * WORDS);
    exit(out[0] ? 5 : 6);
}

static void search(void)
{
    struct chips chips = begin(12);
    const uint32_t *words = (const uint32_t *)(chips.memory + NETWORK);
    for (unsigned i = 0; i < BLOCKS * WORDS; i++)
        if (words[i])
            exit(1);
}

static void traces(void)
{
    const int first = end(start(configure), 0), second = end(start(use), 0);
    printf("%d %d %d\n", first, second, end(start(search), 0));
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"refused", refused}, {"early", early}, {"parts", parts},
                 {"heirs", heirs},     {"waits", waits}, {"traces", traces}};
    for (int i = 1; i < count; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            if (strcmp(arguments[i], cases[k].name) == 0)
                cases[k].run();
    return 0;
}
