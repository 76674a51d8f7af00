/* Runs random bodies (tests/nucd/hazard/hazard.c) on all hosts of a machine at the same time, without an operating system.
 * Prints what main.c prints, in the order of the bodies. Their registers hold addresses, so each body has its
 * arena: body b uses arena b modulo ARENAS, and each host takes one arena after the other, with all its bodies. */
#include <croft/firmware/hart.h>
#include <croft/firmware/trap.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/nucd/hazard/run.h"

enum { MOST = 2048, ARENAS = 16, FILE_BYTES = 128, A1 = 11, A2 = 12, A7 = 17, ECALL_M = 11 };

static struct {
    uint64_t arena[HAZARD_WORDS];
    char file[FILE_BYTES]; /* takes the place of the scratch file */
    struct hazard_context context;
} _Alignas(4096) places[ARENAS];

static struct hazard_digest digests[MOST];
static unsigned next_place, done;

/* Serves the calls of the bodies: pwrite64, pread64, getpid (host.c). The memory that they name lies in the
 * place of the body. */
static void serve(struct trap_frame *frame)
{
    uint64_t place = (frame->x[A1] - (uint64_t)places) / sizeof places[0];
    if (frame->x[A7] == 68)
        memcpy(places[place].file, (const char *)frame->x[A1], frame->x[A2]);
    else if (frame->x[A7] == 67)
        memcpy((char *)frame->x[A1], places[place].file, frame->x[A2]);
    frame->pc += 4;
}

static void run_bodies(void *argument)
{
    unsigned place, count = (unsigned)(hazard_bodies_end - hazard_bodies);
    (void)argument;
    while ((place = __atomic_fetch_add(&next_place, 1, __ATOMIC_RELAXED)) < ARENAS) {
        for (unsigned body = place; body < count; body += ARENAS)
            digests[body] = hazard_run(places[place].arena, &places[place].context, body);
        __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    }
}

int main(void)
{
    unsigned count = (unsigned)(hazard_bodies_end - hazard_bodies);
    if (count > MOST || !trap_set_exception(ECALL_M, serve))
        return 2;
    /* The harts of accelerators, which follow those of hosts, run other firmware and do not answer. */
    for (unsigned hart = 1; hart < ARENAS && hart_start(hart, run_bodies, NULL); hart++)
        continue;
    run_bodies(NULL);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < ARENAS)
        continue;
    for (unsigned body = 0; body < count; body++)
        printf("body %u: memory %016llx registers %016llx fcsr %02llx\n", body,
               (unsigned long long)digests[body].memory, (unsigned long long)digests[body].registers,
               (unsigned long long)digests[body].fcsr);
    return 0;
}
