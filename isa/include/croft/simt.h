/* SIMT: kernels in plain C that many threads run, on multiprocessors where the machine has them, else on the scalar core.
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
 * A grid consists of blocks, a block of threads. The threads of a block share a scratchpad and can wait for one another;
 * blocks run in any order. Each thread has a stack, thread-local variables, errno and struct _reent of its own; memory,
 * files and stdio streams are common to all. isa/MANUAL.md, chapter SIMT, states the order of memory accesses.
 *
 * Where nobody answers the launch call (qemu-riscv64, machines without multiprocessors), the same code runs on the scalar
 * core: blocks one after the other, the threads of a block as coroutines. A program whose threads do not race prints the
 * same there. Two differences: a thread gives way to others only in simt_barrier() and simt_pause(), so loops that wait
 * for another thread's store need simt_pause(); and threads of different blocks cannot wait for each other, as only the
 * blocks that fit are certain to run at the same time on multiprocessors, too.
 *
 * Left out: kernels cannot launch kernels (EBUSY), pointers to a thread's stack are only for threads of its own launch. */
#ifndef CROFT_SIMT_H
#define CROFT_SIMT_H

#include <stdint.h>

#define CROFT_SIMT_INLINE static inline __attribute__((always_inline, unused))

/* Extents of a grid in blocks, or of a block in threads; y or z of 0 count as 1. */
struct simt_dim {
    uint32_t x, y, z;
};

/* simt_dim(x), simt_dim(x, y) or simt_dim(x, y, z) */
#define simt_dim(...) ((struct simt_dim){__VA_ARGS__})

/* What a launch may say besides: designated initialisers at the end of simt_launch(). */
struct simt_options {
    uint32_t
        scratchpad; /* bytes that simt_shared() points to in each block; their contents are undefined at first */
    uint32_t
        registers; /* 64-bit registers of a thread, which limit the blocks per multiprocessor; 0: found out */
    uint64_t queue; /* launches of one queue run in their order, those of different queues may overlap */
    uint32_t unused;
};

/* Starts `kernel`, the name of a function void (T *), on all threads of a grid, each with `argument` (T *), which
 * must stay valid until the launch has ended. What the program stored before, the threads see. Options follow as
 * designated initialisers: simt_launch(k, &a, simt_dim(8), simt_dim(256), .scratchpad = 1024).
 * Returns the launch's number, > 0; or -1 and errno: EINVAL for a grid of no threads, a block of more threads than
 * simt_most_threads() or more scratchpad than simt_most_shared(); EBUSY in a kernel; ENOMEM. */
#define simt_launch(kernel, argument, grid, block, ...)                                                      \
    croft_simt_launch(simt_entry(kernel), ((void)sizeof((kernel)(argument), 0), (argument)), (grid),         \
                      (block), (struct simt_options){.unused = 0, __VA_ARGS__})

/* Waits until launch `number` has ended, all launches if it is 0. Returns 0; or -1 and errno EINVAL if there was no such
 * launch. What the threads stored, the caller sees then. */
int simt_wait(long number);

/* The machine: multiprocessors (0: kernels run on the scalar core), threads of a warp, most threads of a block, most
 * bytes of scratchpad of a block. Only for the host. */
unsigned simt_count(void);
unsigned simt_width(void);
unsigned simt_most_threads(void);
unsigned simt_most_shared(void);

/* The scalar core's stand-in for the coordinates in CSRs. */
struct croft_simt_state {
    uint32_t hardware; /* threads run on multiprocessors: the CSRs exist */
    uint32_t thread[3], block[3], block_dim[3], grid_dim[3];
    uint32_t thread_in_block;
    uint64_t thread_id;
    void *shared;
    uint64_t shared_size;
};
extern struct croft_simt_state croft_simt;

/* CSRs of a multiprocessor's threads, read-only but for the barrier. */
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
    CROFT_SIMT_BARRIER = 0x8c0, /* written: the thread waits for its block */
};

/* volatile, because the compiler may otherwise read the CSR before it asks whether there is one. */
#define CROFT_SIMT_READ(csr, stand_in)                                                                       \
    __extension__({                                                                                          \
        uint64_t croft_value;                                                                                \
        if (croft_simt.hardware)                                                                             \
            __asm__ volatile("csrr %0, %1" : "=r"(croft_value) : "i"(csr));                                  \
        else                                                                                                 \
            croft_value = (uint64_t)(stand_in);                                                              \
        croft_value;                                                                                         \
    })

#define CROFT_SIMT_COORDINATE(name, csr, stand_in)                                                           \
    CROFT_SIMT_INLINE uint32_t name(void)                                                                    \
    {                                                                                                        \
        return (uint32_t)CROFT_SIMT_READ(csr, stand_in);                                                     \
    }

/* Where a thread is; only for kernels and what they call. Position in its block, and of its block in the grid: */
CROFT_SIMT_COORDINATE(thread_x, CROFT_SIMT_THREAD, croft_simt.thread[0])
CROFT_SIMT_COORDINATE(thread_y, CROFT_SIMT_THREAD + 1, croft_simt.thread[1])
CROFT_SIMT_COORDINATE(thread_z, CROFT_SIMT_THREAD + 2, croft_simt.thread[2])
CROFT_SIMT_COORDINATE(block_x, CROFT_SIMT_BLOCK, croft_simt.block[0])
CROFT_SIMT_COORDINATE(block_y, CROFT_SIMT_BLOCK + 1, croft_simt.block[1])
CROFT_SIMT_COORDINATE(block_z, CROFT_SIMT_BLOCK + 2, croft_simt.block[2])
/* The block's extent in threads, and the grid's in blocks: */
CROFT_SIMT_COORDINATE(block_dim_x, CROFT_SIMT_BLOCK_DIM, croft_simt.block_dim[0])
CROFT_SIMT_COORDINATE(block_dim_y, CROFT_SIMT_BLOCK_DIM + 1, croft_simt.block_dim[1])
CROFT_SIMT_COORDINATE(block_dim_z, CROFT_SIMT_BLOCK_DIM + 2, croft_simt.block_dim[2])
CROFT_SIMT_COORDINATE(grid_dim_x, CROFT_SIMT_GRID_DIM, croft_simt.grid_dim[0])
CROFT_SIMT_COORDINATE(grid_dim_y, CROFT_SIMT_GRID_DIM + 1, croft_simt.grid_dim[1])
CROFT_SIMT_COORDINATE(grid_dim_z, CROFT_SIMT_GRID_DIM + 2, croft_simt.grid_dim[2])
/* Where the hardware has put it, which results should not depend on; the scalar core is one with warps of one thread: */
CROFT_SIMT_COORDINATE(lane_id, CROFT_SIMT_LANE, 0)
CROFT_SIMT_COORDINATE(warp_id, CROFT_SIMT_WARP, croft_simt.thread_in_block)
CROFT_SIMT_COORDINATE(multiprocessor_id, CROFT_SIMT_MULTIPROCESSOR, 0)

/* The thread's number in the grid: block by block, and within each x fastest, then y, then z. */
CROFT_SIMT_INLINE uint64_t thread_id(void)
{
    return CROFT_SIMT_READ(CROFT_SIMT_THREAD_ID, croft_simt.thread_id);
}

/* The block's number in the grid: x fastest, then y, then z. */
CROFT_SIMT_INLINE uint64_t block_id(void)
{
    return block_x() + (uint64_t)grid_dim_x() * (block_y() + (uint64_t)grid_dim_y() * block_z());
}

/* The number of threads in a block, and in the grid. */
CROFT_SIMT_INLINE uint32_t block_size(void)
{
    return block_dim_x() * block_dim_y() * block_dim_z();
}
CROFT_SIMT_INLINE uint64_t thread_count(void)
{
    return (uint64_t)block_size() * grid_dim_x() * grid_dim_y() * grid_dim_z();
}

/* The block's scratchpad, aligned to 64 bytes, and its size in bytes. */
CROFT_SIMT_INLINE void *simt_shared(void)
{
    return (void *)(uintptr_t)CROFT_SIMT_READ(CROFT_SIMT_SHARED, (uintptr_t)croft_simt.shared);
}
CROFT_SIMT_INLINE uint64_t simt_shared_size(void)
{
    return CROFT_SIMT_READ(CROFT_SIMT_SHARED_SIZE, croft_simt.shared_size);
}

/* Waits until all threads of the block that have not ended are here; what they stored before, all see then. */
CROFT_SIMT_INLINE void simt_barrier(void)
{
    void croft_simt_barrier(void);
    if (croft_simt.hardware)
        __asm__ volatile("csrw %0, zero" : : "i"(CROFT_SIMT_BARRIER) : "memory");
    else
        croft_simt_barrier();
}

/* Within a loop that waits for another thread's store. On multiprocessors: the hint `pause`. */
CROFT_SIMT_INLINE void simt_pause(void)
{
    void croft_simt_yield(void);
    if (croft_simt.hardware)
        __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x10" : : : "memory");
    else
        croft_simt_yield();
}

/* Atomics: C11's <stdatomic.h>, on types of four and eight bytes. It has no minimum and maximum; these store the lesser
 * or greater of *object and value, and return what *object was, in no order with other accesses. */
#define simt_atomic_min(object, value) CROFT_SIMT_AMO("min", object, value)
#define simt_atomic_max(object, value) CROFT_SIMT_AMO("max", object, value)

#define CROFT_SIMT_AMO(what, object, value)                                                                  \
    __extension__({                                                                                          \
        __typeof__(*(object)) croft_old, croft_new = (value);                                                \
        _Static_assert(sizeof croft_old == 4 || sizeof croft_old == 8, "atomics have four or eight bytes");  \
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

/* From here on: how it is done. */

/* The address where threads of a kernel begin: a few instructions of the kernel's own, which set sp and tp and call it by
 * name, so that what a thread can reach, and with it the registers that it needs, is found by following calls. `kernel` must be a function's name. */
#define simt_entry(kernel)                                                                                   \
    __extension__({                                                                                          \
        uint64_t croft_entry;                                                                                \
        __asm__(".pushsection .text.simt_entry, \"ax\", @progbits\n"                                         \
                "771:\tcall t0, croft_simt_enter\n\t"                                                        \
                "call %1\n\t"                                                                                \
                "ld ra, -16(tp)\n\t"                                                                         \
                "ret\n\t"                                                                                    \
                ".popsection\n\t"                                                                            \
                "lla %0, 771b"                                                                               \
                : "=r"(croft_entry)                                                                          \
                : "i"(kernel));                                                                              \
        croft_entry;                                                                                         \
    })

/* simt_launch() for an entry that simt_entry() gave. */
long croft_simt_launch(uint64_t entry, const void *argument, struct simt_dim grid, struct simt_dim block,
                       struct simt_options options);

#endif
