/* Offloading with NUCD: regions of C code that an accelerator near the memory may run instead of the host. */
#ifndef CROFT_NUCD_H
#define CROFT_NUCD_H

#include <croft/check.h>
#include <croft/nucd_bits.h>

/* A region is a function with declared inputs and outputs. Its definition looks like a marked loop:
 *
 *     CROFT_REGION(scale, CROFT_IN(const double *, x, n * sizeof *x),
 *                         CROFT_OUT(double *, y, n * sizeof *y), CROFT_VALUE(long, n))
 *     {
 *         for (long i = 0; i < n; i++)
 *             y[i] = 2 * x[i];
 *     }
 *
 * `scale(x, y, n)` runs it. The instruction `nucd` before the region is a HINT: a machine without accelerators ignores
 * it and runs the region itself, with the same result. A region has one to eight parameters, at most four inputs and
 * four outputs. Whatever else it changes, other than its own stack, must not be used after it. It may call functions.
 *
 * CROFT_IN, CROFT_OUT and CROFT_INOUT declare a pointer and the number of bytes behind it, an expression over the
 * parameters, that the region reads, writes, or both. CROFT_VALUE declares a value of at most 8 bytes (integer,
 * pointer, float, double). Ranges over 32,704 bytes are rounded up to 4 KiB, over 2,093,056 bytes to 64 KiB or, if
 * larger still, to 1 MiB; the rounded ranges of tasks that are to run at the same time must not overlap. A range over
 * 511 MiB cannot be declared; the host then runs the region itself.
 *
 * If all four inputs of a region are ranges, it can get one more address as CROFT_OUT(type, name, 0), an empty output
 * range, of which only the base is sent. */

/* Defines a region without result. */
#define CROFT_REGION(...) CROFT_REGION_ON(0, __VA_ARGS__)

/* Defines a region that returns a value of at most 8 bytes, which counts as one output. */
#define CROFT_REGION_RETURNS(type, ...) CROFT_REGION_RETURNS_ON(0, type, __VA_ARGS__)

/* CROFT_REGION and CROFT_REGION_RETURNS for targets with all of the given capabilities (8 bits; 0 = any target). */
#define CROFT_REGION_ON(capabilities, ...)                                                                   \
    CROFT_CAT(CROFT_REGION_OF_, CROFT_AMOUNT(__VA_ARGS__))(capabilities, __VA_ARGS__)
#define CROFT_REGION_RETURNS_ON(capabilities, type, ...)                                                     \
    CROFT_CAT(CROFT_REGION_RETURNS_OF_, CROFT_AMOUNT(__VA_ARGS__))(capabilities, type, __VA_ARGS__)

#define CROFT_REGION_OF_1(capabilities, name, ...)                                                           \
    CROFT_REGION_CHECK(name, 0, __VA_ARGS__)                                                                 \
    static CROFT_INLINE void name##_body(CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__));                          \
    static CROFT_SEPARATE void name##_region(CROFT_LIST(CROFT_RAW, __VA_ARGS__))                             \
    {                                                                                                        \
        name##_body(CROFT_LIST(CROFT_UNPACK, __VA_ARGS__));                                                  \
    }                                                                                                        \
    static CROFT_INLINE void name(CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__))                                  \
    {                                                                                                        \
        struct croft_packet croft_packet = {0, 0, 0, 0, 0, 0};                                               \
        CROFT_CALL_REGION(name, capabilities, __VA_ARGS__)                                                   \
    }                                                                                                        \
    static CROFT_INLINE void name##_body(CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__))

#define CROFT_REGION_RETURNS_OF_1(capabilities, type, name, ...)                                             \
    CROFT_REGION_CHECK(name, 1, __VA_ARGS__)                                                                 \
    CROFT_CHECK(sizeof(type) <= 8, #name ": the result must fit in a register");                             \
    static CROFT_INLINE type name##_body(CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__));                          \
    static CROFT_SEPARATE unsigned long name##_region(CROFT_LIST(CROFT_RAW, __VA_ARGS__))                    \
    {                                                                                                        \
        return CROFT_TO_BITS(type, name##_body(CROFT_LIST(CROFT_UNPACK, __VA_ARGS__)));                      \
    }                                                                                                        \
    static CROFT_INLINE type name(CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__))                                  \
    {                                                                                                        \
        struct croft_packet croft_packet = {0, 0, 0, 0, 0, 0};                                               \
        croft_packet_output(&croft_packet, 10, 0, 0);                                                        \
        CROFT_CALL_REGION(name, capabilities, __VA_ARGS__)                                                   \
        return CROFT_FROM_BITS(type, croft_a0);                                                              \
    }                                                                                                        \
    static CROFT_INLINE type name##_body(CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__))

/* A region without parameters or with too many is an error. What follows the message declares the region as ordinary
 * functions, so that no other error hides it. */
#define CROFT_REGION_OF_0(capabilities, name)               CROFT_REGION_WRONG(void, name, (void), ())
#define CROFT_REGION_RETURNS_OF_0(capabilities, type, name) CROFT_REGION_WRONG(type, name, (void), ())
#define CROFT_REGION_OF_2(capabilities, name, ...)          CROFT_REGION_RETURNS_OF_2(0, void, name, __VA_ARGS__)
#define CROFT_REGION_RETURNS_OF_2(capabilities, type, name, ...)                                             \
    CROFT_REGION_WRONG(type, name, (CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__)),                               \
                       (CROFT_LIST(CROFT_NAME, __VA_ARGS__)))
#define CROFT_REGION_WRONG(type, name, parameters, arguments)                                                \
    CROFT_CHECK(0, #name                                                                                     \
                ": a region has one to eight parameters (CROFT_VALUE, CROFT_IN, CROFT_OUT, CROFT_INOUT)");   \
    static CROFT_INLINE type name##_body parameters;                                                         \
    static CROFT_INLINE type name parameters                                                                 \
    {                                                                                                        \
        name##_body arguments;                                                                               \
        __builtin_trap();                                                                                    \
    }                                                                                                        \
    static CROFT_INLINE type name##_body parameters

/* Parameters of a region. */
#define CROFT_VALUE(type, name) (CROFT_KIND_VALUE, type, name, 0)
#define CROFT_IN(type, ...)     CROFT_RANGE(CROFT_KIND_IN, type, __VA_ARGS__)    /* type, name, bytes */
#define CROFT_OUT(type, ...)    CROFT_RANGE(CROFT_KIND_OUT, type, __VA_ARGS__)   /* type, name, bytes */
#define CROFT_INOUT(type, ...)  CROFT_RANGE(CROFT_KIND_INOUT, type, __VA_ARGS__) /* type, name, bytes */

/* A loop over tasks: it divides 0 .. total-1 into `tasks` parts (fewer if there are fewer grains) and runs its body for
 * each, with part.first and part.count. All parts but the last are multiples of `grain`; their sizes differ by at most
 * one grain. If the body calls one region, the parts can run at the same time:
 *
 *     CROFT_FOR_TASKS(part, n, 16, 512)
 *         scale(x + part.first, y + part.first, part.count);
 *
 * Ranges are rounded out to cache lines: parts that share a line which one of them writes run one after the other. So begin
 * arrays with a line (_Alignas(64)), and let grains be whole lines.
 *
 * The loop is enclosed in the marks of a call of tasks, for machines on which a conventional driver starts tasks:
 * after the loop all its tasks are complete, however the loop is left (break, return, goto; not longjmp). To be
 * correct on such machines, the rest of the body must neither read what regions in the loop write, nor write what they
 * read or write; a region may depend on another region's output or on a result of CROFT_REGION_RETURNS. A nested
 * CROFT_FOR_TASKS ends the outer call; each later task of the outer loop is a call of its own. */
#define CROFT_FOR_TASKS(part, total, tasks, grain)                                                           \
    for (struct croft_part part                                                                              \
         __attribute__((cleanup(croft_part_end))) = croft_part_begin(total, tasks, grain);                   \
         part.count > 0; part = croft_part_next(part))                                                       \
        for (; part.first < part.limit; part.first += part.count)

/* Parts of equal size are consecutive in the inner loop, so that a compiler computes only once what depends on the size
 * alone. */
struct croft_part {
    long first, count; /* this part: first .. first + count - 1 */
    long limit;        /* end of the last part of this size */
    long size, end;    /* size of the smaller parts; end of the last of them if it had whole grains */
    long total;        /* sum of all parts */
};

static inline struct croft_part croft_part_first(long total, long tasks, long grain)
{
    if (grain < 1)
        grain = 1;
    long grains = total > 0 ? (total - 1) / grain + 1 : 0;
    if (tasks > grains)
        tasks = grains;
    if (tasks < 1)
        tasks = 1;
    struct croft_part part = {0, 0, 0, grains / tasks * grain, grains * grain, total > 0 ? total : 0};
    part.count = part.size + grain;
    part.limit = grains % tasks * part.count;
    return part;
}

/* Returns the first part of the next size: the smaller parts follow the larger ones, then comes a last part cut at the
 * total. Its count is 0 if there is none, or if the inner loop was left by `break`. */
static inline struct croft_part croft_part_next(struct croft_part part)
{
    long left = part.total - part.first;
    int over = part.first < part.limit || left <= 0;
    part.count = over ? 0 : left < part.size ? left : part.size;
    part.limit = left < part.size || part.total == part.end ? part.total : part.end - part.size;
    return part;
}

/* Emits a mark around a call of tasks; end: 0 or CROFT_NUCD_MARK_END. */
#define CROFT_NUCD_MARK(end)                                                                                 \
    __asm__ volatile(".insn r 0x33, 2, 0, x0, %0, x0"                                                        \
                     :                                                                                       \
                     : "r"((unsigned long)CROFT_NUCD_MARK_SIGNATURE << 32 | (end))                           \
                     : "memory")

static inline struct croft_part croft_part_begin(long total, long tasks, long grain)
{
    struct croft_part part = croft_part_first(total, tasks, grain);
    if (part.total > 0)
        CROFT_NUCD_MARK(0);
    return part.limit > 0 ? part : croft_part_next(part);
}

static inline void croft_part_end(const struct croft_part *part)
{
    if (part->total > 0)
        CROFT_NUCD_MARK(CROFT_NUCD_MARK_END);
}

/* An order point. In a region, what follows is executed when all instructions and tasks before the region's nucd are
 * complete; outside of regions, when all tasks before it are. A region that uses data without declaring it, as library
 * functions do, executes it first: then regions of one host use the data one at a time, in program order. The C
 * library's functions that have data of their own, or locks, execute it themselves. A region that takes a lock of the
 * program's own executes it before. It does not order different hosts. */
static inline void croft_nucd_order(void)
{
    __asm__ volatile(".insn r 0x33, 3, 0, x0, x0, x0" : : : "memory");
}

/* Implementation. */
enum {
    CROFT_NUCD_CALL_PARCELS = 4, /* auipc and jalr; norelax and norvc keep them at 8 bytes */
    CROFT_NUCD_MOVE_PARCELS = 2, /* mv; norvc keeps it at 4 bytes */
};

/* Bits: 1 = value in, 2 = memory in, 4 = memory out, 8 = not as it should be (CROFT_RANGE). */
enum croft_kind {
    CROFT_KIND_VALUE = 1,
    CROFT_KIND_IN = 2,
    CROFT_KIND_OUT = 4,
    CROFT_KIND_INOUT = 6,
    CROFT_KIND_WRONG = 8
};

struct croft_packet {
    unsigned long xd, xt, memory; /* memory: the M bits, at their places in Xn */
    unsigned inputs, outputs;
    unsigned long too_long; /* 1: a range exceeds the largest segment */
};

#define CROFT_INLINE inline __attribute__((always_inline))
#if __has_attribute(noipa)
#define CROFT_SEPARATE __attribute__((noipa, unused))
#else
#define CROFT_SEPARATE __attribute__((noinline, unused))
#endif

/* Returns the number and size of granules for a range of `bytes` bytes, at their places in a segment, with the smallest
 * granule that suffices; bit 63: none suffices. */
static CROFT_INLINE unsigned long croft_granules(unsigned long bytes)
{
    unsigned shift = bytes <= CROFT_NUCD_MAX_GRANULES << 6    ? 6
                     : bytes <= CROFT_NUCD_MAX_GRANULES << 12 ? 12
                     : bytes <= CROFT_NUCD_MAX_GRANULES << 16 ? 16
                                                              : 20;
    unsigned long size = shift == 6 ? 0 : shift / 4 - 2;
    unsigned long granules = (bytes >> shift) + ((bytes & ((1ul << shift) - 1)) != 0);
    unsigned long none = granules > CROFT_NUCD_MAX_GRANULES;
    return none << 63 | (granules & CROFT_NUCD_MAX_GRANULES) << 5 | size << 14;
}

/* croft_granules() without side effects: if all tasks have the same size, a compiler calls it once, before the loop. */
static __attribute__((const, noinline, unused)) unsigned long croft_granules_of(unsigned long bytes)
{
    if (__builtin_expect(bytes <= CROFT_NUCD_MAX_GRANULES << 6, 1))
        return (bytes + 63) >> 6 << 5;
    return croft_granules(bytes);
}

/* Returns the segment for `bytes` bytes from the address in register number reg. */
static CROFT_INLINE unsigned long croft_segment(struct croft_packet *packet, unsigned reg,
                                                unsigned long bytes)
{
    unsigned long granules = __builtin_constant_p(bytes) ? croft_granules(bytes) : croft_granules_of(bytes);
    packet->too_long |= granules >> 63;
    return reg | (granules & 0xffff);
}

static CROFT_INLINE void croft_packet_input(struct croft_packet *packet, unsigned reg, unsigned long memory,
                                            unsigned long bytes)
{
    packet->xd |= croft_segment(packet, reg, bytes) << (16 * packet->inputs);
    packet->memory |= memory << (24 + packet->inputs++);
}

static CROFT_INLINE void croft_packet_output(struct croft_packet *packet, unsigned reg, unsigned long memory,
                                             unsigned long bytes)
{
    packet->xt |= croft_segment(packet, reg, bytes) << (16 * packet->outputs);
    packet->memory |= memory << (28 + packet->outputs++);
}

static CROFT_INLINE void croft_packet_add(struct croft_packet *packet, unsigned reg, enum croft_kind kind,
                                          unsigned long bytes)
{
    if (kind & (CROFT_KIND_VALUE | CROFT_KIND_IN))
        croft_packet_input(packet, reg, kind != CROFT_KIND_VALUE, bytes);
    if (kind & CROFT_KIND_OUT)
        croft_packet_output(packet, reg, 1, bytes);
}

/* Returns Xn. If the region cannot be described, its length is 0: nucd is malformed and does nothing. */
static CROFT_INLINE unsigned long croft_packet_xn(const struct croft_packet *packet,
                                                  unsigned long capabilities, unsigned parameters)
{
    unsigned long length = CROFT_NUCD_CALL_PARCELS + CROFT_NUCD_MOVE_PARCELS * parameters;
    return (unsigned long)CROFT_NUCD_SIGNATURE << 32 | packet->memory | capabilities << 16 |
           (length & (packet->too_long - 1));
}

/* Convert values of any type of up to 8 bytes to the contents of an integer register, and back. */
#define CROFT_TO_BITS(type, given)                                                                           \
    __extension__({                                                                                          \
        union {                                                                                              \
            unsigned long bits;                                                                              \
            type value;                                                                                      \
        } croft_union = {0};                                                                                 \
        croft_union.value = (given);                                                                         \
        croft_union.bits;                                                                                    \
    })
#define CROFT_FROM_BITS(type, given)                                                                         \
    __extension__({                                                                                          \
        union {                                                                                              \
            unsigned long bits;                                                                              \
            type value;                                                                                      \
        } croft_union = {(given)};                                                                           \
        croft_union.value;                                                                                   \
    })

/* Emits the region: nucd (slt x0, Xn, Xd), and a call of fixed length. The compiler sees neither a loop that it could
 * move code out of, nor a branch that it could merge.
 *
 * Operands and parameters are kept in callee-saved registers, so a loop over tasks keeps them from one nucd to the
 * next: only changed ones cost instructions, and tasks follow each other within few instructions, so that the host's
 * reorder buffer holds many. The region itself moves the parameters to the argument registers. */
#define CROFT_CALL_REGION(name, capabilities, ...)                                                           \
    CROFT_EACH(CROFT_DESCRIBE, __VA_ARGS__)                                                                  \
    CROFT_EACH(CROFT_PACK, __VA_ARGS__)                                                                      \
    unsigned long croft_xn = croft_packet_xn(&croft_packet, capabilities, CROFT_COUNT(__VA_ARGS__));         \
    CROFT_EACH(CROFT_REGISTER, __VA_ARGS__)                                                                  \
    register unsigned long croft_s2 __asm__("s2") = croft_packet.xd; /* x18 and x19: an even pair */         \
    register unsigned long croft_s3 __asm__("s3") = croft_packet.xt;                                         \
    register unsigned long croft_s4 __asm__("s4") = croft_xn;                                                \
    register unsigned long croft_a0 __asm__("a0");                                                           \
    __asm__ volatile(                                                                                        \
        ".option push\n\t"                                                                                   \
        ".option norvc\n\t"                                                                                  \
        ".option norelax\n\t"                                                                                \
        ".insn r 0x33, 2, 0, x0, s4, s2\n\t" CROFT_EACH(CROFT_MOVE, __VA_ARGS__) "call %[croft_target]\n\t"  \
                                                                                 ".option pop"               \
        : "=r"(croft_a0)                                                                                     \
        : [croft_target] "i"(name##_region), "r"(croft_s2), "r"(croft_s3),                                   \
          "r"(croft_s4)CROFT_EACH(CROFT_OPERAND, __VA_ARGS__)                                                \
        : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "ft0",   \
          "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1",       \
          "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "memory");                                               \
    (void)croft_a0;

/* The register that holds parameter i, and that register's number. */
#define CROFT_CARRIER_0         "s5"
#define CROFT_CARRIER_1         "s6"
#define CROFT_CARRIER_2         "s7"
#define CROFT_CARRIER_3         "s8"
#define CROFT_CARRIER_4         "s9"
#define CROFT_CARRIER_5         "s10"
#define CROFT_CARRIER_6         "s11"
#define CROFT_CARRIER_7         "s1"
#define CROFT_CARRIER_NUMBER(i) ((i) < 7 ? 21u + (i) : 9u)

#define CROFT_REGION_CHECK(name, results, ...)                                                               \
    CROFT_CHECK((0 CROFT_EACH(CROFT_IS_INPUT, __VA_ARGS__)) <= CROFT_NUCD_SEGMENTS,                          \
                #name ": a region has at most four inputs (CROFT_VALUE, CROFT_IN, CROFT_INOUT)");            \
    CROFT_CHECK((results CROFT_EACH(CROFT_IS_OUTPUT, __VA_ARGS__)) <= CROFT_NUCD_SEGMENTS,                   \
                #name ": a region has at most four outputs (CROFT_OUT, CROFT_INOUT, the result)");           \
    CROFT_CHECK(1 CROFT_EACH(CROFT_FITS, __VA_ARGS__), #name ": a parameter must fit in a register");        \
    CROFT_CHECK(1 CROFT_EACH(CROFT_HAS_BYTES, __VA_ARGS__),                                                  \
                #name ": CROFT_IN, CROFT_OUT and CROFT_INOUT need three arguments: type, name, bytes");

/* The tuple of a range; with CROFT_KIND_WRONG, if it has no number of bytes, or more than that. */
#define CROFT_RANGE(kind, type, ...)                                                                         \
    CROFT_CAT(CROFT_RANGE_, CROFT_RANGE_COUNT(__VA_ARGS__, 3, 2, 1, 0))(kind, type, __VA_ARGS__)
#define CROFT_RANGE_COUNT(a, b, c, n, ...)           n
#define CROFT_RANGE_1(kind, type, name)              ((kind | CROFT_KIND_WRONG), type, name, 0)
#define CROFT_RANGE_2(kind, type, name, bytes)       (kind, type, name, bytes)
#define CROFT_RANGE_3(kind, type, name, bytes, more) CROFT_RANGE_1(kind, type, name)

/* Uses of parameter i, a tuple (kind, type, name, bytes). */
#define CROFT_PARAMETER(i, tuple) CROFT_APPLY(CROFT_PARAMETER_, i, CROFT_OPEN tuple)
#define CROFT_DESCRIBE(i, tuple)  CROFT_APPLY(CROFT_DESCRIBE_, i, CROFT_OPEN tuple)
#define CROFT_PACK(i, tuple)      CROFT_APPLY(CROFT_PACK_, i, CROFT_OPEN tuple)
#define CROFT_UNPACK(i, tuple)    CROFT_APPLY(CROFT_UNPACK_, i, CROFT_OPEN tuple)
#define CROFT_IS_INPUT(i, tuple)  CROFT_APPLY(CROFT_IS_INPUT_, i, CROFT_OPEN tuple)
#define CROFT_IS_OUTPUT(i, tuple) CROFT_APPLY(CROFT_IS_OUTPUT_, i, CROFT_OPEN tuple)
#define CROFT_FITS(i, tuple)      CROFT_APPLY(CROFT_FITS_, i, CROFT_OPEN tuple)
#define CROFT_HAS_BYTES(i, tuple) CROFT_APPLY(CROFT_HAS_BYTES_, i, CROFT_OPEN tuple)
#define CROFT_NAME(i, tuple)      CROFT_APPLY(CROFT_NAME_, i, CROFT_OPEN tuple)
#define CROFT_RAW(i, tuple)       unsigned long croft_raw##i
#define CROFT_REGISTER(i, tuple)                                                                             \
    register unsigned long croft_in##i __asm__(CROFT_CARRIER_##i) = croft_bits##i;
#define CROFT_OPERAND(i, tuple) , "r"(croft_in##i)
#define CROFT_MOVE(i, tuple)    "mv a" #i ", " CROFT_CARRIER_##i "\n\t"

#define CROFT_PARAMETER_(i, kind, type, name, bytes) type name
#define CROFT_NAME_(i, kind, type, name, bytes)      name
#define CROFT_DESCRIBE_(i, kind, type, name, bytes)                                                          \
    croft_packet_add(&croft_packet, CROFT_CARRIER_NUMBER(i), kind, (unsigned long)(bytes));
#define CROFT_PACK_(i, kind, type, name, bytes)      unsigned long croft_bits##i = CROFT_TO_BITS(type, name);
#define CROFT_UNPACK_(i, kind, type, name, bytes)    CROFT_FROM_BITS(type, croft_raw##i)
#define CROFT_IS_INPUT_(i, kind, type, name, bytes)  +(((kind) & ~CROFT_KIND_WRONG) != CROFT_KIND_OUT)
#define CROFT_IS_OUTPUT_(i, kind, type, name, bytes) +((kind & CROFT_KIND_OUT) != 0)
#define CROFT_FITS_(i, kind, type, name, bytes)      &&sizeof(type) <= 8
#define CROFT_HAS_BYTES_(i, kind, type, name, bytes) &&!((kind)&CROFT_KIND_WRONG)

/* The number of arguments behind the first: 0 if there are none, 1 if there are 1 to 8, 2 if there are 9 to 16. */
#define CROFT_AMOUNT(...)                                                        CROFT_AMOUNT_(__VA_ARGS__, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define CROFT_AMOUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, r, n, ...) n

/* Preprocessor loops over 1 to 8 arguments, lists of up to 16: macro(i, argument) for each, as a sequence or as a comma
 * list. */
#define CROFT_CAT(a, b)                                                      CROFT_CAT_(a, b)
#define CROFT_CAT_(a, b)                                                     a##b
#define CROFT_OPEN(...)                                                      __VA_ARGS__
#define CROFT_APPLY(macro, ...)                                              macro(__VA_ARGS__)
#define CROFT_COUNT(...)                                                     CROFT_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define CROFT_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, n, ...) n
#define CROFT_EACH(macro, ...)                                               CROFT_CAT(CROFT_EACH_, CROFT_COUNT(__VA_ARGS__))(macro, __VA_ARGS__)
#define CROFT_LIST(macro, ...)                                               CROFT_CAT(CROFT_LIST_, CROFT_COUNT(__VA_ARGS__))(macro, __VA_ARGS__)

#define CROFT_EACH_1(m, a)                             m(0, a)
#define CROFT_EACH_2(m, a, b)                          CROFT_EACH_1(m, a) m(1, b)
#define CROFT_EACH_3(m, a, b, c)                       CROFT_EACH_2(m, a, b) m(2, c)
#define CROFT_EACH_4(m, a, b, c, d)                    CROFT_EACH_3(m, a, b, c) m(3, d)
#define CROFT_EACH_5(m, a, b, c, d, e)                 CROFT_EACH_4(m, a, b, c, d) m(4, e)
#define CROFT_EACH_6(m, a, b, c, d, e, f)              CROFT_EACH_5(m, a, b, c, d, e) m(5, f)
#define CROFT_EACH_7(m, a, b, c, d, e, f, g)           CROFT_EACH_6(m, a, b, c, d, e, f) m(6, g)
#define CROFT_EACH_8(m, a, b, c, d, e, f, g, h)        CROFT_EACH_7(m, a, b, c, d, e, f, g) m(7, h)
#define CROFT_LIST_1(m, a)                             m(0, a)
#define CROFT_LIST_2(m, a, b)                          CROFT_LIST_1(m, a), m(1, b)
#define CROFT_LIST_3(m, a, b, c)                       CROFT_LIST_2(m, a, b), m(2, c)
#define CROFT_LIST_4(m, a, b, c, d)                    CROFT_LIST_3(m, a, b, c), m(3, d)
#define CROFT_LIST_5(m, a, b, c, d, e)                 CROFT_LIST_4(m, a, b, c, d), m(4, e)
#define CROFT_LIST_6(m, a, b, c, d, e, f)              CROFT_LIST_5(m, a, b, c, d, e), m(5, f)
#define CROFT_LIST_7(m, a, b, c, d, e, f, g)           CROFT_LIST_6(m, a, b, c, d, e, f), m(6, g)
#define CROFT_LIST_8(m, a, b, c, d, e, f, g, h)        CROFT_LIST_7(m, a, b, c, d, e, f, g), m(7, h)
#define CROFT_LIST_9(m, a, b, c, d, e, f, g, h, i)     CROFT_LIST_8(m, a, b, c, d, e, f, g, h), m(8, i)
#define CROFT_LIST_10(m, a, b, c, d, e, f, g, h, i, j) CROFT_LIST_9(m, a, b, c, d, e, f, g, h, i), m(9, j)
#define CROFT_LIST_11(m, a, b, c, d, e, f, g, h, i, j, k)                                                    \
    CROFT_LIST_10(m, a, b, c, d, e, f, g, h, i, j), m(10, k)
#define CROFT_LIST_12(m, a, b, c, d, e, f, g, h, i, j, k, l)                                                 \
    CROFT_LIST_11(m, a, b, c, d, e, f, g, h, i, j, k), m(11, l)
#define CROFT_LIST_13(m, a, b, c, d, e, f, g, h, i, j, k, l, o)                                              \
    CROFT_LIST_12(m, a, b, c, d, e, f, g, h, i, j, k, l), m(12, o)
#define CROFT_LIST_14(m, a, b, c, d, e, f, g, h, i, j, k, l, o, p)                                           \
    CROFT_LIST_13(m, a, b, c, d, e, f, g, h, i, j, k, l, o), m(13, p)
#define CROFT_LIST_15(m, a, b, c, d, e, f, g, h, i, j, k, l, o, p, q)                                        \
    CROFT_LIST_14(m, a, b, c, d, e, f, g, h, i, j, k, l, o, p), m(14, q)
#define CROFT_LIST_16(m, a, b, c, d, e, f, g, h, i, j, k, l, o, p, q, r)                                     \
    CROFT_LIST_15(m, a, b, c, d, e, f, g, h, i, j, k, l, o, p, q), m(15, r)

#endif
