/* Every rounding operation in every mode over many operands, as checksums of results and flags; runs on croft
 * and on qemu-riscv64, whose outputs must be the same. `rounding OP MODE FIRST COUNT` prints single cases
 * instead. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 100000, MODES = 6 };

struct operands {
    uint64_t a, b, c;
};

static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
    v = (v ^ v >> 27) * 0x94d049bb133111eb;
    return v ^ v >> 31;
}

/* Doubles whose exponents are close to `near`, or at the ends of the range; some with few bits, for ties. */
static uint64_t make_f64(uint64_t random, uint64_t near)
{
    uint64_t kind = random >> 58, fraction = random & 0xfffffffffffff, sign = random & 1ull << 52;
    uint64_t exponent = (near + (random >> 53 & 31) - 16) & 2047;
    if (kind < 4)
        return sign << 11 | 0x7ff0000000000000 | (kind == 0 ? 0 : kind == 1 ? 1ull << 51 : fraction);
    if (kind < 8)
        return sign << 11 | (kind == 4 ? 0 : fraction);
    if (kind < 14)
        exponent = kind < 11 ? random >> 53 & 31 : 2046 - (random >> 53 & 31);
    if (kind & 1)
        fraction &= ~0ull << (20 + (random & 31));
    return sign << 11 | exponent << 52 | fraction;
}

static uint64_t make_f32(uint64_t random, uint64_t near)
{
    uint64_t kind = random >> 58, fraction = random & 0x7fffff, sign = (random >> 23 & 1) << 31;
    uint64_t exponent = (near + (random >> 53 & 15) - 8) & 255, bits;
    if (kind < 4)
        bits = 0x7f800000 | (kind == 0 ? 0 : kind == 1 ? 1u << 22 : fraction);
    else if (kind < 8)
        bits = kind == 4 ? 0 : fraction;
    else {
        if (kind < 14)
            exponent = kind < 11 ? random >> 53 & 15 : 254 - (random >> 53 & 15);
        if (kind & 1)
            fraction &= 0xffffffffu << (8 + (random & 15));
        bits = exponent << 23 | fraction;
    }
    return 0xffffffff00000000 | sign | bits;
}

static struct operands make_operands(uint64_t n, int single)
{
    uint64_t r[4];
    for (unsigned i = 0; i < 4; i++)
        r[i] = mix(4 * n + i + 0x9e3779b97f4a7c15);
    /* Half of the time b is close to a, and c to their product, at any magnitude. */
    struct operands o;
    if (single) {
        o.a = make_f32(r[0], 127);
        o.b = make_f32(r[1], r[3] & 1 ? o.a >> 23 & 255 : 127);
        o.c =
            make_f32(r[2], r[3] & 2 ? ((o.a >> 23 & 255) + (o.b >> 23 & 255) + 129) & 255 : 100 + r[3] % 54);
    } else {
        o.a = make_f64(r[0], 1023);
        o.b = make_f64(r[1], r[3] & 1 ? o.a >> 52 & 2047 : 1023);
        o.c = make_f64(r[2],
                       r[3] & 2 ? ((o.a >> 52 & 2047) + (o.b >> 52 & 2047) + 1025) & 2047 : 970 + r[3] % 106);
    }
    return o;
}

/* An integer of any length, sometimes with few set bits. */
static uint64_t make_integer(uint64_t n)
{
    uint64_t r = mix(n + 77), length = r >> 58;
    uint64_t v = mix(r) >> length;
    return r & 1 ? v & v >> 7 : v | 1;
}

struct result {
    uint64_t value;
    unsigned flags;
};

typedef struct result function(uint64_t n, unsigned mode);

/* A function for each mode of an instruction; mode 5 is the dynamic one, which main() sets. */
#define ONE(name, text, setup, kind, ...)                                                                    \
    static struct result name(uint64_t n, unsigned mode)                                                     \
    {                                                                                                        \
        struct result r = {0, 0};                                                                            \
        double out = 0;                                                                                      \
        (void)out;                                                                                           \
        setup;                                                                                               \
        switch (mode) {                                                                                      \
        case 0: RUN(text ", rne", kind, __VA_ARGS__); break;                                                 \
        case 1: RUN(text ", rtz", kind, __VA_ARGS__); break;                                                 \
        case 2: RUN(text ", rdn", kind, __VA_ARGS__); break;                                                 \
        case 3: RUN(text ", rup", kind, __VA_ARGS__); break;                                                 \
        case 4: RUN(text ", rmm", kind, __VA_ARGS__); break;                                                 \
        default: RUN(text ", dyn", kind, __VA_ARGS__); break;                                                \
        }                                                                                                    \
        FINISH_##kind;                                                                                       \
        return r;                                                                                            \
    }
#define RUN(text, kind, ...)                                                                                 \
    __asm__ volatile("csrw fflags, zero\n\t" text "\n\tcsrr %1, fflags"                                      \
                     : OUT_##kind, "=r"(r.flags)                                                             \
                     : __VA_ARGS__)
#define OUT_F    "=&f"(out)
#define OUT_X    "=&r"(r.value)
#define FINISH_F memcpy(&r.value, &out, sizeof out)
#define FINISH_X (void)0
#define FP(single)                                                                                           \
    struct operands o = make_operands(n, single);                                                            \
    double a, b, c;                                                                                          \
    memcpy(&a, &o.a, 8), memcpy(&b, &o.b, 8), memcpy(&c, &o.c, 8);                                           \
    (void)a, (void)b, (void)c
#define INT uint64_t v = make_integer(n)

#define BINARY(name, text, single)  ONE(name, text " %0, %2, %3", FP(single), F, "f"(a), "f"(b))
#define TERNARY(name, text, single) ONE(name, text " %0, %2, %3, %4", FP(single), F, "f"(a), "f"(b), "f"(c))
#define UNARY(name, text, single)   ONE(name, text " %0, %2", FP(single), F, "f"(c))
#define TO_INT(name, text, single)  ONE(name, text " %0, %2", FP(single), X, "f"(c))
#define FROM_INT(name, text)        ONE(name, text " %0, %2", INT, F, "r"(v))

BINARY(fadd_d, "fadd.d", 0)
BINARY(fsub_d, "fsub.d", 0)
BINARY(fmul_d, "fmul.d", 0)
BINARY(fdiv_d, "fdiv.d", 0)
UNARY(fsqrt_d, "fsqrt.d", 0)
TERNARY(fmadd_d, "fmadd.d", 0)
TERNARY(fmsub_d, "fmsub.d", 0)
TERNARY(fnmadd_d, "fnmadd.d", 0)
TERNARY(fnmsub_d, "fnmsub.d", 0)
BINARY(fadd_s, "fadd.s", 1)
BINARY(fsub_s, "fsub.s", 1)
BINARY(fmul_s, "fmul.s", 1)
BINARY(fdiv_s, "fdiv.s", 1)
UNARY(fsqrt_s, "fsqrt.s", 1)
TERNARY(fmadd_s, "fmadd.s", 1)
TERNARY(fmsub_s, "fmsub.s", 1)
TERNARY(fnmadd_s, "fnmadd.s", 1)
TERNARY(fnmsub_s, "fnmsub.s", 1)
UNARY(fcvt_s_d, "fcvt.s.d", 0)
TO_INT(fcvt_w_d, "fcvt.w.d", 0)
TO_INT(fcvt_wu_d, "fcvt.wu.d", 0)
TO_INT(fcvt_l_d, "fcvt.l.d", 0)
TO_INT(fcvt_lu_d, "fcvt.lu.d", 0)
TO_INT(fcvt_w_s, "fcvt.w.s", 1)
TO_INT(fcvt_wu_s, "fcvt.wu.s", 1)
TO_INT(fcvt_l_s, "fcvt.l.s", 1)
TO_INT(fcvt_lu_s, "fcvt.lu.s", 1)
FROM_INT(fcvt_d_l, "fcvt.d.l")
FROM_INT(fcvt_d_lu, "fcvt.d.lu")
FROM_INT(fcvt_s_w, "fcvt.s.w")
FROM_INT(fcvt_s_wu, "fcvt.s.wu")
FROM_INT(fcvt_s_l, "fcvt.s.l")
FROM_INT(fcvt_s_lu, "fcvt.s.lu")

#define ROW(name)                                                                                            \
    {                                                                                                        \
#name, name                                                                                          \
    }
static const struct {
    const char *name;
    function *run;
} table[] = {
    ROW(fadd_d),    ROW(fsub_d),   ROW(fmul_d),    ROW(fdiv_d),   ROW(fsqrt_d),   ROW(fmadd_d),
    ROW(fmsub_d),   ROW(fnmadd_d), ROW(fnmsub_d),  ROW(fadd_s),   ROW(fsub_s),    ROW(fmul_s),
    ROW(fdiv_s),    ROW(fsqrt_s),  ROW(fmadd_s),   ROW(fmsub_s),  ROW(fnmadd_s),  ROW(fnmsub_s),
    ROW(fcvt_s_d),  ROW(fcvt_w_d), ROW(fcvt_wu_d), ROW(fcvt_l_d), ROW(fcvt_lu_d), ROW(fcvt_w_s),
    ROW(fcvt_wu_s), ROW(fcvt_l_s), ROW(fcvt_lu_s), ROW(fcvt_d_l), ROW(fcvt_d_lu), ROW(fcvt_s_w),
    ROW(fcvt_s_wu), ROW(fcvt_s_l), ROW(fcvt_s_lu),
};

enum { ROWS = sizeof table / sizeof table[0] };

static void set_mode(unsigned mode)
{
    __asm__ volatile("fsrm %0" : : "r"((unsigned long)mode));
}

static void print_cases(const char *name, unsigned mode, uint64_t first, uint64_t count)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        for (uint64_t n = first; n < first + count; n++) {
            struct operands d = make_operands(n, 0), s = make_operands(n, 1);
            struct result r = table[i].run(n, mode);
            printf("%llu: double %016llx %016llx %016llx float %08x %08x %08x integer %016llx -> %016llx "
                   "flags %02x\n",
                   (unsigned long long)n, (unsigned long long)d.a, (unsigned long long)d.b,
                   (unsigned long long)d.c, (unsigned)s.a, (unsigned)s.b, (unsigned)s.c,
                   (unsigned long long)make_integer(n), (unsigned long long)r.value, r.flags);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 5) {
        print_cases(argv[1], (unsigned)atoi(argv[2]), strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
        return 0;
    }

    uint64_t cases = argc == 2 ? strtoull(argv[1], NULL, 0) : CASES;
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned mode = 0; mode < MODES; mode++) {
            uint64_t sum = 0, flags = 0;
            set_mode(mode == 5 ? 4 : 0);
            for (uint64_t n = 0; n < cases; n++) {
                struct result r = table[i].run(n, mode);
                sum = (sum ^ r.value ^ (uint64_t)r.flags << 40) * 0x100000001b3 + (sum >> 47);
                flags |= r.flags;
            }
            set_mode(0);
            printf("%s mode %u: %016llx flags %02llx\n", table[i].name, mode, (unsigned long long)sum,
                   (unsigned long long)flags);
        }
    }
    return 0;
}
