/* Threads that map and use the C library: the runtime's two ends of a thread in both orders, errno of each thread, and
 * no memory that remains allocated. */
#include "stash_check.h"

#include <errno.h>
#include <unistd.h>

enum { THREADS = 64 };
static int32_t values[2 * THREADS];

static int32_t digits(int32_t value)
{
    char text[16];
    errno = (int)thread_x();
    return snprintf(text, sizeof text, "%ld", (long)value);
}

static void library_first(int32_t *p)
{
    const int32_t before = digits(p[THREADS + thread_x()]);
    int32_t *mapped = croft_stash_map(simt_shared(), p, .objects = THREADS);
    mapped[thread_x()] += 1000 * before + (errno == (int)thread_x() ? 0 : 1);
}

static void map_first(int32_t *p)
{
    int32_t *mapped = croft_stash_map(simt_shared(), p, .objects = THREADS);
    mapped[thread_x()] += 1000 * digits(p[THREADS + thread_x()]);
    void *memory = malloc(thread_x() + 1);
    mapped[thread_x()] += memory ? 0 : 1;
    free(memory);
}

static void run(void (*check)(void))
{
    for (int32_t i = 0; i < 2 * THREADS; i++)
        values[i] = i < THREADS ? i : i * i;
    check();
    for (int32_t i = 0; i < THREADS; i++) {
        char text[16];
        CHECK(values[i] ==
              i + 1000 * snprintf(text, sizeof text, "%d", (int)((i + THREADS) * (i + THREADS))));
    }
}

static void run_library_first(void)
{
    CHECK_RUN(library_first, values, simt_dim(1), simt_dim(THREADS), .scratchpad = THREADS * 4);
}

static void run_map_first(void)
{
    CHECK_RUN(map_first, values, simt_dim(1), simt_dim(THREADS), .scratchpad = THREADS * 4);
}

int main(void)
{
    const char *end = NULL; /* of the heap, once the first launches have made room */
    for (int i = 0; i < 40; i++) {
        if (i == 5)
            end = sbrk(0);
        run(run_library_first);
        run(run_map_first);
    }
    /* By turns of threads, pieces may lie badly a few times; but 70 launches that lose 256 bytes each need more. */
    CHECK((const char *)sbrk(0) - end <= 16384);
    return check_end("library", values, sizeof values);
}
