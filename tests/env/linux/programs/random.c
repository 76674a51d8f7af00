/* Makes calls with random arguments: the emulator must survive them. random SEED COUNT */
#include "calls.h"

#include <fcntl.h>
#include <sys/mman.h>

static uint64_t state;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

int main(int count, char **arguments)
{
    static char buffer[65536];
    /* Not those that end or stop the program, or that unmap, move and protect its own pages. */
    static const short calls[] = {17,  19,  20,  23,  24,  25,  29,  34,  35,  46,  48,  49,  50,  56,  59,
                                  61,  62,  64,  65,  66,  67,  68,  78,  79,  80,  82,  99,  100, 102, 103,
                                  113, 114, 122, 123, 124, 132, 136, 153, 160, 163, 165, 166, 167, 169, 174,
                                  178, 179, 214, 227, 228, 258, 260, 261, 276, 278, 291, 293, 439, 600, 5000};
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
        if (call == 19 || call == 59) /* event counters and pipes, at which nobody must wait */
            a[1] = O_NONBLOCK;
        (void)syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (i % 8 == 0) { /* memory, at places where nothing else is */
            char *far = (char *)(0x100000000L + (long)(next() % 64) * 4096);
            const long length = (long)(next() % 16) * 4096;
            const int protection = (int)(next() % 8);
            switch (next() % 5) {
            case 0:
                (void)mmap(far, (size_t)length, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
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
