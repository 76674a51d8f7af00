/* Grids and blocks of one, two and three dimensions, of sizes that no warp divides; scratchpads; what a launch refuses. */
#include <errno.h>

#include "simt_check.h"

/* A thread's coordinates in one number, unless they contradict each other. */
static void where(uint64_t *results)
{
    uint64_t in_block =
        thread_x() + (uint64_t)block_dim_x() * (thread_y() + (uint64_t)block_dim_y() * thread_z());
    if (block_id() * block_size() + in_block != thread_id() || thread_id() >= thread_count())
        return;
    uint64_t packed = thread_x() | thread_y() << 8 | thread_z() << 16;
    packed = packed << 32 | block_x() | block_y() << 8 | block_z() << 16;
    results[thread_id()] = packed * 31 + (grid_dim_x() * 100 + grid_dim_y() * 10 + grid_dim_z());
}

static void check_where(struct simt_dim grid, struct simt_dim block)
{
    static uint64_t results[4096];
    unsigned count = grid.x * grid.y * grid.z * block.x * block.y * block.z;
    for (unsigned i = 0; i < count; i++)
        results[i] = 0;
    CHECK_RUN(where, results, grid, block);
    printf("%u %u %u, %u %u %u: %016llx\n", grid.x, grid.y, grid.z, block.x, block.y, block.z,
           (unsigned long long)check_digest(results, count * sizeof *results));
}

/* Turns the block's numbers round in the scratchpad, to its last byte. */
static void turn(uint64_t *results)
{
    uint64_t *pad = simt_shared();
    uint32_t t = thread_x(), last = block_dim_x() - 1;
    pad[t] = thread_id() * 3;
    simt_barrier();
    results[thread_id()] = pad[last - t] + (simt_shared_size() >= block_dim_x() * 8ul ? 0 : 1) +
                           ((uintptr_t)pad % 64 == 0 ? 0 : 1);
}

/* The second of one queue sees what the first has done. */
static void add_one(uint64_t *results)
{
    results[thread_id()]++;
}

static void refused(const char *why, struct simt_dim grid, struct simt_dim block, uint32_t scratchpad)
{
    static uint64_t results[1];
    errno = 0;
    long number = simt_launch(where, results, grid, block, .scratchpad = scratchpad);
    printf("%s: %ld, %s\n", why, number, errno == EINVAL ? "EINVAL" : "another error");
}

int main(void)
{
    check_where(simt_dim(5, 1, 1), simt_dim(7, 1, 1));
    check_where(simt_dim(1, 1, 1), simt_dim(1, 1, 1));
    check_where(simt_dim(3, 2, 1), simt_dim(5, 9, 1));
    check_where(simt_dim(2, 3, 4), simt_dim(3, 5, 7));
    check_where(simt_dim(1, 1, 3), simt_dim(2, 2, 31));
    check_where(simt_dim(2, 1, 1), simt_dim(1024, 1, 1));

    static uint64_t results[600];
    CHECK_RUN(turn, results, simt_dim(6), simt_dim(100), .scratchpad = 800);
    for (int i = 0; i < 3; i++)
        if (simt_launch(add_one, results, simt_dim(6), simt_dim(100), .queue = 1) < 0)
            perror("launch");
    long last = simt_launch(add_one, results, simt_dim(6), simt_dim(100), .queue = 1);
    printf("wait %d\n", simt_wait(last));
    printf("turned %016llx\n", (unsigned long long)check_digest(results, 600 * sizeof *results));

    refused("no threads", simt_dim(1), simt_dim(0), 0);
    refused("no blocks", simt_dim(0), simt_dim(1), 0);
    refused("too many threads", simt_dim(1), simt_dim(simt_most_threads() + 1), 0);
    refused("too many threads", simt_dim(1), simt_dim(65536, 65536), 0);
    refused("too much scratchpad", simt_dim(1), simt_dim(1), simt_most_shared() + 1);
    printf("wait %d %d\n", simt_wait(0), simt_wait(1 << 30));
    int sane = simt_width() >= 1 && simt_most_threads() >= simt_width() && simt_most_shared() >= 16384;
    printf("machine %s\n", sane ? "as it should be" : "odd");
}
