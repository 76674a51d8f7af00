/* Functions that compilers call implicitly. Sizes and addresses are mostly multiples of 8. */
#include "host/kernel/kernel.h"

static bool is_aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & 7) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    char *t = to;
    const char *f = from;
    if (is_aligned(to, from))
        for (; size >= 8; size -= 8, t += 8, f += 8)
            *(uint64_t *)(void *)t = *(const uint64_t *)(const void *)f;
    while (size-- > 0)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    char *t = to;
    const uint64_t word = (uint64_t)(uint8_t)byte * 0x0101010101010101;
    if (is_aligned(to, to))
        for (; size >= 8; size -= 8, t += 8)
            *(uint64_t *)(void *)t = word;
    while (size-- > 0)
        *t++ = (char)byte;
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    char *t = to;
    const char *f = from;
    if ((uintptr_t)to - (uintptr_t)from >= size)
        return memcpy(to, from, size);
    while (size-- > 0)
        t[size] = f[size];
    return to;
}
