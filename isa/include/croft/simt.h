/* SIMT: kernels in plain C that many threads run, on multiprocessors if the machine has them, else on the scalar core.
 *
 *     struct add { const float *a, *b; float *sum; long n; };
 *
 *     static void add(const struct add *p)
 *     {
 *         for (long i = (long)thread_id(); i < p->n; i += (long)thread_count())
 *             p->sum[i] = p->a[i] + p->b[i];
 *     }
 *
 *     simt_launch(add, &arguments, simt_dim(16), simt_dim(128));
 *     simt_wait(0);
 *
 * A grid consists of blocks, a block of threads. The threads of a block share a scratchpad and can wait for one
 * another; blocks run in any order. Each thread has its own stack, thread-local variables, errno and struct _reent;
 * memory, files and stdio streams are shared. isa/MANUAL.md, chapter SIMT, states the order of memory accesses.
 *
 * Where the launch call is not implemented (qemu-riscv64, machines without multiprocessors), the same code runs on the
 * scalar core: blocks one after the other, the threads of a block as coroutines. A program without data races prints
 * the same there, with two restrictions: a thread yields to others only in simt_barrier() and simt_pause(), so loops
 * that wait for another thread's store need simt_pause(); and threads of different blocks cannot wait for each other.
 * On multiprocessors, too, only blocks that fit at the same time are certain to run concurrently.
 *
 * Restrictions: kernels cannot launch kernels or wait for them (EBUSY); only threads of the same launch may use pointers to a thread's
 * stack.
 *
 * Programs of Linux (croft cc --linux, croft c++) have the same, with the library share/croft/linux/libcroft.a. Kernels' threads
 * there have no thread-local storage, and so no errno, no stdio and no malloc(): on multiprocessors their first use of it ends the
 * program with a message. Kernels may be functions of C++ (C++14 and later), without exceptions that leave them. */
#ifndef CROFT_SIMT_H
#define CROFT_SIMT_H

#include <croft/check.h>
#include <stdint.h>

#define CROFT_SIMT_INLINE static inline __attribute__((always_inline, unused))

/* Of C++ (from C++14 on), so that initialisers that leave members out are complete. */
#ifdef __cplusplus
#define CROFT_SIMT_ZERO            = 0
#define CROFT_SIMT_MAKE(type, ...) (type{__VA_ARGS__})
#define CROFT_SIMT_OPTIONS(...)    (simt_options{__VA_ARGS__})
extern "C" {
#else
#define CROFT_SIMT_ZERO
#define CROFT_SIMT_MAKE(type, ...) ((struct type){__VA_ARGS__})
#define CROFT_SIMT_OPTIONS(...)    ((struct simt_options){.unused = 0, __VA_ARGS__})
#endif

/* Size of a grid in blocks, or of a block in threads; y or z of 0 count as 1. */
struct simt_dim {
    uint32_t x CROFT_SIMT_ZERO, y CROFT_SIMT_ZERO, z CROFT_SIMT_ZERO;
};

/* simt_dim(x), simt_dim(x, y) or simt_dim(x, y, z) */
#define simt_dim(...) CROFT_SIMT_MAKE(simt_dim, __VA_ARGS__)

/* Options of a launch: designated initialisers at the end of simt_launch(). */
struct simt_options {
    /* Bytes that simt_shared() points to in each block; their initial contents are undefined. */
    uint32_t scratchpad CROFT_SIMT_ZERO;
    /* 32-bit registers of a thread, which limit the blocks on a multiprocessor; 0: determined from the code */
    uint32_t registers CROFT_SIMT_ZERO;
    uint64_t queue
        CROFT_SIMT_ZERO; /* launches of one queue run in order, those of different queues may overlap */
    uint32_t unused CROFT_SIMT_ZERO;
};

/* Starts `kernel`, the name of a function void (T *), on all threads of a grid, each with `argument` (T *), which must
 * stay valid until the launch has ended. The threads see all earlier stores of the program. Options follow as
 * designated initialisers: simt_launch(k, &a, simt_dim(8), simt_dim(256), .scratchpad = 1024). Returns the launch's
 * number, > 0; or -1 and errno: EINVAL for a grid without threads, a block of more threads than simt_most_threads() or
 * more scratchpad than simt_most_shared(); EBUSY in a kernel; ENOMEM. */
#define simt_launch(kernel, argument, grid, block, ...)                                                      \
    croft_simt_launch(simt_entry(kernel), ((void)sizeof((kernel)(argument), 0), (argument)), (grid),         \
                      (block), CROFT_SIMT_OPTIONS(__VA_ARGS__))

/* Waits until launch `number` has ended; 0: all launches. Returns 0; or -1 and errno: EINVAL if there was no such
 * launch, EBUSY in a kernel. Afterwards the caller sees the threads' stores. */
int simt_wait(long number);

/* Properties of the machine: multiprocessors (0: kernels run on the scalar core), threads of a warp, most threads of a
 * block, most bytes of scratchpad of a block. For the host only. */
unsigned simt_count(void);
unsigned simt_width(void);
unsigned simt_most_threads(void);
unsigned simt_most_shared(void);

/* The coordinates that the scalar core uses in place of CSRs. */
struct croft_simt_state {
    uint32_t hardware; /* threads run on multiprocessors */
    uint32_t thread[3], block[3], block_dim[3], grid_dim[3];
    uint32_t thread_in_block;
    uint64_t thread_id;
    void *shared;
    uint64_t shared_size;
};
extern struct croft_simt_state croft_simt;

/* simt_launch() for an entry returned by simt_entry(). */
long croft_simt_launch(uint64_t entry, const void *argument, struct simt_dim grid, struct simt_dim block,
                       struct simt_options options);

#ifdef __cplusplus
}
#endif

/* CSRs of a multiprocessor's threads, read-only except for the barrier. */
enum croft_simt_csr {
    CROFT_SIMT_THREAD = 0xcc0, /* x, y, z */
    CROFT_SIMT_BLOCK = 0xcc3,
    CROFT_SIMT_BLOCK_DIM = 0xcc6,
    CROFT_SIMT_GRID_DIM = 0xcc9,
    CROFT_SIMT_LANE = 0xccc,
    CROFT_SIMT_WARP = 0xccd,
    CROFT_SIMT_MULTIPROCESSOR = 0xcce,
    CROFT_SIMT_THREAD_ID = 0xccf,
    CROFT_SIMT_SHARED = 0xcd0,
    CROFT_SIMT_SHARED_SIZE = 0xcd1,
    CROFT_SIMT_STASH = 0xcd2,   /* croft/stash.h */
    CROFT_SIMT_DMA = 0xcd3,     /* croft/dma.h */
    CROFT_SIMT_BARRIER = 0x8c0, /* a write waits for the block */
};

/* Threads of multiprocessors have tp in the window of stacks, whose bit 46 is set (isa/MANUAL.md, chapter SIMT); other
 * harts have it lower. So the test needs no load, and a shift by 17 makes the bit the sign.
 *
 * In programs of Linux, where tp of the program's threads can be anywhere in an address space of 47 bits, theirs is one that no
 * thread-local storage can have: 5 << 44. */
#ifdef __linux__
#define CROFT_SIMT_ON_HARDWARE(reg, label)                                                                   \
    "li " reg ", 5\n\t"                                                                                      \
    "slli " reg ", " reg ", 44\n\t"                                                                          \
    "beq " reg ", tp, " label "\n\t"
#else
#define CROFT_SIMT_ON_HARDWARE(reg, label)                                                                   \
    "slli " reg ", tp, 17\n\t"                                                                               \
    "bltz " reg ", " label "\n\t"
#endif

/* Reads a CSR, or executes the instruction `instead`. Not volatile, because a thread's coordinates do not change, so
 * the compiler may keep them; the test is in the same statement, because the compiler could otherwise read the CSR
 * before it. */
#define CROFT_SIMT_READ(csr, instead, ...)                                                                   \
    __extension__({                                                                                          \
        uint64_t croft_value;                                                                                \
        __asm__(CROFT_SIMT_ON_HARDWARE("%0", "1f") instead "\n\t"                                            \
                                                           "j 2f\n"                                          \
                                                           "1:\tcsrr %0, %1\n"                               \
                                                           "2:"                                              \
                : "=r"(croft_value)                                                                          \
                : "i"(csr), ##__VA_ARGS__);                                                                  \
        croft_value;                                                                                         \
    })
#define CROFT_SIMT_FIELD(field) "i"(__builtin_offsetof(struct croft_simt_state, field))

#define CROFT_SIMT_CONSTANT(name, csr, stand_in)                                                             \
    CROFT_SIMT_INLINE uint32_t name(void)                                                                    \
    {                                                                                                        \
        return (uint32_t)CROFT_SIMT_READ(csr, "li %0, " stand_in);                                           \
    }
#define CROFT_SIMT_COORDINATE(name, csr, field)                                                              \
    CROFT_SIMT_INLINE uint32_t name(void)                                                                    \
    {                                                                                                        \
        return (uint32_t)CROFT_SIMT_READ(csr, "lw %0, croft_simt+%2", CROFT_SIMT_FIELD(field));              \
    }

/* Coordinates of a thread, for kernels and the functions they call. Position of the thread in its block, and of its
 * block in the grid: */
CROFT_SIMT_COORDINATE(thread_x, CROFT_SIMT_THREAD, thread[0])
CROFT_SIMT_COORDINATE(thread_y, CROFT_SIMT_THREAD + 1, thread[1])
CROFT_SIMT_COORDINATE(thread_z, CROFT_SIMT_THREAD + 2, thread[2])
CROFT_SIMT_COORDINATE(block_x, CROFT_SIMT_BLOCK, block[0])
CROFT_SIMT_COORDINATE(block_y, CROFT_SIMT_BLOCK + 1, block[1])
CROFT_SIMT_COORDINATE(block_z, CROFT_SIMT_BLOCK + 2, block[2])
/* Size of the block in threads, and of the grid in blocks: */
CROFT_SIMT_COORDINATE(block_dim_x, CROFT_SIMT_BLOCK_DIM, block_dim[0])
CROFT_SIMT_COORDINATE(block_dim_y, CROFT_SIMT_BLOCK_DIM + 1, block_dim[1])
CROFT_SIMT_COORDINATE(block_dim_z, CROFT_SIMT_BLOCK_DIM + 2, block_dim[2])
CROFT_SIMT_COORDINATE(grid_dim_x, CROFT_SIMT_GRID_DIM, grid_dim[0])
CROFT_SIMT_COORDINATE(grid_dim_y, CROFT_SIMT_GRID_DIM + 1, grid_dim[1])
CROFT_SIMT_COORDINATE(grid_dim_z, CROFT_SIMT_GRID_DIM + 2, grid_dim[2])
/* Placement on the hardware, which results should not depend on; the scalar core counts as one multiprocessor with
 * warps of one thread: */
CROFT_SIMT_CONSTANT(lane_id, CROFT_SIMT_LANE, "0")
CROFT_SIMT_COORDINATE(warp_id, CROFT_SIMT_WARP, thread_in_block)
CROFT_SIMT_CONSTANT(multiprocessor_id, CROFT_SIMT_MULTIPROCESSOR, "0")

/* Returns the thread's number in the grid: block by block; within a block x varies fastest, then y, then z. */
CROFT_SIMT_INLINE uint64_t thread_id(void)
{
    return CROFT_SIMT_READ(CROFT_SIMT_THREAD_ID, "ld %0, croft_simt+%2", CROFT_SIMT_FIELD(thread_id));
}

/* Returns the block's number in the grid: x varies fastest, then y, then z. */
CROFT_SIMT_INLINE uint64_t block_id(void)
{
    return block_x() + (uint64_t)grid_dim_x() * (block_y() + (uint64_t)grid_dim_y() * block_z());
}

/* Return the number of threads in a block, and in the grid. */
CROFT_SIMT_INLINE uint32_t block_size(void)
{
    return block_dim_x() * block_dim_y() * block_dim_z();
}
CROFT_SIMT_INLINE uint64_t thread_count(void)
{
    return (uint64_t)block_size() * grid_dim_x() * grid_dim_y() * grid_dim_z();
}

/* Return the block's scratchpad, aligned to 64 bytes, and its size in bytes. */
CROFT_SIMT_INLINE void *simt_shared(void)
{
    return (void *)(uintptr_t)CROFT_SIMT_READ(CROFT_SIMT_SHARED, "ld %0, croft_simt+%2",
                                              CROFT_SIMT_FIELD(shared));
}
CROFT_SIMT_INLINE uint64_t simt_shared_size(void)
{
    return CROFT_SIMT_READ(CROFT_SIMT_SHARED_SIZE, "ld %0, croft_simt+%2", CROFT_SIMT_FIELD(shared_size));
}

/* Executes an instruction on multiprocessors; calls a function elsewhere. That saves all registers but t0 itself, so
 * that the compiler need not. */
#define CROFT_SIMT_WAIT(instruction, function)                                                               \
    __asm__ volatile(CROFT_SIMT_ON_HARDWARE("t0", "1f") "call t0, " function "\n\t"                          \
                                                        "j 2f\n"                                             \
                                                        "1:\t" instruction "\n"                              \
                                                        "2:"                                                 \
                     :                                                                                       \
                     : "i"(CROFT_SIMT_BARRIER)                                                               \
                     : "t0", "memory")

/* Waits until all threads of the block that have not ended have arrived; then they all see each other's earlier
 * stores. */
CROFT_SIMT_INLINE void simt_barrier(void)
{
    CROFT_SIMT_WAIT("csrw %0, zero", "croft_simt_barrier");
}

/* Call it in a loop that waits for another thread's store. On multiprocessors it is the hint `pause`. */
CROFT_SIMT_INLINE void simt_pause(void)
{
    CROFT_SIMT_WAIT(".insn i 0x0f, 0, x0, x0, 0x10", "croft_simt_yield");
}

/* Atomics: use C11's <stdatomic.h>, on types of four and eight bytes. It lacks minimum and maximum: these store the
 * smaller or larger of *object and value and return the old *object, unordered with other accesses. */
#define simt_atomic_min(object, value) CROFT_SIMT_AMO("min", object, value)
#define simt_atomic_max(object, value) CROFT_SIMT_AMO("max", object, value)

#define CROFT_SIMT_AMO(what, object, value)                                                                  \
    __extension__({                                                                                          \
        __typeof__(*(object)) croft_old, croft_new = (value);                                                \
        CROFT_CHECK(sizeof croft_old == 4 || sizeof croft_old == 8, "atomics have four or eight bytes");     \
        if (sizeof croft_old == 8 && (__typeof__(*(object)))-1 > 0)                                          \
            __asm__ volatile("amo" what "u.d %0, %2, %1"                                                     \
                             : "=r"(croft_old), "+A"(*(object))                                              \
                             : "r"(croft_new));                                                              \
        else if (sizeof croft_old == 8)                                                                      \
            __asm__ volatile("amo" what ".d %0, %2, %1"                                                      \
                             : "=r"(croft_old), "+A"(*(object))                                              \
                             : "r"(croft_new));                                                              \
        else if ((__typeof__(*(object)))-1 > 0)                                                              \
            __asm__ volatile("amo" what "u.w %0, %2, %1"                                                     \
                             : "=r"(croft_old), "+A"(*(object))                                              \
                             : "r"(croft_new));                                                              \
        else                                                                                                 \
            __asm__ volatile("amo" what ".w %0, %2, %1"                                                      \
                             : "=r"(croft_old), "+A"(*(object))                                              \
                             : "r"(croft_new));                                                              \
        croft_old;                                                                                           \
    })

/* Implementation. */

/* Returns the address at which threads of a kernel begin: a few instructions for each kernel, which set sp and tp and
 * call the kernel by name. So the code that a thread can reach, and with it the registers that it needs, is found by
 * following calls. `kernel` must be a function's name. */
#define simt_entry(kernel)                                                                                   \
    __extension__({                                                                                          \
        uint64_t croft_entry;                                                                                \
        __asm__(".pushsection .text.simt_entry, \"ax\", @progbits\n"                                         \
                "771:\tcall t0, croft_simt_enter\n\t"                                                        \
                "call %1\n\t"                                                                                \
                "tail croft_simt_leave\n\t"                                                                  \
                ".popsection\n\t"                                                                            \
                "lla %0, 771b"                                                                               \
                : "=r"(croft_entry)                                                                          \
                : "i"(kernel));                                                                              \
        croft_entry;                                                                                         \
    })

#endif
