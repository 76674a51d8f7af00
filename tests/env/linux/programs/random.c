/* Makes calls with random arguments: the emulator must survive them. random SEED COUNT */
#include "calls.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

static uint64_t state;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void nothing(int number)
{
    (void)number;
}

int main(int count, char **arguments)
{
    static char buffer[65536];
    /* Not those that end or stop the program, that unmap, move and protect its own pages, or fill the disk. */
    static const short calls[] = {
        5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,  16,  17,  19,  20,  21,  22,  23,  24,  25,
        29,  32,  33,  34,  35,  36,  37,  43,  44,  45,  46,  48,  49,  50,  52,  53,  54,  55,  56,  59,
        61,  62,  63,  64,  65,  66,  67,  68,  69,  70,  71,  72,  73,  78,  79,  80,  81,  82,  85,  88,
        95,  99,  100, 113, 114, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 132, 136, 140, 141, 143,
        144, 145, 146, 147, 148, 149, 150, 153, 156, 157, 158, 159, 160, 163, 164, 165, 166, 167, 168, 169,
        174, 178, 179, 199, 200, 203, 204, 205, 206, 207, 208, 209, 210, 211, 213, 214, 223, 227, 228, 230,
        231, 232, 258, 260, 261, 267, 276, 278, 279, 285, 291, 293, 436, 437, 439, 441, 444, 452, 600, 5000};
    /* A signal ends each wait. */
    const struct itimerval often = {{0, 10000}, {0, 10000}};
    const struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGALRM, &action, NULL);
    state = count > 1 ? strtoull(arguments[1], NULL, 0) : 1;
    long rounds = count > 2 ? atol(arguments[2]) : 10000, done = 0;
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);
    strcpy(buffer, "name");
    for (long i = 0; i < rounds; i++) {
        long a[6];
        for (int k = 0; k < 6; k++) {
            const long choices[] = {(long)(next() % 16),
                                    (long)buffer,
                                    (long)page + 4096 - (long)(next() % 64),
                                    (long)next(),
                                    -1,
                                    -100,
                                    (long)(next() % 65536),
                                    0,
                                    (long)page + 4096};
            a[k] = choices[next() % 9];
        }
        const short call = calls[next() % (sizeof calls / sizeof calls[0])];
        if ((call == 64 || call == 66 || call == 68) && (unsigned long)a[0] < 3)
            continue;
        if (call == 24 && (unsigned long)a[1] < 3) /* dup3 onto standard streams */
            continue;
        if (call == 19 || call == 59) /* event counters and pipes, at which nobody waits long */
            a[1] = O_NONBLOCK;
        if (call == 436 && (unsigned)a[0] < 3) /* close_range of standard streams */
            continue;
        if (i % 64 == 0)
            setitimer(ITIMER_REAL, &often, NULL);
        (void)syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (i % 8 == 0) { /* memory, at places where nothing else is */
            char *far = (char *)(0x100000000L + (long)(next() % 64) * 4096);
            const long length = (long)(next() % 16) * 4096;
            const int protection = (int)(next() % 8);
            switch (next() % 6) {
            case 0:
                (void)mmap(far, (size_t)length, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
                break;
            case 5:
                (void)mmap(far, (size_t)length, protection, MAP_SHARED | MAP_FIXED, (int)(next() % 16), 0);
                break;
            case 1: (void)munmap(far, (size_t)length); break;
            case 2: (void)mprotect(far, (size_t)length, protection); break;
            case 3: (void)madvise(far, (size_t)length, MADV_DONTNEED); break;
            default: (void)mremap(far, (size_t)length, (size_t)(next() % 16) * 4096, 1); break;
            }
        }
        done++;
    }
    return done > 0 ? 0 : 1;
}
