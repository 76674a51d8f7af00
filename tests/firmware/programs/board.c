/* Prints what the device tree tells a kernel: its command line, and its initial file system with the sum of its bytes. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BEGIN_NODE = 1, PROPERTY = 3, END = 9 };

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t wide(const uint8_t *at)
{
    return (uint64_t)word(at) << 32 | word(at + 4);
}

/* croft puts the tree at the highest multiple of 2 MiB that is free; memory has 1 GiB. */
static const uint8_t *find_tree(void)
{
    for (uint64_t at = 0xc0000000 - (2 << 20); at > 0x80000000; at -= 2 << 20)
        if (word((const uint8_t *)at) == 0xd00dfeed)
            return (const uint8_t *)at;
    return NULL;
}

int main(void)
{
    const uint8_t *tree = find_tree();
    if (!tree)
        return 1;
    const uint8_t *at = tree + word(tree + 8);
    const char *names = (const char *)tree + word(tree + 12);
    uint64_t first = 0, end = 0, sum = 0;
    for (uint32_t token; (token = word(at)) != END;) {
        at += 4;
        if (token == BEGIN_NODE) {
            at += (strlen((const char *)at) + 4) & ~3ul;
        } else if (token == PROPERTY) {
            uint32_t size = word(at);
            const char *name = names + word(at + 4);
            at += 8;
            if (strcmp(name, "bootargs") == 0)
                printf("bootargs: %s\n", (const char *)at);
            if (strcmp(name, "linux,initrd-start") == 0)
                first = wide(at);
            if (strcmp(name, "linux,initrd-end") == 0)
                end = wide(at);
            at += (size + 3) & ~3u;
        }
    }
    for (uint64_t i = first; i < end; i++)
        sum += *(const uint8_t *)i;
    printf("initrd: %lu bytes, sum %lu\n", end - first, sum);
    return 0;
}
