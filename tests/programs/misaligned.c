/* Loads and stores of all widths at all alignments: packed structs, instructions by hand, page crossings. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) record {
    uint8_t tag;
    uint16_t half;
    uint8_t gap;
    uint32_t word;
    double real;
    uint8_t more;
    uint64_t wide;
    float single;
};

static uint8_t area[16384] __attribute__((aligned(8192)));

static void fill(int at)
{
    for (int i = -32; i < 64; i++)
        area[at + i] = (uint8_t)(i * 37 + 129);
}

#define LOAD(instruction, type, format)                                                                      \
    do {                                                                                                     \
        type loaded;                                                                                         \
        __asm__ volatile(instruction " %0, 0(%1)" : "=r"(loaded) : "r"(place) : "memory");                   \
        printf(" %" format, loaded);                                                                         \
    } while (0)

#define STORE(instruction, value)                                                                            \
    do {                                                                                                     \
        __asm__ volatile(instruction " %0, 0(%1)" : : "r"(value), "r"(place + 16) : "memory");               \
        for (int i = 14; i < 28; i++)                                                                        \
            printf("%02x", place[i]);                                                                        \
        printf(" ");                                                                                         \
    } while (0)

static void print_place(int at)
{
    uint8_t *place = area + at;
    fill(at);
    printf("%d:", at);
    LOAD("lh", int64_t, PRId64);
    LOAD("lhu", uint64_t, PRIx64);
    LOAD("lw", int64_t, PRId64);
    LOAD("lwu", uint64_t, PRIx64);
    LOAD("ld", uint64_t, PRIx64);
    double real;
    float single;
    __asm__ volatile("fld %0, 0(%2)\n\tflw %1, 4(%2)" : "=f"(real), "=f"(single) : "r"(place) : "memory");
    printf(" %a %a\n  ", real, (double)single);
    STORE("sh", 0x1122);
    STORE("sw", 0x33445566);
    STORE("sd", 0x778899aabbccddee);
    __asm__ volatile("fsd %0, 0(%2)\n\tfsw %1, 11(%2)"
                     :
                     : "f"(real), "f"(single), "r"(place + 16)
                     : "memory");
    for (int i = 12; i < 36; i++)
        printf("%02x", place[i]);
    printf("\n");
}

static void print_records(void)
{
    static struct record records[9];
    for (int i = 0; i < 9; i++)
        records[i] = (struct record){.tag = (uint8_t)i,
                                     .half = (uint16_t)(i * 7001),
                                     .word = 0x10203040u * (uint32_t)i,
                                     .real = i / 3.0,
                                     .wide = 0x0102030405060708u * (uint64_t)i,
                                     .single = (float)i * 0.3f};
    for (int i = 0; i < 9; i++) {
        struct record *r = &records[(i * 4) % 9];
        r->wide += records[i].word;
        r->real *= (double)records[i].single;
        r->half ^= records[i].tag;
        printf("%u %u %" PRIx32 " %a %" PRIx64 " %a\n", r->tag, r->half, r->word, r->real, r->wide,
               (double)r->single);
    }
    uint32_t digest = 2166136261u;
    for (size_t i = 0; i < sizeof records; i++)
        digest = (digest ^ ((const uint8_t *)records)[i]) * 16777619u;
    printf("size %zu digest %08" PRIx32 "\n", sizeof(struct record), digest);
}

int main(void)
{
    for (int at = 1024; at < 1024 + 9; at++)
        print_place(at);
    for (int at = 4096 - 9; at <= 4096; at++)
        print_place(at);
    for (int at = 8192 - 24; at <= 8192; at += 3)
        print_place(at);
    print_records();
    return 0;
}
