/* Runs random bodies (tests/nucd/hazard.c) and prints a digest of memory and registers after each: hazards
 * [FIRST [LAST]]. Creates the scratch file hazard.tmp in the current folder. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/nucd/hazard.h"

enum { REGISTERS = 24, LONGEST = 8192 }; /* bytes of the longest range; see hazard_task.c */

/* The layout is known to hazard_entry.S. */
struct context {
    int64_t descriptor;
    uint64_t registers[REGISTERS]; /* the last one is fcsr */
};

typedef void hazard_body(void);

extern hazard_body *const hazard_bodies[], *const hazard_bodies_end[];
void hazard_call(void *arena, struct context *context, hazard_body *body);

static _Alignas(4096) uint64_t arena[(HAZARD_ARENA + HAZARD_BEHIND + LONGEST) / 8];

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t digest_of(const uint64_t *words, unsigned count)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < count; i++)
        digest = (digest ^ words[i] ^ digest >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return digest;
}

static void run(struct context *context, unsigned body)
{
    enum { WORDS = (HAZARD_ARENA + HAZARD_BEHIND) / 8 };
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15) * (body + 1);
    for (unsigned i = 0; i < WORDS; i++)
        arena[i] = next(&random);
    for (unsigned i = 0; i < REGISTERS; i++)
        context->registers[i] = next(&random);
    context->registers[REGISTERS - 1] = random % 5 << 5; /* any valid rounding mode */
    hazard_call((char *)arena + HAZARD_ARENA / 2, context, hazard_bodies[body]);
    printf("body %u: memory %016llx registers %016llx fcsr %02llx\n", body,
           (unsigned long long)digest_of(arena, WORDS),
           (unsigned long long)digest_of(context->registers, REGISTERS - 1),
           (unsigned long long)context->registers[REGISTERS - 1]);
}

int main(int argc, char **argv)
{
    const unsigned long count = (unsigned long)(hazard_bodies_end - hazard_bodies);
    unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long last = argc > 2 ? strtoul(argv[2], NULL, 10) : argc > 1 ? first : count - 1;
    struct context context = {.descriptor = open("hazard.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600)};
    if (context.descriptor < 0) {
        perror("hazard.tmp");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (unsigned long body = first; body <= last && body < count; body++)
        run(&context, (unsigned)body);
    return 0;
}
