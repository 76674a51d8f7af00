/* <croft/nucd.h> by itself: the length of regions in the linked program, the registers that a region may
 * change, parameters of all kinds, and the segments made from ranges. Prints "good" or "WRONG" for each; the
 * output is the same for all compiler options. */
#include <croft/nucd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void check(int good, const char *what)
{
    printf("%-44s %s\n", what, good ? "good" : "WRONG");
    failures += !good;
}

/* Hides a value from the compiler's optimizer. */
static long hidden(long value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* Checks the instructions around the return address of a region with one parameter: nucd s4, s2, then mv a0,
 * s5 and a call, all uncompressed. */
static int region_is_whole(const void *return_address)
{
    uint32_t words[4];
    memcpy(words, (const char *)return_address - sizeof words, sizeof words);
    return words[0] == 0x012a2033 && words[1] == 0x000a8513 && (words[2] & 0xfff) == 0x097 &&
           (words[3] & 0xfffff) == 0x080e7 && CROFT_NUCD_MOVE_PARCELS == 2 && CROFT_NUCD_CALL_PARCELS == 4;
}

CROFT_REGION(note_place, CROFT_OUT(int *, whole, sizeof *whole))
{
    *whole = region_is_whole(__builtin_return_address(0));
}

/* Changes all registers that a function may change. */
CROFT_REGION_RETURNS(long, destroy, CROFT_VALUE(long, value))
{
    __asm__ volatile(
        "li t0, -1\n\tli t1, -1\n\tli t2, -1\n\tli t3, -1\n\tli t4, -1\n\tli t5, -1\n\tli t6, -1\n\t"
        "li a1, -1\n\tli a2, -1\n\tli a3, -1\n\tli a4, -1\n\tli a5, -1\n\tli a6, -1\n\tli a7, -1\n\t"
        "fcvt.d.l ft0, t0\n\tfmv.d ft1, ft0\n\tfmv.d ft2, ft0\n\tfmv.d ft3, ft0\n\t"
        "fmv.d ft4, ft0\n\tfmv.d ft5, ft0\n\tfmv.d ft6, ft0\n\tfmv.d ft7, ft0\n\t"
        "fmv.d ft8, ft0\n\tfmv.d ft9, ft0\n\tfmv.d ft10, ft0\n\tfmv.d ft11, ft0\n\t"
        "fmv.d fa0, ft0\n\tfmv.d fa1, ft0\n\tfmv.d fa2, ft0\n\tfmv.d fa3, ft0\n\t"
        "fmv.d fa4, ft0\n\tfmv.d fa5, ft0\n\tfmv.d fa6, ft0\n\tfmv.d fa7, ft0" ::
            : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "ft0",
              "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1",
              "fa2", "fa3", "fa4", "fa5", "fa6", "fa7");
    return value + 1;
}

/* More values are live across the region than there are callee-saved registers. */
static void values_survive(void)
{
    long i[16];
    double d[16];
    for (int k = 0; k < 16; k++) {
        i[k] = hidden(3 * k);
        d[k] = (double)hidden(5 * k) + 0.5;
    }
    long i0 = i[0], i1 = i[1], i2 = i[2], i3 = i[3], i4 = i[4], i5 = i[5], i6 = i[6], i7 = i[7];
    long i8 = i[8], i9 = i[9], i10 = i[10], i11 = i[11], i12 = i[12], i13 = i[13], i14 = i[14], i15 = i[15];
    double d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5], d6 = d[6], d7 = d[7];
    double d8 = d[8], d9 = d[9], d10 = d[10], d11 = d[11], d12 = d[12], d13 = d[13], d14 = d[14], d15 = d[15];
    long a = destroy(i7), b = destroy(a), c = destroy(i7 + b);
    check(a == 22 && b == 23 && c == 45, "results of regions in a row");
    check(i0 + i1 + i2 + i3 + i4 + i5 + i6 + i7 + i8 + i9 + i10 + i11 + i12 + i13 + i14 + i15 == 3 * 120,
          "integers live over a region");
    check(d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9 + d10 + d11 + d12 + d13 + d14 + d15 == 5 * 120 + 8,
          "doubles live over a region");
}

struct two {
    float x;
    int16_t y, z;
};

CROFT_REGION_RETURNS(double, mix, CROFT_VALUE(signed char, c), CROFT_VALUE(float, f), CROFT_VALUE(double, d),
                     CROFT_VALUE(struct two, t))
{
    return c + f + d + t.x + t.y + t.z;
}

CROFT_REGION_RETURNS(struct two, turn, CROFT_VALUE(struct two, t), CROFT_VALUE(_Bool, negative))
{
    struct two result = {negative ? -t.x : t.x, t.z, t.y};
    return result;
}

CROFT_REGION_RETURNS(float, half, CROFT_VALUE(float, value))
{
    return value / 2;
}

/* Eight parameters: four inputs, and four outputs at the same or other addresses. */
CROFT_REGION(eight, CROFT_IN(const int *, a, 4), CROFT_IN(const int *, b, 4), CROFT_IN(const int *, c, 4),
             CROFT_VALUE(int, d), CROFT_OUT(int *, p, 4), CROFT_OUT(int *, q, 4), CROFT_OUT(int *, r, 4),
             CROFT_OUT(int *, s, 4))
{
    *p = *a + d;
    *q = *b + d;
    *r = *c + d;
    *s = *p + *q + *r;
}

/* Regions call functions, which may contain regions. */
static long fibonacci(long n);

CROFT_REGION_RETURNS(long, fibonacci_region, CROFT_VALUE(long, n))
{
    return fibonacci(n - 1) + fibonacci(n - 2);
}

static long fibonacci(long n)
{
    return n < 2 ? n : fibonacci_region(n);
}

/* Stores before a region reach memory before it; loads after it read memory again. */
CROFT_REGION(increment, CROFT_INOUT(int *, value, sizeof *value))
{
    ++*value;
}

static void parameters(void)
{
    struct two t = {1.5f, -3, 7};
    check(mix((signed char)hidden(-1), 0.25f, 1e3, t) == 1004.75, "values of all types");
    struct two u = turn(t, 1);
    check(u.x == -1.5f && u.y == 7 && u.z == -3, "a struct in and out");
    check(half(5) == 2.5f, "a float in and out");
    int a = 1, b = 2, c = 3, p, q, r, s;
    eight(&a, &b, &c, 10, &p, &q, &r, &s);
    check(p == 11 && q == 12 && r == 13 && s == 36, "eight parameters");
    check(fibonacci(hidden(12)) == 144, "regions within regions");
    int counter = 5;
    increment(&counter);
    counter *= 10;
    increment(&counter);
    check(counter == 61, "memory before and behind a region");
}

/* Loops are divided completely into consecutive parts. There are as many parts as requested, or one per grain
 * if there are fewer grains. All parts except the last consist of whole grains, and their sizes differ by at
 * most one grain. */
static void parts(void)
{
    int good = 1;
    for (long total = 0; total < 70; total++)
        for (long tasks = 1; tasks < 20; tasks++)
            for (long grain = 1; grain < 9; grain++) {
                long at = 0, count = 0, least = total, most = 0, grains = (total + grain - 1) / grain;
                CROFT_FOR_TASKS(part, total, tasks, grain)
                {
                    good &= part.first == at && part.count > 0;
                    at += part.count;
                    count++;
                    if (at < total) {
                        good &= part.count % grain == 0;
                        least = part.count < least ? part.count : least;
                    }
                    most = part.count > most ? part.count : most;
                }
                good &= at == total && count == (tasks < grains ? tasks : grains) &&
                        (count < 2 || most - least <= grain);
            }
    check(good, "parts of loops over tasks");
}

/* Layout from the manual: 5 bits of register, 9 bits of granules, 2 bits of granule size. */
static void segments(void)
{
    static const struct {
        unsigned long bytes, granules, size;
        int too_long;
    } ranges[] = {{0, 0, 0, 0},           {1, 1, 0, 0},           {64, 1, 0, 0},
                  {65, 2, 0, 0},          {32704, 511, 0, 0},     {32705, 8, 1, 0},
                  {32769, 9, 1, 0},       {2093056, 511, 1, 0},   {2093057, 32, 2, 0},
                  {2097153, 33, 2, 0},    {33488896, 511, 2, 0},  {33488897, 32, 3, 0},
                  {535822336, 511, 3, 0}, {535822337, 512, 3, 1}, {~0ul, 1ul << 44, 3, 1}};
    int good = 1;
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct croft_packet packet = {0, 0, 0, 0, 0, 0};
        croft_packet_add(&packet, 9, CROFT_KIND_VALUE, (unsigned long)hidden(0));
        croft_packet_add(&packet, 10, CROFT_KIND_INOUT, (unsigned long)hidden((long)ranges[i].bytes));
        unsigned long segment = 10 | (ranges[i].granules & 511) << 5 | ranges[i].size << 14;
        unsigned long n = (ranges[i].too_long ? 0 : 8) | 5ul << 16 | 2ul << 24 | 1ul << 28;
        good &= packet.xd == (segment << 16 | 9) && packet.xt == segment &&
                croft_packet_xn(&packet, 5, 2) == (0x4e554344ul << 32 | n);
    }
    check(good, "segments of all lengths");
}

int main(void)
{
    int whole = 0;
    for (int i = 0; i < 3; i++) {
        int one = 0;
        note_place(&one);
        whole += one;
    }
    check(whole == 3, "nucd, a move and a call");
    values_survive();
    parameters();
    parts();
    segments();
    return failures != 0;
}
