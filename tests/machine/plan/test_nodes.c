/* Where the parts of the shipped machines stash_micro and stash_apps stand: the nodes at which they send messages, and the slices of
 * their last level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/core/config.h"
#include "emu/machine/builder.h"
#include "emu/machine/machine.h"
#include "emu/mem/llc_slices.h"
#include "emu/net/network.h"
#include "emu/schema/assembly.h"
#include "emu/simt/multiprocessor.h"

enum { NODES = 16, PLACES = 3 /* of a router: core, bank, memory controller */ };

struct seen {
    unsigned cores, multiprocessors, slices;
    bool taken[NODES * PLACES];
    void *carrier;
};

static void see(struct seen *seen, const struct mem_site_mail *mail, unsigned port, unsigned *count)
{
    assert_ptr_not_equal(mail->ops, NULL);
    assert_true(!seen->carrier || seen->carrier == mail->carrier);
    seen->carrier = mail->carrier;
    for (unsigned i = 0; i < mail->count; i++) {
        assert_int_equal(mail->nodes[i] % PLACES, port);
        assert_false(seen->taken[mail->nodes[i]]);
        seen->taken[mail->nodes[i]] = true;
        ++*count;
    }
}

/* Makes only networks, memories and last levels. */
static const void *place(void *context, const struct instance *instance, const struct mem_site *memory)
{
    struct seen *seen = context;
    if (instance->kind->hooks && instance->kind->hooks->place)
        return NULL; /* a mechanism, whose place is a struct of its own */
    if (instance->kind == &core_kind) {
        see(seen, &memory->mail, 0, &seen->cores);
        assert_true(memory->far && !memory->last && memory->level);
        assert_int_equal(llc_slices_count(memory->level), NODES);
        return NULL;
    }
    if (instance->kind == &simt_kind) {
        see(seen, &memory->mail, 0, &seen->multiprocessors);
        assert_true(memory->far && !memory->last);
        return NULL;
    }
    if (instance->kind == &llc_kind) {
        see(seen, &memory->mail, 1, &seen->slices);
        assert_true(memory->last && !memory->far && !memory->level);
        for (unsigned i = 0; i < NODES; i++)
            assert_int_equal(memory->mail.nodes[i], PLACES * i + 1);
    }
    if (instance->kind == &network_kind) {
        assert_int_equal(memory->slices.count, NODES);
        assert_int_equal(memory->slices.shift, 6);
        assert_null(memory->mail.ops);
        for (unsigned i = 0; i < memory->inputs; i++)
            assert_int_equal(memory->slices.below[i], i < NODES);
    }
    return memory;
}

static void all_parts_have_nodes(void **state)
{
    static const struct {
        const char *machine;
        unsigned cores, multiprocessors;
    } cases[] = {{"stash_micro", 15, 1}, {"stash_apps", 1, 15}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct machine_config machine;
        struct builder builder;
        struct event_queue queue;
        struct part_numbers numbers = {0};
        struct seen seen = {0};
        struct error err;
        const struct builder_making making = {
            .queues = &queue, .numbers = &numbers, .place = place, .context = &seen};
        event_queue_init(&queue);
        if (!machine_load(&machine, cases[i].machine, "emu/machine/shipped", NULL, 0, &err) ||
            !builder_plan(&builder, &machine, &err) || !builder_make(&builder, &making, &err))
            fail_msg("%s", err.text);
        assert_int_equal(seen.cores, cases[i].cores);
        assert_int_equal(seen.multiprocessors, cases[i].multiprocessors);
        assert_int_equal(seen.slices, NODES);
        builder_free(&builder);
        machine_free(&machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_parts_have_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
