/* Runs random bodies (tests/nucd/hazard/hazard.c) in several threads of a program, each on a host of its own if there are enough.
 * Prints what main.c prints, in the order of the bodies, as harts.c does without an operating system: body b uses
 * arena b modulo ARENAS, and each thread takes one arena after the other, with all its bodies. Creates scratch files
 * hazard-NUMBER.tmp in the current folder. */
#include <croft/threads.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/nucd/hazard/run.h"

enum { MOST = 2048, ARENAS = 16, THREADS = 8 };

static struct {
    uint64_t arena[HAZARD_WORDS];
    struct hazard_context context;
} _Alignas(4096) places[ARENAS];

static struct hazard_digest digests[MOST];
static unsigned next_place;

static void run_bodies(void *argument)
{
    unsigned place, count = (unsigned)(hazard_bodies_end - hazard_bodies);
    (void)argument;
    while ((place = __atomic_fetch_add(&next_place, 1, __ATOMIC_RELAXED)) < ARENAS)
        for (unsigned body = place; body < count; body += ARENAS)
            digests[body] = hazard_run(places[place].arena, &places[place].context, body);
}

int main(void)
{
    struct croft_thread threads[THREADS];
    unsigned count = (unsigned)(hazard_bodies_end - hazard_bodies);
    if (count > MOST)
        return 2;
    for (unsigned place = 0; place < ARENAS; place++) {
        char name[32];
        (void)snprintf(name, sizeof name, "hazard-%u.tmp", place);
        places[place].context.descriptor = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (places[place].context.descriptor < 0)
            return 2;
    }
    for (unsigned i = 1; i < THREADS; i++)
        (void)croft_thread_start(&threads[i], run_bodies, NULL);
    run_bodies(NULL);
    for (unsigned i = 1; i < THREADS; i++)
        croft_thread_join(&threads[i]);
    for (unsigned body = 0; body < count; body++)
        printf("body %u: memory %016llx registers %016llx fcsr %02llx\n", body,
               (unsigned long long)digests[body].memory, (unsigned long long)digests[body].registers,
               (unsigned long long)digests[body].fcsr);
    return 0;
}
