/* DeNovo's rows by word, used as caches and a last level use the rows of other protocols by line: random
 * traffic of three caches on lines of sixteen words, against a reference model without tables. In the model,
 * at most one cache has registered a word, and other caches may have valid copies, which may be old until
 * they synchronize (Choi et al., PACT 2011; the protocol of Komuravelli et al., "Stash", ISCA 2015, section
 * 4.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/isa/random.h"
#include "tests/mem/protocol/denovo.h"

enum { CACHES = 3, LINES = 4, LINE = 16, WORDS = LINES * LINE, NOBODY = -1, STEPS = 200000 };
enum { INVALID = 0, VALID = 1, REGISTERED = 3 }; /* the state numbers in denovo.def */

/* The reference model. */

struct reference {
    int registered[WORDS];
    uint64_t newest[WORDS], seen[CACHES][WORDS]; /* values: the newest, and those of the caches */
    bool valid[CACHES][WORDS];
};

static void reference_lose(struct reference *r, int word)
{
    if (r->registered[word] != NOBODY)
        r->valid[r->registered[word]][word] = false;
    r->registered[word] = NOBODY;
}

static void reference_store(struct reference *r, int cache, int word, uint64_t value)
{
    reference_lose(r, word);
    r->registered[word] = cache;
    r->newest[word] = value;
    if (cache != NOBODY)
        r->seen[cache][word] = value;
}

/* A miss brings in the word, and the words of its line that no cache has registered. */
static uint64_t reference_load(struct reference *r, int cache, int word)
{
    bool hit = r->registered[word] == cache || r->valid[cache][word];
    for (int i = word / LINE * LINE; !hit && i < (word / LINE + 1) * LINE; i++)
        if (!r->valid[cache][i] && (i == word || r->registered[i] == NOBODY)) {
            r->valid[cache][i] = true;
            r->seen[cache][i] = r->newest[i];
        }
    return r->seen[cache][word];
}

/* The rows, as caches and a last level use them. */

struct machine {
    struct protocol_rules rules;
    unsigned state[CACHES][WORDS];
    uint64_t copy[CACHES][WORDS], level[WORDS]; /* values */
    int owner[WORDS];
    unsigned probes, asked; /* requests to the directory */
};

static enum protocol_action step(struct machine *m, int cache, int word, enum protocol_event event)
{
    struct protocol_step row = protocol_step(&m->rules, m->state[cache][word], event);
    m->state[cache][word] = row.next;
    return (enum protocol_action)row.action;
}

static struct protocol_turn turn_of(const struct machine *m, int cache, int word,
                                    enum protocol_request request)
{
    enum protocol_standing standing = m->owner[word] == NOBODY  ? PROTOCOL_NOBODY
                                      : m->owner[word] == cache ? PROTOCOL_OWNED_SELF
                                                                : PROTOCOL_OWNED_OTHER;
    return protocol_turn(&m->rules, request, standing);
}

static enum protocol_reply ask(struct machine *m, int cache, int word, enum protocol_request request)
{
    struct protocol_turn turn = turn_of(m, cache, word, request);
    m->asked++;
    if (turn.probe != PROTOCOL_NO_PROBE) {
        int owner = m->owner[word];
        m->probes++;
        if (step(m, owner, word, (enum protocol_event)turn.probe) == PROTOCOL_DO_ANSWER)
            m->level[word] = m->copy[owner][word];
        if (turn.probe == PROTOCOL_PROBE_TAKE)
            m->owner[word] = NOBODY;
        turn = turn_of(m, cache, word, request);
    }
    if (turn.next == PROTOCOL_NOBODY)
        m->owner[word] = NOBODY;
    else if (turn.next == PROTOCOL_OWNED_SELF)
        m->owner[word] = cache;
    return (enum protocol_reply)turn.reply;
}

static void fill(struct machine *m, int cache, int word)
{
    assert_int_equal(ask(m, cache, word, PROTOCOL_GET_READ), PROTOCOL_REPLY_READ);
    (void)step(m, cache, word, PROTOCOL_FILL);
    m->copy[cache][word] = m->level[word];
}

static uint64_t load(struct machine *m, int cache, int word)
{
    if (step(m, cache, word, PROTOCOL_LOAD) == PROTOCOL_DO_MISS) {
        fill(m, cache, word);
        for (int i = word / LINE * LINE; i < (word / LINE + 1) * LINE; i++)
            if (m->owner[i] == NOBODY && m->state[cache][i] == PROTOCOL_ABSENT)
                fill(m, cache, i);
    }
    assert_true(m->rules.properties[m->state[cache][word]] & PROTOCOL_READABLE);
    return m->copy[cache][word];
}

static void store(struct machine *m, int cache, int word, uint64_t value)
{
    if (step(m, cache, word, PROTOCOL_STORE) == PROTOCOL_DO_UPGRADE) {
        assert_int_equal(ask(m, cache, word, PROTOCOL_GET_OWNED), PROTOCOL_REPLY_OWNED);
        (void)step(m, cache, word, PROTOCOL_FILL_OWNED);
        assert_int_equal(step(m, cache, word, PROTOCOL_STORE), PROTOCOL_DO_HIT);
    }
    m->copy[cache][word] = value;
}

/* A store by a client without a cache. */
static void store_outside(struct machine *m, int word, uint64_t value)
{
    assert_int_equal(ask(m, NOBODY, word, PROTOCOL_PUT_STORE), PROTOCOL_REPLY_DONE);
    m->level[word] = value;
}

/* Evicts or cleans a word. */
static void write_back(struct machine *m, int cache, int word, enum protocol_event event)
{
    if (step(m, cache, word, event) != PROTOCOL_DO_WRITE_BACK)
        return;
    enum protocol_request request = event == PROTOCOL_CLEAN ? PROTOCOL_PUT_KEEP : PROTOCOL_PUT_LINE;
    assert_int_equal(ask(m, cache, word, request), PROTOCOL_REPLY_DONE);
    m->level[word] = m->copy[cache][word];
}

/* The rows and the reference. */

struct both {
    struct machine machine;
    struct reference reference;
    uint64_t random, value;
};

static int draw(struct both *b, int below)
{
    random_step(&b->random);
    return (int)((b->random >> 33) % (uint64_t)below);
}

static void begin(struct both *b)
{
    struct error err = {.text = ""};
    *b = (struct both){.random = 1};
    if (!protocol_check(&denovo, &err))
        fail_msg("%s", err.text);
    protocol_compile(&denovo, &b->machine.rules);
    for (int i = 0; i < WORDS; i++)
        b->machine.owner[i] = b->reference.registered[i] = NOBODY;
}

static void check(const struct both *b)
{
    const struct reference *r = &b->reference;
    for (int word = 0; word < WORDS; word++) {
        assert_int_equal(b->machine.owner[word], r->registered[word]);
        for (int cache = 0; cache < CACHES; cache++) {
            bool registered = r->registered[word] == cache;
            assert_int_equal(b->machine.state[cache][word], registered              ? REGISTERED
                                                            : r->valid[cache][word] ? VALID
                                                                                    : INVALID);
        }
    }
}

static void do_access(struct both *b, int cache, int word)
{
    if (draw(b, 2)) {
        assert_int_equal(load(&b->machine, cache, word), reference_load(&b->reference, cache, word));
    } else {
        store(&b->machine, cache, word, ++b->value);
        reference_store(&b->reference, cache, word, b->value);
    }
}

static void do_word(struct both *b, int cache, int word, int what)
{
    struct reference *r = &b->reference;
    bool registered = r->registered[word] == cache;
    switch (what) {
    case 0: /* words that others may have written are read again */
        (void)step(&b->machine, cache, word, PROTOCOL_ACQUIRE);
        r->valid[cache][word] = false;
        break;
    case 1:
        write_back(&b->machine, cache, word, PROTOCOL_EVICT);
        if (registered)
            reference_lose(r, word);
        r->valid[cache][word] = false;
        break;
    case 2:
        write_back(&b->machine, cache, word, PROTOCOL_CLEAN);
        if (registered) {
            r->registered[word] = NOBODY;
            r->valid[cache][word] = true;
        }
        break;
    default:
        assert_int_equal(ask(&b->machine, NOBODY, word, PROTOCOL_RECALL), PROTOCOL_REPLY_DONE);
        reference_lose(r, word);
        break;
    }
}

static void words_follow_the_reference(void **state)
{
    static struct both b;
    (void)state;
    begin(&b);
    for (int i = 0; i < STEPS; i++) {
        int cache = draw(&b, CACHES), word = draw(&b, WORDS), what = draw(&b, 200);
        if (what == 0) { /* all words of the cache */
            for (int at = 0; at < WORDS; at++)
                do_word(&b, cache, at, 0);
        } else if (what < 4) { /* the words of a line */
            for (int at = word / LINE * LINE; at < (word / LINE + 1) * LINE; at++)
                do_word(&b, cache, at, what);
        } else if (what == 4) {
            store_outside(&b.machine, word, ++b.value);
            reference_store(&b.reference, NOBODY, word, b.value);
        } else {
            do_access(&b, cache, word);
        }
        check(&b);
    }
    assert_true(b.machine.probes > STEPS / 20);
}

/* The benefit of states by word: caches that write different words of a line send each other no probes. */
static void false_sharing_costs_no_probe(void **state)
{
    static struct both b;
    (void)state;
    begin(&b);
    for (int round = 0; round < 10; round++)
        for (int word = 0; word < LINE; word++)
            store(&b.machine, word % CACHES, word, (uint64_t)round);
    assert_int_equal(b.machine.probes, 0);
    assert_int_equal(b.machine.asked, LINE);
    /* A reader gets only the requested word from the cache that has it, which keeps it. */
    assert_int_equal(load(&b.machine, 1, 0), 9);
    assert_int_equal(b.machine.probes, 1);
    assert_int_equal(b.machine.state[0][0], REGISTERED);
    assert_int_equal(b.machine.state[1][0], VALID);
    assert_int_equal(b.machine.state[1][3], INVALID);
    /* The reader gets an old value until it synchronizes. */
    store(&b.machine, 0, 0, 10);
    assert_int_equal(load(&b.machine, 1, 0), 9);
    (void)step(&b.machine, 1, 0, PROTOCOL_ACQUIRE);
    assert_int_equal(load(&b.machine, 1, 0), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_follow_the_reference),
        cmocka_unit_test(false_sharing_costs_no_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
