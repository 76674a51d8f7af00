/* DeNovo's controllers, step by step: what the searches (test_model.c) do not see, because it costs only
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/denovo.h"
#include "emu/mem/denovo/rules.h"
#include "tests/mem/denovo/words.h"

enum { WORDS = 16, SENT = 16, ALL = (1 << WORDS) - 1 };

/* A cache of one line for each of two addresses, and the messages that its unit has sent. */
struct rig {
    struct denovo_unit *unit;
    uint8_t state[2][WORDS];
    struct denovo_message sent[SENT];
    unsigned count, rooms;
    uint64_t arrived, acknowledged, written_back;
};

enum { LINE = 0x1000, OTHER = 0x1040 };

static uint64_t words(void *holder, uint64_t line, unsigned map, enum denovo_state state)
{
    const struct rig *rig = holder;
    assert_int_equal(map, 0);
    return words_in(rig->state[line == OTHER], WORDS, state);
}

static void set(void *holder, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                uint64_t now)
{
    struct rig *rig = holder;
    (void)map;
    (void)now;
    words_set(rig->state[line == OTHER], mask, state);
}

static void arrived(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                    uint64_t now)
{
    (void)line, (void)map, (void)value, (void)now;
    ((struct rig *)holder)->arrived |= mask;
}

static void acknowledged(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                         uint64_t now)
{
    (void)line, (void)map, (void)value, (void)now;
    ((struct rig *)holder)->acknowledged |= mask;
}

static void operated(void *holder, const struct denovo_message *answer, uint64_t now)
{
    (void)holder, (void)answer, (void)now;
}

static void written_back(void *holder, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    (void)line, (void)map, (void)now;
    ((struct rig *)holder)->written_back |= mask;
}

static void room(void *holder, uint64_t now)
{
    (void)now;
    ((struct rig *)holder)->rooms++;
}

static void send(void *context, const struct denovo_message *message, uint64_t now)
{
    struct rig *rig = context;
    (void)now;
    assert_true(rig->count < SENT);
    rig->sent[rig->count++] = *message;
}

static void set_up(struct rig *rig, const struct denovo_rules *rules)
{
    static const struct denovo_holder_ops ops = {.words = words,
                                                 .set = set,
                                                 .arrived = arrived,
                                                 .acknowledged = acknowledged,
                                                 .operated = operated,
                                                 .written_back = written_back,
                                                 .room = room};
    struct denovo_unit_config config = {
        .number = 3, .mshrs = 1, .write_backs = 1, .words = WORDS, .rules = rules};
    memset(rig, 0, sizeof *rig);
    rig->unit = denovo_unit_new(&config, &ops, rig, (struct denovo_post){send, rig, NULL});
}

static void answer(struct rig *rig, enum denovo_kind kind, uint64_t line, uint64_t mask, uint64_t extra)
{
    struct denovo_message message = {.kind = (uint8_t)kind,
                                     .from = DENOVO_REGISTRY,
                                     .to = 3,
                                     .requester = 3,
                                     .line = line,
                                     .mask = mask,
                                     .extra = extra};
    denovo_receive(rig->unit, &message, 0);
}

/* Returns the words that a read of two words, which would keep two more, has made VALID. One word that the
 * holder does not want comes along. */
static uint64_t installed(const struct denovo_rules *rules)
{
    struct rig rig;
    set_up(&rig, rules);
    assert_int_equal(denovo_read(rig.unit, LINE, 0, 0x3, 0xf, 0), DENOVO_WAITS);
    assert_int_equal(rig.count, 1);
    assert_int_equal(rig.sent[0].kind, DENOVO_MSG_READ);
    assert_int_equal(rig.sent[0].mask, 0x3);
    assert_int_equal(rig.sent[0].extra, 0xc);
    answer(&rig, DENOVO_MSG_READ_ANSWER, LINE, 0x1, 0x14);
    assert_int_equal(rig.arrived, 0x1);
    answer(&rig, DENOVO_MSG_READ_ANSWER, LINE, 0x2, 0);
    assert_int_equal(rig.arrived, 0x3);
    assert_true(denovo_idle(rig.unit));
    denovo_unit_free(rig.unit);
    return words(&rig, LINE, 0, DENOVO_VALID);
}

static void answers_are_installed(void **state)
{
    (void)state;
    struct denovo_rules changed = denovo_protocol;
    changed.unit[DENOVO_WORD_INVALID][DENOVO_ON_ANSWER] =
        (struct denovo_row){DENOVO_WORD_INVALID, DENOVO_DO_NOTHING};
    assert_int_equal(installed(&denovo_protocol), 0x7);
    assert_int_equal(installed(&changed), 0);
}

/* A second load of a word joins the first. */
static void loads_are_joined(void **state)
{
    (void)state;
    struct rig rig;
    set_up(&rig, NULL);
    assert_int_equal(denovo_read(rig.unit, LINE, 0, 0x3, ALL, 0), DENOVO_WAITS);
    assert_int_equal(denovo_read(rig.unit, LINE, 0, 0x1, ALL, 0), DENOVO_WAITS);
    assert_int_equal(rig.count, 1);
    assert_int_equal(denovo_read(rig.unit, LINE, 0, 0x6, ALL, 0), DENOVO_WAITS);
    assert_int_equal(rig.sent[1].mask, 0x4);
    denovo_unit_free(rig.unit);
}

/* One MSHR, one entry of the write-back buffer: what finds them in use is refused, and told once when they
 * are free. */
static void what_is_refused_is_called(void **state)
{
    (void)state;
    struct rig rig;
    set_up(&rig, NULL);
    assert_int_equal(denovo_register(rig.unit, LINE, 0, 0x3, 0), DENOVO_WAITS);
    assert_int_equal(words(&rig, LINE, 0, DENOVO_REGISTERED), 0x3);
    assert_int_equal(denovo_pending(rig.unit, LINE), 0x3);
    assert_false(denovo_settled(rig.unit));
    assert_int_equal(denovo_read(rig.unit, OTHER, 0, 0x1, ALL, 0), DENOVO_REFUSED);
    assert_int_equal(denovo_write_back(rig.unit, LINE, 0, 0x3, 0), DENOVO_REFUSED);
    answer(&rig, DENOVO_MSG_REGISTERED, LINE, 0x3, 0);
    assert_true(denovo_settled(rig.unit));
    assert_int_equal(rig.acknowledged, 0x3);
    assert_int_equal(rig.rooms, 1);
    assert_int_equal(denovo_write_back(rig.unit, LINE, 0, 0x1, 0), DENOVO_WAITS);
    assert_int_equal(denovo_buffered(rig.unit, LINE), 0x1);
    assert_int_equal(words(&rig, LINE, 0, DENOVO_REGISTERED), 0x2);
    assert_int_equal(denovo_write_back(rig.unit, LINE, 0, 0x2, 0), DENOVO_REFUSED);
    assert_int_equal(denovo_register(rig.unit, LINE, 0, 0x1, 0), DENOVO_REFUSED);
    answer(&rig, DENOVO_MSG_WRITTEN_BACK, LINE, 0x1, 0);
    assert_int_equal(rig.rooms, 2);
    assert_int_equal(rig.written_back, 0x1);
    assert_true(denovo_idle(rig.unit));
    answer(&rig, DENOVO_MSG_REVOKE, LINE, 0x1, 0); /* late */
    assert_int_equal(rig.rooms, 2);
    denovo_unit_free(rig.unit);
}

/* A Revoke that finds the write-back buffer full is refused, and its words stay. */
static void revoke_without_room(void **state)
{
    (void)state;
    struct rig rig;
    set_up(&rig, NULL);
    assert_int_equal(denovo_register(rig.unit, LINE, 0, 0x3, 0), DENOVO_WAITS);
    answer(&rig, DENOVO_MSG_REGISTERED, LINE, 0x3, 0);
    assert_int_equal(denovo_write_back(rig.unit, LINE, 0, 0x1, 0), DENOVO_WAITS);
    answer(&rig, DENOVO_MSG_REVOKE, LINE, 0x3, 0);
    assert_int_equal(rig.sent[rig.count - 1].kind, DENOVO_MSG_REVOKE_REFUSED);
    assert_int_equal(rig.sent[rig.count - 1].mask, 0x2);
    assert_int_equal(words(&rig, LINE, 0, DENOVO_REGISTERED), 0x2);
    answer(&rig, DENOVO_MSG_WRITTEN_BACK, LINE, 0x1, 0);
    answer(&rig, DENOVO_MSG_REVOKE, LINE, 0x2, 0);
    assert_int_equal(rig.sent[rig.count - 1].kind, DENOVO_MSG_WRITE_BACK);
    assert_int_equal(words(&rig, LINE, 0, DENOVO_VALID), 0x2);
    denovo_unit_free(rig.unit);
}

static void messages_have_sizes_and_classes(void **state)
{
    (void)state;
    struct denovo_message message = {.kind = DENOVO_MSG_READ, .mask = 0x3, .extra = 0xfc};
    assert_int_equal(denovo_bytes(&message), 8);
    assert_int_equal(denovo_class(&message), MAIL_REQUEST);
    message.kind = DENOVO_MSG_READ_ANSWER;
    assert_int_equal(denovo_bytes(&message), 8 + 8 * 4);
    assert_int_equal(denovo_class(&message), MAIL_RESPONSE);
    message.kind = DENOVO_MSG_REGISTERED;
    assert_int_equal(denovo_bytes(&message), 8);
    message.with_data = true;
    assert_int_equal(denovo_bytes(&message), 8 + 2 * 4);
    message.kind = DENOVO_MSG_REVOKE;
    assert_int_equal(denovo_class(&message), MAIL_FORWARD);
    message.kind = DENOVO_MSG_WRITE_BACK; /* must not wait for requests */
    assert_int_equal(denovo_class(&message), MAIL_RESPONSE);
    assert_true(sizeof message <= MAIL_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_installed),           cmocka_unit_test(loads_are_joined),
        cmocka_unit_test(what_is_refused_is_called),       cmocka_unit_test(revoke_without_room),
        cmocka_unit_test(messages_have_sizes_and_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
