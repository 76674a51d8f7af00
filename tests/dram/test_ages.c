/* Ages have 32 bits. When they are used up, they are reduced, without any effect on results. */
#include "tests/dram/rig.h"
#include "tests/isa/random.h"

enum { PROBES = 24, REQUESTS = 4000 };

struct run {
    struct rig *rig;
    uint64_t hash, sent;
};

static struct run *run_of(struct probe *probe)
{
    return (struct run *)probe->rig->probes[PROBES].rig; /* the pointer is in an additional, unused probe */
}

static void again(struct probe *probe, uint64_t now)
{
    struct run *run = run_of(probe);
    uint64_t burst = probe->rig->memory.common.config.burst_bytes;
    run->hash = random_digest(run->hash, now ^ probe->request.address << 20);
    if (run->sent++ >= REQUESTS)
        return;
    enum mem_op op = rig_random(probe->rig) % 3 ? MEM_READ : MEM_WRITE;
    (void)probe_send(probe, op, rig_random(probe->rig) % 4096 * burst, (uint32_t)burst);
}

/* Returns a hash of all responses if the first burst has the given age. */
static uint64_t answers(enum dram_standard standard, uint64_t age)
{
    struct dram_config config = one_channel(standard);
    struct run run = {.rig = rig_new(&config, PROBES + 1, NULL)};
    struct rig *rig = run.rig;
    rig->probes[PROBES].rig = (struct rig *)&run;
    rig->memory.slices[0].channel.queue.age = age;
    for (unsigned i = 0; i < PROBES; i++) {
        rig->probes[i].then = again;
        again(&rig->probes[i], 0);
    }
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_int_equal(rig->finished, REQUESTS);
    assert_true(rig->memory.slices[0].channel.queue.age < UINT32_MAX);
    rig_free(rig);
    return run.hash;
}

static void ages_begin_again_unnoticed(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        uint64_t plain = answers(standard, 0);
        for (uint64_t early = 1; early < 3000; early = early * 3 + 1)
            assert_int_equal(answers(standard, UINT32_MAX - early), plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ages_begin_again_unnoticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
