/* malloc, calloc, realloc, memalign and free in random order; every block carries a pattern that is checked.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 200, STEPS = 20000 };

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char mark;
};

static uint32_t seed = 2463534242u;

static uint32_t random_next(void)
{
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed;
}

static size_t random_size(void)
{
    static const size_t limits[] = {16, 64, 256, 4096, 70000};
    return random_next() % limits[random_next() % 5] + 1;
}

static unsigned long block_damage(const struct block *block, size_t size)
{
    unsigned long damage = 0;
    for (size_t i = 0; i < size; i++)
        damage += block->bytes[i] != (unsigned char)(block->mark + i);
    return damage;
}

static void block_fill(struct block *block)
{
    block->mark = (unsigned char)random_next();
    for (size_t i = 0; i < block->size; i++)
        block->bytes[i] = (unsigned char)(block->mark + i);
}

static void block_create(struct block *block, unsigned long *faults)
{
    block->size = random_size();
    size_t alignment = (size_t)16 << random_next() % 8;
    switch (random_next() % 3) {
    case 0: block->bytes = malloc(block->size); break;
    case 1:
        block->bytes = calloc(1, block->size);
        for (size_t i = 0; i < block->size; i++)
            *faults += block->bytes[i] != 0;
        break;
    default:
        block->bytes = memalign(alignment, block->size);
        *faults += (uintptr_t)block->bytes % alignment != 0;
        break;
    }
    *faults += (uintptr_t)block->bytes % 16 != 0 || malloc_usable_size(block->bytes) < block->size;
    block_fill(block);
}

static void block_resize(struct block *block, unsigned long *faults)
{
    size_t size = random_size(), common = size < block->size ? size : block->size;
    block->bytes = realloc(block->bytes, size);
    *faults += block_damage(block, common);
    block->size = size;
    block_fill(block);
}

int main(void)
{
    static struct block blocks[SLOTS];
    unsigned long faults = 0, live = 0;
    for (int step = 0; step < STEPS; step++) {
        struct block *block = &blocks[random_next() % SLOTS];
        if (!block->bytes) {
            block_create(block, &faults);
            live += block->size;
        } else {
            live -= block->size;
            faults += block_damage(block, block->size);
            if (random_next() % 4 == 0) {
                block_resize(block, &faults);
                live += block->size;
            } else {
                free(block->bytes);
                block->bytes = NULL;
            }
        }
        if (step % 1000 == 999)
            printf("step %d: live %lu bytes, faults %lu\n", step + 1, live, faults);
    }
    for (int i = 0; i < SLOTS; i++)
        free(blocks[i].bytes);
    printf("in use at the end: %d\n", mallinfo().uordblks < 10000);
    errno = 0;
    void *volatile huge = malloc((size_t)1 << 60);
    printf("2^60 bytes: %s, errno %d\n", huge ? "given" : "refused", errno);
    char *big = malloc(48 << 20);
    big[0] = 1, big[(48 << 20) - 1] = 2;
    printf("48 MiB: %d %d\n", big[0], big[(48 << 20) - 1]);
    free(big);
    return 0;
}
