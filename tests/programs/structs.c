/* The calling convention for structs: mixed float and integer members, small, large, nested, by value. */
#include <complex.h>
#include <stdint.h>
#include <stdio.h>

struct one_float {
    float a;
};
struct two_floats {
    float a, b;
};
struct two_doubles {
    double a, b;
};
struct float_int {
    float a;
    int b;
};
struct int_double {
    int8_t a;
    double b;
};
struct double_long {
    double a;
    int64_t b;
};
struct three_floats {
    float a, b, c;
};
struct small {
    int8_t a;
    int16_t b;
    int32_t c;
};
struct longs {
    int64_t a, b;
};
struct large {
    double a[4];
    int32_t b;
};
struct nested {
    struct one_float inner;
    struct {
        int16_t value;
    } tail;
};
struct array {
    float a[2];
};
struct bitfield {
    unsigned low : 3;
    int middle : 11;
    uint64_t high : 40;
};
union either {
    double d;
    uint64_t u;
};

#define NOINLINE __attribute__((noinline))

static NOINLINE struct one_float use_one_float(struct one_float s)
{
    s.a *= 2;
    return s;
}
static NOINLINE struct two_floats use_two_floats(struct two_floats s, float k)
{
    s.a += k;
    s.b -= k;
    return s;
}
static NOINLINE struct two_doubles use_two_doubles(struct two_doubles s)
{
    double t = s.a;
    s.a = s.b;
    s.b = t / 3;
    return s;
}
static NOINLINE struct float_int use_float_int(int k, struct float_int s)
{
    s.a += (float)k;
    s.b ^= k;
    return s;
}
static NOINLINE struct int_double use_int_double(struct int_double s)
{
    s.a = (int8_t)-s.a;
    s.b = 1 / s.b;
    return s;
}
static NOINLINE struct double_long use_double_long(struct double_long s)
{
    s.a += (double)s.b;
    s.b *= 3;
    return s;
}
static NOINLINE struct three_floats use_three_floats(struct three_floats s)
{
    s.c = s.a * s.b;
    return s;
}
static NOINLINE struct small use_small(struct small s)
{
    s.c += s.a * s.b;
    s.a++;
    s.b--;
    return s;
}
static NOINLINE struct longs use_longs(struct longs s)
{
    s.a ^= s.b;
    s.b += s.a;
    return s;
}
static NOINLINE struct large use_large(struct large s, int i)
{
    s.a[i] *= -1;
    s.b += i;
    return s;
}
static NOINLINE struct nested use_nested(struct nested s)
{
    s.inner.a += s.tail.value;
    s.tail.value++;
    return s;
}
static NOINLINE struct array use_array(struct array s)
{
    s.a[0] += s.a[1];
    return s;
}
static NOINLINE struct bitfield use_bitfield(struct bitfield s)
{
    s.low += 5;
    s.middle *= -3;
    s.high += 0xffffffffff;
    return s;
}
static NOINLINE union either use_either(union either s)
{
    s.u ^= 1ull << 63;
    return s;
}
static NOINLINE double complex use_complex(double complex z, float complex w)
{
    return z * z + w;
}

/* More arguments than registers of either kind: the rest travels on the stack, a struct may be split. */
static NOINLINE double crowd(int a, double b, struct double_long c, float d, struct longs e, int64_t f,
                             struct two_doubles g, struct large h, double i, struct longs j,
                             struct float_int k, double l, double m, struct two_floats n, int8_t o,
                             struct small p)
{
    return a + b + c.a * (double)c.b + (double)d + (double)(e.a - e.b) + (double)f + g.a / g.b + h.a[3] +
           h.b + i + (double)(j.a * 2 + j.b) + (double)k.a * k.b + l * m + (double)(n.a * n.b) + o + p.a +
           p.b + p.c;
}

int main(void)
{
    for (int i = 1; i <= 5; i++) {
        float x = (float)i * 1.5f;
        double y = i / 3.0;
        int64_t n = (int64_t)i * 1234567890123;
        struct one_float of = use_one_float((struct one_float){x});
        struct two_floats tf = use_two_floats((struct two_floats){x, -x}, 0.25f);
        struct two_doubles td = use_two_doubles((struct two_doubles){y, y + 1});
        printf("%a | %a %a | %a %a\n", (double)of.a, (double)tf.a, (double)tf.b, td.a, td.b);
        struct float_int fi = use_float_int(i, (struct float_int){x, -i});
        struct int_double id = use_int_double((struct int_double){(int8_t)(i * 30), y});
        struct double_long dl = use_double_long((struct double_long){y, n});
        printf("%a %d | %d %a | %a %lld\n", (double)fi.a, fi.b, id.a, id.b, dl.a, (long long)dl.b);
        struct three_floats hf = use_three_floats((struct three_floats){x, x + 1, 0});
        struct small sm = use_small((struct small){(int8_t)i, (int16_t)-i, i * 100000});
        struct longs lo = use_longs((struct longs){n, ~n});
        printf("%a | %d %d %d | %lld %lld\n", (double)hf.c, sm.a, sm.b, (int)sm.c, (long long)lo.a,
               (long long)lo.b);
        struct large la = use_large((struct large){{y, y * 2, y * 3, y * 4}, i}, i % 4);
        struct nested ne = use_nested((struct nested){{x}, {(int16_t)i}});
        struct array ar = use_array((struct array){{x, x * 2}});
        printf("%a %a %a %a %d | %a %d | %a\n", la.a[0], la.a[1], la.a[2], la.a[3], (int)la.b,
               (double)ne.inner.a, ne.tail.value, (double)ar.a[0]);
        struct bitfield bf =
            use_bitfield((struct bitfield){(unsigned)i & 7, (i * 50) & 0x3ff, (uint64_t)n & 0xffffffffff});
        union either ei = use_either((union either){.d = y});
        double complex z = use_complex(y + 2 * I, x - 1 * I);
        printf("%u %d %llu | %a | %a %a\n", bf.low, bf.middle, (unsigned long long)bf.high, ei.d, creal(z),
               cimag(z));
        printf("%a\n", crowd(i, y, dl, x, lo, n, td, la, y, lo, fi, y, 2.5, tf, (int8_t)-i, sm));
    }
    printf("%zu %zu %zu %zu\n", sizeof(struct small), sizeof(struct large), sizeof(struct bitfield),
           sizeof(struct nested));
    return 0;
}
