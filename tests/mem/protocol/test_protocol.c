/* The check of protocol tables: built-in ones pass; each kind of error has its message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/llc.h"
#include "tests/mem/protocol/denovo.h"

enum { ROWS = 64, I = 0, S = 1, E = 2, M = 3 };

/* A copy of a protocol, to be modified. */
struct draft {
    struct protocol protocol;
    struct protocol_state states[PROTOCOL_STATES];
    struct protocol_cache_row cache[ROWS];
    struct protocol_directory_row directory[ROWS];
};

static void draft_of(struct draft *draft, const struct protocol *protocol)
{
    draft->protocol = *protocol;
    memcpy(draft->states, protocol->states, protocol->state_count * sizeof *draft->states);
    memcpy(draft->cache, protocol->cache, protocol->cache_count * sizeof *draft->cache);
    if (protocol->directory_count)
        memcpy(draft->directory, protocol->directory, protocol->directory_count * sizeof *draft->directory);
    draft->protocol.states = draft->states;
    draft->protocol.cache = draft->cache;
    draft->protocol.directory = draft->directory;
}

static struct protocol_cache_row *cache_row(struct draft *draft, unsigned state, enum protocol_event event)
{
    struct protocol_cache_row *row = draft->cache;
    while (row->state != state || row->event != event)
        row++;
    return row;
}

static struct protocol_directory_row *directory_row(struct draft *draft, enum protocol_request request,
                                                    enum protocol_standing standing)
{
    struct protocol_directory_row *row = draft->directory;
    while (row->request != request || row->standing != standing)
        row++;
    return row;
}

static void refused(const struct draft *draft, const char *message)
{
    struct error err = {""};
    assert_false(protocol_check(&draft->protocol, &err));
    assert_string_equal(err.text, message);
}

static void good_tables_pass(void **state)
{
    (void)state;
    const struct protocol *const all[] = {&protocol_mesi, &protocol_write_back, &protocol_write_through,
                                          &denovo};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct error err;
        if (!protocol_check(all[i], &err))
            fail_msg("%s", err.text);
    }
}

/* Each cache row, changed to a wrong one, and its message. */
static void wrong_cache_rows(void **state)
{
    (void)state;
    static const struct {
        struct protocol_cache_row row;
        const char *message;
    } cases[] = {
        {{S, PROTOCOL_STORE, M, PROTOCOL_DO_HIT},
         "protocol mesi: cache row (SHARED, store): it must hit exactly if the state is readable (load) or "
         "writable (store)"},
        {{I, PROTOCOL_STORE, I, PROTOCOL_DO_UPGRADE},
         "protocol mesi: cache row (INVALID, store): without a copy, the line must be requested with data"},
        {{E, PROTOCOL_STORE, E, PROTOCOL_DO_HIT},
         "protocol mesi: cache row (EXCLUSIVE, store): the next state must be dirty"},
        {{E, PROTOCOL_LOAD, S, PROTOCOL_DO_HIT},
         "protocol mesi: cache row (EXCLUSIVE, load): it must not change the state"},
        {{S, PROTOCOL_STORE, E, PROTOCOL_DO_UPGRADE},
         "protocol mesi: cache row (SHARED, store): it must not change the state"},
        {{M, PROTOCOL_STORE, M, PROTOCOL_DO_THROUGH},
         "protocol mesi: cache row (MODIFIED, store): a store in state 3 must not be written through"},
        {{M, PROTOCOL_EVICT, I, PROTOCOL_DO_NOTHING},
         "protocol mesi: cache row (MODIFIED, evict): the newest version is lost"},
        {{M, PROTOCOL_PROBE_TAKE, I, PROTOCOL_DO_NOTHING},
         "protocol mesi: cache row (MODIFIED, probe_take): the newest version is lost"},
        {{M, PROTOCOL_PROBE_TAKE, S, PROTOCOL_DO_ANSWER},
         "protocol mesi: cache row (MODIFIED, probe_take): the next state must be state 0"},
        {{M, PROTOCOL_PROBE_SHARE, E, PROTOCOL_DO_ANSWER},
         "protocol mesi: cache row (MODIFIED, probe_share): the next state must not be writable"},
        {{M, PROTOCOL_CLEAN, M, PROTOCOL_DO_WRITE_BACK},
         "protocol mesi: cache row (MODIFIED, clean): the copy must become clean"},
        {{S, PROTOCOL_EVICT, I, PROTOCOL_DO_WRITE_BACK},
         "protocol mesi: cache row (SHARED, evict): only a dirty copy has a newer version"},
        {{S, PROTOCOL_EVICT, I, PROTOCOL_DO_ANSWER},
         "protocol mesi: cache row (SHARED, evict): answer is not an action of this event"},
        {{S, PROTOCOL_CLEAN, M, PROTOCOL_DO_NOTHING},
         "protocol mesi: cache row (SHARED, clean): only a store may make a copy dirty"},
        {{I, PROTOCOL_CLEAN, S, PROTOCOL_DO_NOTHING},
         "protocol mesi: cache row (INVALID, clean): only a fill may bring a copy"},
        {{I, PROTOCOL_FILL, I, PROTOCOL_DO_NOTHING},
         "protocol mesi: cache row (INVALID, fill): the next state must be readable"},
        {{I, PROTOCOL_FILL_OWNED, S, PROTOCOL_DO_NOTHING},
         "protocol mesi: cache row (INVALID, fill_owned): the next state must be writable"},
        {{E, PROTOCOL_FILL, S, PROTOCOL_DO_NEVER},
         "protocol mesi: cache row (EXCLUSIVE, fill): a row with `never` must not change the state"},
        {{S, PROTOCOL_LOAD, S, PROTOCOL_DO_MISS},
         "protocol mesi: cache row (SHARED, load): it must hit exactly if the state is readable (load) or "
         "writable (store)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft draft;
        draft_of(&draft, &protocol_mesi);
        *cache_row(&draft, cases[i].row.state, cases[i].row.event) = cases[i].row;
        refused(&draft, cases[i].message);
    }
}

static void wrong_states(void **state)
{
    (void)state;
    struct draft draft;
    draft_of(&draft, &protocol_mesi);
    draft.states[2].number = 1;
    refused(&draft, "protocol mesi: state EXCLUSIVE: another state has its number");
    draft_of(&draft, &protocol_mesi);
    draft.states[2].number = 4;
    refused(&draft, "protocol mesi: state EXCLUSIVE: its number is above 3");
    draft_of(&draft, &protocol_mesi);
    draft.states[2].properties |= PROTOCOL_DIRTY;
    refused(&draft, "protocol mesi: state EXCLUSIVE: a dirty state must be writable and have number 3");
    draft_of(&draft, &protocol_mesi);
    draft.states[1].properties = 0;
    refused(
        &draft,
        "protocol mesi: state SHARED: state 0 must have no properties; all other states must be readable");
    draft_of(&draft, &protocol_mesi);
    draft.states[0] = draft.states[3];
    draft.protocol.state_count = 1;
    refused(&draft, "protocol mesi: no state has number 0");
}

static void rows_are_total_and_deterministic(void **state)
{
    (void)state;
    struct draft draft;
    draft_of(&draft, &protocol_mesi);
    *cache_row(&draft, S, PROTOCOL_EVICT) = *cache_row(&draft, S, PROTOCOL_CLEAN);
    refused(&draft, "protocol mesi: cache row (SHARED, clean): the row occurs twice");
    draft_of(&draft, &protocol_mesi);
    *cache_row(&draft, S, PROTOCOL_EVICT) = draft.cache[--draft.protocol.cache_count];
    refused(&draft, "protocol mesi: cache row (SHARED, evict): the row is missing");
    draft_of(&draft, &protocol_mesi);
    *cache_row(&draft, S, PROTOCOL_EVICT) = (struct protocol_cache_row){7, PROTOCOL_LOAD, 0, 0};
    refused(&draft, "protocol mesi: cache row 15: a column is out of range");
    draft_of(&draft, &protocol_mesi);
    *directory_row(&draft, PROTOCOL_GET_READ, PROTOCOL_NOBODY) = draft.directory[1];
    refused(&draft, "protocol mesi: directory row (get_read, shared_self): the row occurs twice");
    draft_of(&draft, &protocol_mesi);
    draft.protocol.directory_count--;
    refused(&draft, "protocol mesi: directory row (recall_clean, owned_other): the row is missing");
}

static void nothing_is_unreachable(void **state)
{
    (void)state;
    struct draft draft;
    draft_of(&draft, &denovo);
    /* Without a fill that leads to VALID, only CLEAN of a REGISTERED word leads to it. */
    cache_row(&draft, I, PROTOCOL_FILL)->next = M;
    refused(&draft, "protocol denovo: cache row (INVALID, fill): only a store may make a copy dirty");
    draft_of(&draft, &protocol_write_back);
    draft.states[draft.protocol.state_count++] = (struct protocol_state){"SPARE", S, PROTOCOL_READABLE};
    for (size_t i = 0, count = draft.protocol.cache_count; i < count; i++)
        if (draft.cache[i].state == E) {
            struct protocol_cache_row row = draft.cache[i];
            row.state = S;
            if (row.next == E)
                row.next = S;
            if (row.event == PROTOCOL_STORE)
                row = (struct protocol_cache_row){S, PROTOCOL_STORE, S, PROTOCOL_DO_UPGRADE};
            draft.cache[draft.protocol.cache_count++] = row;
        }
    refused(&draft, "protocol write_back: state SPARE: no row leads to it");
    draft_of(&draft, &denovo);
    draft.directory[draft.protocol.directory_count++] = (struct protocol_directory_row){
        PROTOCOL_GET_READ, PROTOCOL_SHARED_SELF, PROTOCOL_NO_PROBE, PROTOCOL_REPLY_READ, PROTOCOL_NOBODY};
    refused(&draft, "protocol denovo: directory row (get_read, shared_self): the standing cannot occur");
}

static void wrong_directory_rows(void **state)
{
    (void)state;
#define ROW(request, standing, probe, reply, next)                                                           \
    {                                                                                                        \
        PROTOCOL_##request, PROTOCOL_##standing, PROTOCOL_##probe, PROTOCOL_REPLY_##reply, PROTOCOL_##next   \
    }
    static const struct {
        struct protocol_directory_row row;
        const char *message;
    } cases[] = {
        {ROW(GET_OWNED, SHARED_OTHERS, NO_PROBE, OWNED, OWNED_SELF),
         "protocol mesi: directory row (get_owned, shared_others): only probes may change the record of "
         "other clients"},
        {ROW(GET_READ, OWNED_OTHER, NO_PROBE, READ, SHARED_BOTH),
         "protocol mesi: directory row (get_read, owned_other): the owner must be probed"},
        {ROW(GET_READ, OWNED_OTHER, PROBE_READ, READ, OWNED_OTHER),
         "protocol mesi: directory row (get_read, owned_other): no cache row answers its probe"},
        {ROW(GET_READ, NOBODY, PROBE_TAKE, OWNED, OWNED_SELF),
         "protocol mesi: directory row (get_read, nobody): there is no client to probe"},
        {ROW(GET_READ, SHARED_OTHERS, PROBE_SHARE, READ, SHARED_BOTH),
         "protocol mesi: directory row (get_read, shared_others): there is no client to probe"},
        {ROW(GET_READ, SHARED_OTHERS, EVICT, READ, SHARED_BOTH),
         "protocol mesi: directory row (get_read, shared_others): its probe is not a probe event"},
        {ROW(GET_READ, NOBODY, NO_PROBE, OWNED, SHARED_SELF),
         "protocol mesi: directory row (get_read, nobody): a client that may write must become the owner"},
        {ROW(GET_READ, NOBODY, NO_PROBE, DONE, NOBODY),
         "protocol mesi: directory row (get_read, nobody): done is not a reply to this request"},
        {ROW(GET_OWNED, NOBODY, NO_PROBE, READ, SHARED_SELF),
         "protocol mesi: directory row (get_owned, nobody): read is not a reply to this request"},
        {ROW(PUT_LINE, OWNED_OTHER, NO_PROBE, DONE, OWNED_OTHER),
         "protocol mesi: directory row (put_line, owned_other): done is not a reply to this request"},
        {ROW(PUT_LINE, OWNED_SELF, NO_PROBE, STALE, OWNED_SELF),
         "protocol mesi: directory row (put_line, owned_self): stale is not a reply to this request"},
        {ROW(PUT_LINE, SHARED_SELF, NO_PROBE, STALE, NOBODY),
         "protocol mesi: directory row (put_line, shared_self): a stale request must not change the record"},
        {ROW(PUT_LINE, OWNED_SELF, NO_PROBE, DONE, OWNED_SELF),
         "protocol mesi: directory row (put_line, owned_self): a client that has written back must not be "
         "the owner"},
        {ROW(RECALL, SHARED_OTHERS, NO_PROBE, DONE, SHARED_OTHERS),
         "protocol mesi: directory row (recall, shared_others): a copy remains"},
        {ROW(RECALL, NOBODY, NO_PROBE, DONE, SHARED_SELF),
         "protocol mesi: directory row (recall, nobody): the directory itself must not get a copy"},
        {ROW(GET_READ, OWNED_OTHER, PROBE_SHARE, NEVER, OWNED_OTHER),
         "protocol mesi: directory row (get_read, owned_other): a row with `never` must not change the "
         "state"},
    };
#undef ROW
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct draft draft;
        draft_of(&draft, &protocol_mesi);
        *directory_row(&draft, cases[i].row.request, cases[i].row.standing) = cases[i].row;
        refused(&draft, cases[i].message);
    }
}

static void compiled_rows_are_the_rows(void **state)
{
    (void)state;
    struct protocol_rules rules;
    protocol_compile(&protocol_mesi, &rules);
    struct protocol_step step = protocol_step(&rules, M, PROTOCOL_PROBE_SHARE);
    assert_int_equal(step.next, S);
    assert_int_equal(step.action, PROTOCOL_DO_ANSWER);
    struct protocol_turn turn = protocol_turn(&rules, PROTOCOL_GET_OWNED, PROTOCOL_SHARED_BOTH);
    assert_int_equal(turn.probe, PROTOCOL_PROBE_TAKE);
    assert_int_equal(turn.reply, PROTOCOL_REPLY_OWNED);
    assert_int_equal(turn.next, PROTOCOL_OWNED_SELF);
    assert_int_equal(rules.properties[S], PROTOCOL_READABLE);
    assert_int_equal(rules.cache[I][PROTOCOL_ACQUIRE].action, PROTOCOL_DO_NEVER);
    assert_int_equal(rules.directory[PROTOCOL_RECALL][PROTOCOL_OWNED_SELF].reply, PROTOCOL_REPLY_NEVER);
    for (unsigned request = 0; request < PROTOCOL_REQUESTS; request++)
        for (unsigned standing = 0; standing < PROTOCOL_STANDINGS; standing++) {
            bool row = false;
            for (size_t i = 0; i < protocol_mesi.directory_count; i++)
                row |= protocol_mesi.directory[i].request == request &&
                       protocol_mesi.directory[i].standing == standing;
            assert_int_equal(rules.directory[request][standing].reply != PROTOCOL_REPLY_NEVER, row);
        }
}

static void refused_by_cache(const struct cache_config *config, const char *message)
{
    struct error err = {""};
    assert_false(part_check(&cache_kind, config, &err));
    assert_string_equal(err.text, message);
}

static void refused_by_llc(const struct protocol *protocol, const char *message)
{
    struct llc_config config;
    struct error err = {""};
    part_defaults(&llc_kind, 0, &config);
    config.protocol = protocol;
    assert_false(part_check(&llc_kind, &config, &err));
    assert_string_equal(err.text, message);
}

/* Caches and the last level accept protocols by line; an error in a table is an error in the
 * configuration. */
static void configurations_name_a_sound_protocol(void **state)
{
    (void)state;
    struct cache_config config;
    struct draft draft;
    part_defaults(&cache_kind, 0, &config);
    config.protocol = &protocol_mesi;
    refused_by_cache(&config, "protocol: mesi is for a coherent cache");
    config.coherent = true;
    config.protocol = &protocol_write_back;
    refused_by_cache(&config, "protocol: write_back is not for a coherent cache");
    config.protocol = &denovo;
    refused_by_cache(&config,
                     "protocol: denovo keeps a state for each word; this cache keeps one for each line");
    draft_of(&draft, &protocol_mesi);
    cache_row(&draft, M, PROTOCOL_EVICT)->action = PROTOCOL_DO_NOTHING;
    config.protocol = &draft.protocol;
    refused_by_cache(&config, "protocol mesi: cache row (MODIFIED, evict): the newest version is lost");
    refused_by_llc(&draft.protocol, "protocol mesi: cache row (MODIFIED, evict): the newest version is lost");
    refused_by_llc(&denovo,
                   "protocol: denovo keeps a state for each word; this cache keeps one for each line");
    refused_by_llc(&protocol_write_back, "protocol: write_back has no directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_tables_pass),           cmocka_unit_test(wrong_states),
        cmocka_unit_test(wrong_cache_rows),           cmocka_unit_test(rows_are_total_and_deterministic),
        cmocka_unit_test(nothing_is_unreachable),     cmocka_unit_test(wrong_directory_rows),
        cmocka_unit_test(compiled_rows_are_the_rows), cmocka_unit_test(configurations_name_a_sound_protocol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
