/* Threads of a launch make one page after the other present, while the host sends tasks that read these pages: shown. Prints how many
 * tasks had a wrong result. It needs threads that run beside the host. */
#include <croft/nucd.h>
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 16, PART = 128 * 1024 / 8, WORDS = 64 }; /* the kernel makes 64 KiB present at once */

struct shared {
    uint64_t *words;
    uint64_t ready, taken;
};

CROFT_REGION_RETURNS(uint64_t, digest, CROFT_IN(const uint64_t *, words, WORDS * 8))
{
    uint64_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum = sum * 3 + words[i];
    return sum;
}

static void fill(struct shared *p)
{
    for (uint64_t n = 0; n < PARTS; n++) {
        for (uint64_t i = 0; i < WORDS; i++)
            p->words[n * PART + i] = n * n + i;
        __atomic_store_n(&p->ready, n + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&p->taken, __ATOMIC_ACQUIRE) <= n)
            continue;
    }
}

int main(void)
{
    static struct shared p;
    int wrong = 0;
    p.words = aligned_alloc(65536, PARTS * PART * 8);
    simt_launch(fill, &p, simt_dim(1), simt_dim(1));
    for (uint64_t n = 0; n < PARTS; n++) {
        uint64_t wanted = 0;
        for (uint64_t i = 0; i < WORDS; i++)
            wanted = wanted * 3 + n * n + i;
        while (__atomic_load_n(&p.ready, __ATOMIC_ACQUIRE) <= n)
            continue;
        wrong += digest(p.words + n * PART) != wanted;
        __atomic_store_n(&p.taken, n + 1, __ATOMIC_RELEASE);
    }
    simt_wait(0);
    printf("%d tasks, %d wrong\n", PARTS, wrong);
    return 0;
}
