#include "tests/nucd/hazard/run.h"

void hazard_call(void *arena, struct hazard_context *context, hazard_body *body);

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

struct hazard_digest hazard_run(uint64_t *arena, struct hazard_context *context, unsigned body)
{
    enum { WORDS = (HAZARD_ARENA + HAZARD_BEHIND) / 8 };
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15) * (body + 1);
    for (unsigned i = 0; i < WORDS; i++)
        arena[i] = next(&random);
    for (unsigned i = 0; i < HAZARD_REGISTERS; i++)
        context->registers[i] = next(&random);
    context->registers[HAZARD_REGISTERS - 1] = random % 5 << 5; /* any valid rounding mode */
    hazard_call((char *)arena + HAZARD_ARENA / 2, context, hazard_bodies[body]);
    return (struct hazard_digest){digest_of(arena, WORDS),
                                  digest_of(context->registers, HAZARD_REGISTERS - 1),
                                  context->registers[HAZARD_REGISTERS - 1]};
}
