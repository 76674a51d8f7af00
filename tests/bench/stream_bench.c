/* How fast a streamed hart hands its instructions to a consumer: stream_bench PROGRAM [ARGS...] runs a
 * program of the `user` environment and prints instructions a second of processor time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "emu/hart/stream.h"
#include "tests/env/user_fixture.h"

struct tally {
    uint64_t instructions, batches, stepped, sum;
};

static double cpu_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void consume(const struct stream *stream, struct tally *tally)
{
    for (uint32_t i = 0; i < stream->count; i++)
        tally->sum += stream->entries[i].address & -(uint64_t)(stream->entries[i].op->size != 0);
    tally->instructions += stream->count;
    tally->batches++;
}

static bool run(struct user *user, struct stream *stream, struct tally *tally)
{
    while (!user->ended) {
        enum stream_end end = stream_run(stream, STREAM_BATCH);
        consume(stream, tally);
        if (end == STREAM_MORE)
            continue;
        struct step_report report;
        tally->stepped++;
        if (stream_step(stream, &report) == HART_STOP_TRAP && !user_serve(user))
            return false;
    }
    return true;
}

static int measure(struct user *user, struct hart *hart)
{
    struct error err;
    struct stream stream;
    struct tally tally = {0};
    if (!stream_init(&stream, hart, &err)) {
        fprintf(stderr, "stream_bench: %s\n", err.text);
        return 1;
    }
    double start = cpu_seconds();
    bool ended = run(user, &stream, &tally);
    double seconds = cpu_seconds() - start;
    uint64_t total = hart->instret;
    printf(
        "%" PRIu64 " instructions in %.2f s: %.0f MIPS; %.1f a batch, %" PRIu64 " stepped, sum %" PRIx64 "\n",
        total, seconds, 1e-6 * (double)total / seconds,
        (double)tally.instructions / (double)(tally.batches ? tally.batches : 1), tally.stepped, tally.sum);
    stream_free(&stream);
    return ended ? user->status : 1;
}

int main(int argc, char **argv)
{
    struct user_fixture f;
    int status = user_fixture_init(&f, "stream_bench", argc, argv);
    if (status != 0)
        return status;
    status = measure(f.user, &f.hart);
    user_fixture_free(&f);
    return status;
}
