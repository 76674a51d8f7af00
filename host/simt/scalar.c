/* Runs a grid on the scalar core: blocks one after the other, the threads of a block as coroutines in the
 * order of their numbers. A thread runs until it ends, waits at the barrier or pauses. Only waiting and
 * paused threads keep a stack. */
#include <croft/simt.h>
#include <errno.h>
#include <platform.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/calls/call.h"
#include "host/simt/simt.h"

enum {
    SCALAR_STACK = 32 * 1024, /* bytes: twice what newlib's printf() of floating-point numbers needs */
    SCALAR_FRAME = SIMT_SWITCH_FRAME / 8, /* 64-bit words that simt_scalar_switch() saves */
    SCALAR_ALIGNMENT = 64,
};

/* Value of the lowest word of each stack; an overflow overwrites it. */
static const uint64_t scalar_guard = UINT64_C(0x6b63617473646e65);

enum scalar_state { SCALAR_NEW, SCALAR_READY, SCALAR_WAITING, SCALAR_ENDED };

struct scalar_thread {
    enum scalar_state state;
    uint64_t *stack; /* NULL in states NEW and ENDED */
    uint64_t *sp;
};

struct scalar_grid {
    const struct simt_launch_record *launch;
    uint32_t block_size;
    struct scalar_thread *threads; /* threads of the running block */
    uint64_t **spare;              /* unused stacks; there are `spares` */
    uint32_t spares;
    uint32_t current; /* number of the running thread in the block */
    uint32_t live;    /* threads of the block that have not ended */
    uint32_t waiting; /* live threads at the barrier */
    uint64_t first;   /* number in the grid of the block's first thread */
    uint64_t *scheduler;
};

/* The running grid; its threads find the scheduler here. */
static struct scalar_grid *scalar_running;

/* One grid runs at a time, whichever of the program's threads launches it. */
static struct {
    enum {
        SCALAR_FREE,
        SCALAR_HELD,
        SCALAR_AWAITED
    } lock;        /* awaited: held, and the holder wakes another thread */
    long launched; /* number of the last grid */
} scalar;

static void scalar_fail(const char *what)
{
    simt_fail(croft_simt.thread_id, what);
}

/* Switches from a thread to the scheduler. */
static void scalar_leave(enum scalar_state state)
{
    struct scalar_grid *grid = scalar_running;
    struct scalar_thread *thread = &grid->threads[grid->current];
    thread->state = state;
    simt_scalar_switch(&thread->sp, grid->scheduler);
}

void simt_scalar_ended(void)
{
    scalar_leave(SCALAR_ENDED);
}

void simt_scalar_barrier(void)
{
    if (simt_scalar_runs())
        scalar_leave(SCALAR_WAITING);
}

void simt_scalar_yield(void)
{
    if (simt_scalar_runs())
        scalar_leave(SCALAR_READY);
}

/* Gives a thread that is about to start a stack with the frame that simt_scalar_switch() restores. */
static void scalar_prepare(struct scalar_grid *grid, struct scalar_thread *thread)
{
    uint64_t *stack =
        grid->spares > 0 ? grid->spare[--grid->spares] : aligned_alloc(SCALAR_ALIGNMENT, SCALAR_STACK);
    if (!stack)
        scalar_fail("no memory for its stack");
    stack[0] = scalar_guard;
    uint64_t *frame = stack + SCALAR_STACK / sizeof *stack - SCALAR_FRAME;
    memset(frame, 0, SCALAR_FRAME * sizeof *frame); /* including tp and fcsr */
    frame[0] = (uintptr_t)simt_scalar_begin;
    frame[1] = grid->launch->entry;
    frame[2] = grid->launch->argument;
    frame[3] = (uintptr_t)simt_scalar_ended;
    thread->stack = stack;
    thread->sp = frame;
}

/* Advances the coordinates to the next thread. */
static void scalar_advance(const uint32_t block[3])
{
    croft_simt.thread_in_block++;
    croft_simt.thread_id++;
    if (++croft_simt.thread[0] < block[0])
        return;
    croft_simt.thread[0] = 0;
    if (++croft_simt.thread[1] < block[1])
        return;
    croft_simt.thread[1] = 0;
    croft_simt.thread[2]++;
}

/* Runs a thread until it leaves. */
static void scalar_step(struct scalar_grid *grid, uint32_t number)
{
    struct scalar_thread *thread = &grid->threads[number];
    grid->current = number;
    if (thread->state == SCALAR_NEW)
        scalar_prepare(grid, thread);
    simt_scalar_switch(&grid->scheduler, thread->sp);
    if (thread->stack[0] != scalar_guard)
        scalar_fail("its stack of 32 KiB is too small");
    grid->waiting += thread->state == SCALAR_WAITING;
    if (thread->state == SCALAR_ENDED) {
        grid->spare[grid->spares++] = thread->stack;
        thread->stack = NULL;
        grid->live--;
    }
}

/* Gives each runnable thread a turn. */
static void scalar_round(struct scalar_grid *grid)
{
    memset(croft_simt.thread, 0, sizeof croft_simt.thread);
    croft_simt.thread_in_block = 0;
    croft_simt.thread_id = grid->first;
    for (uint32_t i = 0; i < grid->block_size; i++) {
        if (grid->threads[i].state == SCALAR_NEW || grid->threads[i].state == SCALAR_READY)
            scalar_step(grid, i);
        scalar_advance(grid->launch->block);
    }
}

/* Opens the barrier if all live threads wait at it. */
static void scalar_open_barrier(struct scalar_grid *grid)
{
    if (grid->waiting < grid->live)
        return;
    for (uint32_t i = 0; i < grid->block_size; i++)
        if (grid->threads[i].state == SCALAR_WAITING)
            grid->threads[i].state = SCALAR_READY;
    grid->waiting = 0;
}

static void scalar_block(struct scalar_grid *grid)
{
    memset(grid->threads, 0, grid->block_size * sizeof *grid->threads);
    grid->live = grid->block_size;
    while (grid->live > 0) {
        scalar_round(grid);
        scalar_open_barrier(grid);
    }
    grid->first += grid->block_size;
}

static void scalar_blocks(struct scalar_grid *grid)
{
    const uint32_t *extent = grid->launch->grid;
    memcpy(croft_simt.block_dim, grid->launch->block, sizeof croft_simt.block_dim);
    memcpy(croft_simt.grid_dim, extent, sizeof croft_simt.grid_dim);
    for (uint32_t z = 0; z < extent[2]; z++)
        for (uint32_t y = 0; y < extent[1]; y++)
            for (uint32_t x = 0; x < extent[0]; x++) {
                croft_simt.block[0] = x;
                croft_simt.block[1] = y;
                croft_simt.block[2] = z;
                scalar_block(grid);
            }
}

bool simt_scalar_runs(void)
{
    return scalar_running && simt_thread_launched();
}

long simt_scalar_launched(void)
{
    return __atomic_load_n(&scalar.launched, __ATOMIC_RELAXED);
}

static void scalar_acquire(void)
{
    unsigned seen = SCALAR_FREE;
    if (__atomic_compare_exchange_n(&scalar.lock, &seen, SCALAR_HELD, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&scalar.lock, SCALAR_AWAITED, __ATOMIC_ACQUIRE) != SCALAR_FREE)
        call_raw(CALL_FUTEX, (long)&scalar.lock, 0 /* FUTEX_WAIT */, SCALAR_AWAITED, 0, 0);
}

static void scalar_release(void)
{
    if (__atomic_exchange_n(&scalar.lock, SCALAR_FREE, __ATOMIC_RELEASE) == SCALAR_AWAITED)
        call_raw(CALL_FUTEX, (long)&scalar.lock, 1 /* FUTEX_WAKE */, 1, 0, 0);
}

static int scalar_run(const struct simt_launch_record *launch)
{
    struct scalar_grid grid = {.launch = launch,
                               .block_size = launch->block[0] * launch->block[1] * launch->block[2]};
    size_t shared = (launch->scratchpad + (size_t)SCALAR_ALIGNMENT) & ~(size_t)(SCALAR_ALIGNMENT - 1);
    grid.threads = calloc(grid.block_size, sizeof *grid.threads);
    grid.spare = calloc(grid.block_size, sizeof *grid.spare);
    croft_simt.shared = aligned_alloc(SCALAR_ALIGNMENT, shared);
    croft_simt.shared_size = launch->scratchpad;
    int status = -1;
    if (grid.threads && grid.spare && croft_simt.shared) {
        scalar_running = &grid;
        scalar_blocks(&grid);
        scalar_running = NULL;
        status = 0;
    } else {
        errno = ENOMEM;
    }
    while (grid.spares > 0)
        free(grid.spare[--grid.spares]);
    free(grid.threads);
    free(grid.spare);
    free(croft_simt.shared);
    return status;
}

long simt_scalar_run(const struct simt_launch_record *launch)
{
    if (simt_scalar_runs()) {
        errno = EBUSY;
        return -1;
    }
    scalar_acquire();
    long number = scalar_run(launch) == 0 ? scalar.launched + 1 : -1;
    if (number > 0)
        __atomic_store_n(&scalar.launched, number, __ATOMIC_RELAXED);
    scalar_release();
    return number;
}
