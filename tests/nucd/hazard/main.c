/* Runs random bodies (tests/nucd/hazard/hazard.c) and prints a digest of memory and registers after each: hazards
 * [FIRST [LAST]]. Creates the scratch file hazard.tmp in the current folder. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/nucd/hazard/run.h"

static _Alignas(4096) uint64_t arena[HAZARD_WORDS];

static void run(struct hazard_context *context, unsigned body)
{
    const struct hazard_digest digest = hazard_run(arena, context, body);
    printf("body %u: memory %016llx registers %016llx fcsr %02llx\n", body, (unsigned long long)digest.memory,
           (unsigned long long)digest.registers, (unsigned long long)digest.fcsr);
}

int main(int argc, char **argv)
{
    const unsigned long count = (unsigned long)(hazard_bodies_end - hazard_bodies);
    unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long last = argc > 2 ? strtoul(argv[2], NULL, 10) : argc > 1 ? first : count - 1;
    struct hazard_context context = {.descriptor = open("hazard.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600)};
    if (context.descriptor < 0) {
        perror("hazard.tmp");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (unsigned long body = first; body <= last && body < count; body++)
        run(&context, (unsigned)body);
    return 0;
}
