/* Launches: by system call if the machine has multiprocessors, otherwise on this core. */
#include <croft/simt.h>
#include <errno.h>
#include <platform.h>
#include <stdint.h>

#include "host/calls/call.h"
#include "host/simt/simt.h"
#include "isa/csr.h"

/* Programs include <croft/simt.h> without isa/, so it repeats the numbers. */
#define CHECK_CSR(mine, name)                                                                                \
    _Static_assert((int)CROFT_SIMT_##mine == (int)CSR_##name, "number of isa/csr.def")
CHECK_CSR(THREAD, sthread_x);
CHECK_CSR(BLOCK, sblock_x);
CHECK_CSR(BLOCK_DIM, sblockdim_x);
CHECK_CSR(GRID_DIM, sgriddim_x);
CHECK_CSR(LANE, slane);
CHECK_CSR(WARP, swarp);
CHECK_CSR(MULTIPROCESSOR, smp);
CHECK_CSR(THREAD_ID, sthread_id);
CHECK_CSR(SHARED, sshared);
CHECK_CSR(SHARED_SIZE, sshared_size);
CHECK_CSR(BARRIER, sbarrier);

/* Limits of the scalar core: those of a Fermi multiprocessor, so that programs that fit here also fit there. */
enum { SCALAR_WIDTH = 1, SCALAR_THREADS = 1024, SCALAR_SCRATCHPAD = 48 * 1024 };

struct croft_simt_state croft_simt;

SIMT_LOCKS

static long simt_ask(enum simt_query what)
{
    return call_raw((enum call)SIMT_CALL_QUERY, what, 0, 0, 0, 0);
}

static unsigned simt_limit(enum simt_query what, unsigned scalar)
{
    return simt_count() > 0 ? (unsigned)simt_ask(what) : scalar;
}

/* A negative result means that the environment does not know the call. */
unsigned simt_count(void)
{
    long count = simt_ask(SIMT_QUERY_COUNT);
    return count > 0 ? (unsigned)count : 0;
}

unsigned simt_width(void)
{
    return simt_limit(SIMT_QUERY_WIDTH, SCALAR_WIDTH);
}

unsigned simt_most_threads(void)
{
    return simt_limit(SIMT_QUERY_THREADS, SCALAR_THREADS);
}

unsigned simt_most_shared(void)
{
    return simt_limit(SIMT_QUERY_SCRATCHPAD, SCALAR_SCRATCHPAD);
}

static void simt_extent(uint32_t extent[3], struct simt_dim dim)
{
    extent[0] = dim.x;
    extent[1] = dim.y ? dim.y : 1;
    extent[2] = dim.z ? dim.z : 1;
}

static long simt_scalar_launch(const struct simt_launch_record *record)
{
    const uint32_t *grid = record->grid, *block = record->block;
    if (grid[0] == 0 || block[0] == 0 || record->scratchpad > SCALAR_SCRATCHPAD ||
        block[0] > SCALAR_THREADS || block[1] > SCALAR_THREADS || block[2] > SCALAR_THREADS ||
        (uint64_t)block[0] * block[1] * block[2] > SCALAR_THREADS) {
        errno = EINVAL;
        return -1;
    }
    return simt_scalar_run(record);
}

long croft_simt_launch(uint64_t entry, const void *argument, struct simt_dim grid, struct simt_dim block,
                       struct simt_options options)
{
    struct simt_launch_record record = {
        .entry = entry,
        .argument = (uintptr_t)argument,
        .scratchpad = options.scratchpad,
        .registers = options.registers,
        .queue = options.queue,
    };
    simt_extent(record.grid, grid);
    simt_extent(record.block, block);
    simt_prepare();
    croft_simt.hardware = simt_count() > 0;
    if (!croft_simt.hardware)
        return simt_scalar_launch(&record);
    return call1((enum call)SIMT_CALL_LAUNCH, (long)&record);
}

int simt_wait(long number)
{
    if (croft_simt.hardware)
        return (int)call1((enum call)SIMT_CALL_WAIT, number);
    if (!simt_scalar_runs() && number >= 0 && number <= simt_scalar_launched())
        return 0;
    errno = simt_scalar_runs() ? EBUSY : EINVAL;
    return -1;
}
