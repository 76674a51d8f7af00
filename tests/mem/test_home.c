/* Homes of addresses: bit strings against a model that works bit by bit, ranges, pages, and changes under
 * traffic. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/dram/memory.h"
#include "emu/dram/standard.h"
#include "emu/mem/home_bits.h"
#include "tests/isa/random.h"

static uint64_t random_state;

static uint32_t number_below(uint32_t end)
{
    random_step(&random_state);
    return (uint32_t)(random_state >> 33) % end;
}

static unsigned log2_of(uint32_t power)
{
    return (unsigned)__builtin_ctz(power);
}

/* The model. `spelled` has a letter for each bit, the most significant first; h, s and m are divisions. */
static struct home model(const char *spelled, const struct home_layout *layout, uint64_t number)
{
    const struct home_geometry *g = &layout->geometry;
    uint32_t value['s' + 1] = {0}, used['s' + 1] = {0};
    for (size_t i = strlen(spelled); i-- > 0;) {
        unsigned letter = (unsigned char)spelled[i];
        uint64_t count = letter == 'h' ? g->controllers : letter == 's' ? g->stacks : g->modules;
        if (letter >= 'a') {
            value[letter - 'a' + 'A'] = (uint32_t)(number % count);
            number /= count;
            continue;
        }
        value[letter] |= (uint32_t)(number & 1) << used[letter]++;
        number >>= 1;
    }
    uint32_t row = value['R'], bank = (value['K'] * g->groups + value['G']) * g->banks + value['B'];
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t one = row >> bit & 1, width = log2_of(g->groups) + log2_of(g->banks);
        if (layout->bank_hash && width)
            bank ^= one << bit % width;
        if (layout->controller_hash && g->controllers > 1)
            value['H'] ^= one << bit % log2_of(g->controllers);
        if (layout->stack_hash && g->stacks > 1)
            value['S'] ^= one << bit % log2_of(g->stacks);
    }
    return (struct home){.module = (uint16_t)(value['M'] + layout->module),
                         .stack = (uint16_t)(value['S'] + layout->stack),
                         .controller = (uint16_t)(value['H'] + layout->controller),
                         .bank = (uint16_t)bank,
                         .row = row,
                         .column = value['C']};
}

static void assert_same(const struct home *a, const struct home *b)
{
    assert_int_equal(a->module, b->module);
    assert_int_equal(a->stack, b->stack);
    assert_int_equal(a->controller, b->controller);
    assert_int_equal(a->bank, b->bank);
    assert_int_equal(a->row, b->row);
    assert_int_equal(a->column, b->column);
}

/* Appends `bits` bits of a letter to the text and to the spelled bits. */
static void spell(char letter, unsigned bits, char *text, char *spelled)
{
    (void)sprintf(text + strlen(text), " %c%u", letter, bits);
    for (; bits; bits--)
        (void)sprintf(spelled + strlen(spelled), "%c", letter);
}

/* Makes a layout of about 2^18 bytes with pieces in random order, and its spelled bits. Counts of
 * controllers, stacks and modules that are not powers of two are divided by. */
static struct home_layout any_layout(char *spelled)
{
    struct home_layout layout = {.stack_hash = number_below(2),
                                 .controller_hash = number_below(2),
                                 .bank_hash = number_below(2),
                                 .module = (uint16_t)number_below(3),
                                 .stack = (uint16_t)number_below(3),
                                 .controller = (uint16_t)number_below(3)};
    struct home_geometry *g = &layout.geometry;
    uint32_t *const counts[] = {&g->rows,    &g->ranks,       &g->groups, &g->banks,
                                &g->columns, &g->controllers, &g->stacks, &g->modules};
    static const char letters[] = "RKGBCHSM";
    unsigned left[8], pieces = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned bits = number_below(i == 0 ? 5 : 3);
        bool divided = i >= 5 && number_below(3) == 0;
        *counts[i] = divided ? 1 + number_below(6) : 1U << bits;
        left[i] = divided ? 100 : bits; /* 100: a division */
        pieces += left[i];
    }
    g->burst = 16U << number_below(3);
    layout.controller_hash &= left[5] < 100 || (g->controllers & (g->controllers - 1)) == 0;
    layout.stack_hash &= left[6] < 100 || (g->stacks & (g->stacks - 1)) == 0;
    spelled[0] = '\0';
    while (pieces) {
        unsigned i = number_below(8), bits = left[i] ? 1 + number_below(left[i]) : 0;
        if (left[i] == 100) {
            (void)sprintf(layout.text + strlen(layout.text), " %s", i == 5 ? "%" : i == 6 ? "%S" : "%M");
            (void)sprintf(spelled + strlen(spelled), "%c", letters[i] - 'A' + 'a');
            bits = 100;
        } else if (bits) {
            spell(letters[i], bits, layout.text, spelled);
        }
        left[i] -= bits;
        pieces -= bits;
    }
    spell('O', log2_of(g->burst), layout.text, spelled);
    return layout;
}

static uint64_t bytes_of(const struct home_geometry *g)
{
    return (uint64_t)g->modules * g->stacks * g->controllers * g->ranks * g->groups * g->banks * g->rows *
           g->columns * g->burst;
}

static uint64_t place_number(const struct home_layout *layout, const struct home *home)
{
    const struct home_geometry *g = &layout->geometry;
    uint64_t number = home->module - layout->module;
    assert_true(home->module - layout->module < (int)g->modules &&
                home->bank < g->ranks * g->groups * g->banks);
    assert_true(home->stack - layout->stack < (int)g->stacks && home->row < g->rows);
    assert_true(home->controller - layout->controller < (int)g->controllers && home->column < g->columns);
    number = number * g->stacks + (home->stack - layout->stack);
    number = number * g->controllers + (home->controller - layout->controller);
    number = number * (g->ranks * g->groups * g->banks) + home->bank;
    return (number * g->rows + home->row) * g->columns + home->column;
}

/* The home of each address is the model's; every place is the home of a burst, and the inverse returns its
 * address. */
static void bit_strings_are_the_model(void **state)
{
    (void)state;
    random_state = 1;
    for (unsigned round = 0; round < 400; round++) {
        char spelled[256];
        const struct home_layout layout = any_layout(spelled);
        const uint64_t base = 0x80000000, size = bytes_of(&layout.geometry), burst = layout.geometry.burst;
        struct home_map *map = home_map_new();
        struct error err;
        if (!home_range_add(map, base, size, &layout, &err))
            fail_msg("%s", err.text);
        bool *seen = calloc(size / burst, sizeof *seen);
        for (uint64_t number = 0; number < size; number += burst) {
            struct home home;
            uint64_t back = 0;
            home_resolve(map, base + number + number_below((uint32_t)burst), &home);
            const struct home expected = model(spelled, &layout, number);
            assert_same(&home, &expected);
            assert_true(home_current(&home));
            uint64_t place = place_number(&layout, &home);
            assert_false(seen[place]);
            seen[place] = true;
            assert_true(home_address(map, &home, &back));
            assert_true(back == base + number);
        }
        free(seen);
        home_map_free(map);
    }
}

static void fits(const char *from, struct home_geometry geometry, const char *to)
{
    char text[HOME_TEXT];
    struct error err;
    if (!home_text_fit(from, &geometry, text, &err))
        fail_msg("%s: %s", from, err.text);
    assert_string_equal(text, to);
}

/* modules, stacks, controllers, ranks, groups, banks, rows, columns, burst. */
static void texts_follow_counts(void **state)
{
    (void)state;
    const char *const hbm = "R14 B2 C5 G2 H3 O6", *const tom = "R12 B4 C5 H4 C1 O6";
    fits(hbm, (struct home_geometry){1, 1, 8, 1, 4, 4, 16384, 32, 64}, hbm);
    fits(hbm, (struct home_geometry){1, 1, 4, 1, 4, 4, 16384, 32, 64}, "R14 B2 C5 G2 H2 O6");
    fits(hbm, (struct home_geometry){1, 1, 6, 1, 4, 4, 16384, 32, 64}, "R14 B2 C5 G2 % O6");
    fits(hbm, (struct home_geometry){1, 1, 1, 1, 1, 8, 32768, 32, 64}, "R15 B3 C5 O6");
    fits(hbm, (struct home_geometry){9, 4, 8, 2, 4, 4, 16384, 16, 128}, "R14 K1 B2 C4 G2 %M S2 H3 O7");
    fits("R12 B2 C5 % C1 G2 O5", (struct home_geometry){1, 1, 4, 1, 4, 4, 4096, 64, 32},
         "R12 B2 C5 % C1 G2 O5");
    fits(tom, (struct home_geometry){1, 1, 16, 1, 1, 16, 4096, 1, 64}, "R12 B4 H4 O6");
    fits(tom, (struct home_geometry){1, 1, 16, 1, 1, 16, 4096, 256, 64}, "R12 B4 C7 H4 C1 O6");
    fits("H2 R4 S H3 O6", (struct home_geometry){1, 3, 5, 1, 1, 1, 16, 1, 64}, "R4 %S % O6");
    struct home_geometry geometry = {1, 1, 1, 1, 1, 1, 1U << 31, 1, 64};
    char text[HOME_TEXT], longest[HOME_TEXT + 1] = {0};
    struct error err;
    assert_false(home_text_fit("R4 Z", &geometry, text, &err));
    assert_false(home_text_fit("O6 R4", &geometry, text, &err));
    memset(longest, ' ', HOME_TEXT);
    assert_false(home_text_fit(longest, &geometry, text, &err));
    longest[0] = '\0';
    for (unsigned i = 0; i < 31; i++) /* each piece needs one character more */
        (void)strcat(longest, "R.");
    (void)strcat(longest, "O6");
    assert_false(home_text_fit(longest, &geometry, text, &err));
    assert_non_null(strstr(err.text, "pieces"));
}

/* Four stacks of 16 vaults in blocks of 256 bytes. */
static struct home_layout stacks_layout(const char *text)
{
    struct home_layout layout = {.geometry = {1, 4, 16, 1, 1, 8, 64, 8, 32}};
    (void)strcpy(layout.text, text);
    return layout;
}

static void interleaving_by_hand(void **state)
{
    (void)state;
    struct home_map *map = home_map_new();
    struct home_layout layout = stacks_layout("R6 B3 H4 S2 C3 O5");
    struct error err;
    struct home home;
    assert_true(home_range_add(map, 0, bytes_of(&layout.geometry), &layout, &err));
    home_resolve(map, 0x300, &home); /* the fourth block of 256 bytes */
    assert_int_equal(home.stack, 3);
    assert_int_equal(home.controller, 0);
    home_resolve(map, 0x1e40, &home); /* block 30 = 7 * 4 + 2, third burst */
    assert_int_equal(home.stack, 2);
    assert_int_equal(home.controller, 7);
    assert_int_equal(home.column, 2);
    home_map_free(map);
    /* The stack is hashed: row 45 = 10 11 01 folds to 10 ^ 11 ^ 01 = 00, row 46 = 10 11 10 folds to 11. */
    layout.stack_hash = true;
    map = home_map_new();
    assert_true(home_range_add(map, 0, bytes_of(&layout.geometry), &layout, &err));
    home_resolve(map, (UINT64_C(45) << 17) + 0x300, &home);
    assert_int_equal(home.stack, 3);
    home_resolve(map, (UINT64_C(46) << 17) + 0x300, &home);
    assert_int_equal(home.stack, 0);
    assert_int_equal(home.row, 46);
    home_map_free(map);
}

/* Nine modules of one stack each, with one range per module; above them, the same modules interleaved by a
 * division. */
static void ranges_have_maps_of_their_own(void **state)
{
    (void)state;
    struct home_map *map = home_map_new();
    struct home_layout layout = {.text = "R4 H1 C2 O6", .geometry = {1, 1, 2, 1, 1, 1, 16, 4, 64}};
    struct error err;
    struct home home;
    for (unsigned i = 9; i-- > 0;) {
        layout.module = (uint16_t)i;
        assert_true(home_range_add(map, 0x10000 + i * UINT64_C(0x2000), 0x2000, &layout, &err));
    }
    struct home_layout turns = {.text = "R4 H1 %M C2 O6", .geometry = {9, 1, 2, 1, 1, 1, 16, 4, 64}};
    assert_true(home_range_add(map, 0x80000, 9 * 0x2000, &turns, &err));
    for (uint64_t address = 0x10000; address < 0x10000 + 9 * 0x2000; address += 64) {
        home_resolve(map, address, &home);
        assert_int_equal(home.module, (address - 0x10000) / 0x2000);
        assert_int_equal(home.row, address % 0x2000 / 0x200);
    }
    for (uint64_t number = 0; number < 9 * 0x2000; number += 64) {
        home_resolve(map, 0x80000 + number, &home);
        assert_int_equal(home.module, number / 256 % 9);
        assert_int_equal(home.controller, number / 256 / 9 % 2);
    }
    /* An address outside all ranges is mapped by the range that was added first, that of module 8 from
     * 0x20000 on, and wraps around. */
    home_resolve(map, 0x20000 - 0x40, &home);
    assert_int_equal(home.module, 7);
    home_resolve(map, 0x7fffffc0, &home);
    assert_int_equal(home.module, 8);
    assert_int_equal(home.row, 15);
    assert_int_equal(home.column, 3);
    home_map_free(map);
}

static void hostile_ranges(void **state)
{
    (void)state;
    struct home_map *map = home_map_new();
    struct home_layout layout = {.text = "R4 H1 C2 O6", .geometry = {1, 1, 2, 1, 1, 1, 16, 4, 64}};
    struct error err;
    assert_false(home_range_add(map, 0x10000, 0, &layout, &err));
    assert_false(home_range_add(map, UINT64_MAX - 63, 128, &layout, &err));
    assert_false(home_range_add(map, 0x10000, 0x2040, &layout, &err));
    assert_non_null(strstr(err.text, "holds 8192 bytes, but the range needs 8256"));
    assert_false(home_range_add(map, 0x10020, 0x1000, &layout, &err));
    assert_non_null(strstr(err.text, "not a multiple of the burst"));
    assert_true(home_range_add(map, 0x10000, 0x2000, &layout, &err));
    assert_false(home_range_add(map, 0x11fc0, 0x40, &layout, &err));
    assert_non_null(strstr(err.text, "overlaps the one at 0x10000"));
    assert_false(home_range_add(map, 0xf000, 0x1040, &layout, &err));
    assert_true(home_range_add(map, 0xf000, 0x1000, &layout, &err));
    assert_true(home_range_add(map, 0x12000, 0x40, &layout, &err));
    /* Texts. */
    static const char *const texts[][2] = {
        {"S1 R4 H1 C2 O6", "has 1 bits of S, but this memory needs 0"},
        {"R4 %H1 C2 O6", "has 1 bits of H, but this memory needs 0"},
        {"%S %S R4 H1 C2 O6", "one %S, because 1 stacks"},
        {"Z R4 H1 C2 O6", "allowed: R K G B C H S M O, each with"},
    };
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        (void)strcpy(layout.text, texts[i][0]);
        assert_false(home_range_add(map, 0x40000, 0x1000, &layout, &err));
        if (!strstr(err.text, texts[i][1]))
            fail_msg("%s", err.text);
    }
    layout.geometry.modules = 3;
    (void)strcpy(layout.text, "R4 H1 C2 O6");
    assert_false(home_range_add(map, 0x40000, 0x1000, &layout, &err));
    assert_non_null(strstr(err.text, "must contain one %M, because 3 modules are not a power of two"));
    layout.geometry.modules = 1;
    layout.geometry.stacks = 3;
    layout.stack_hash = true;
    (void)strcpy(layout.text, "R4 %S H1 C2 O6");
    assert_false(home_range_add(map, 0x40000, 0x1000, &layout, &err));
    assert_non_null(strstr(err.text, "stack_hash: 3 stacks; hashing needs a power of two"));
    /* Pages. */
    assert_false(home_range_page(map, 0x10000, 0, &err));
    assert_false(home_range_page(map, 0x10000, 3000, &err));
    assert_false(home_range_page(map, 0x10000, 32, &err));
    assert_false(home_range_page(map, 0x10000, 0x4000, &err));
    assert_false(home_range_page(map, 0x10040, 0x1000, &err));
    assert_true(home_range_page(map, 0x10000, 0x1000, &err));
    assert_false(home_range_page(map, 0x10000, 0x1000, &err));
    assert_false(home_page_move(map, 0x10000, 2, NULL, NULL, 0, &err));
    assert_false(home_page_move(map, 0x12000, 0, NULL, NULL, 0, &err));
    assert_false(home_range_change(map, 0x10000, 0x2000, &layout, NULL, NULL, 0, &err));
    /* A fixed map: what was possible is refused with the first message. */
    assert_true(home_page_move(map, 0x10000, 1, NULL, NULL, 0, &err));
    home_map_fix(map, "the first reason");
    home_map_fix(map, "another one");
    assert_false(home_page_move(map, 0x10000, 0, NULL, NULL, 0, &err));
    assert_string_equal(err.text, "the first reason");
    assert_int_equal(home_page_frame(map, 0x10000), 1);
    home_map_free(map);
}

/* Pages of 512 bytes: 16 pages in 32 frames, over four modules. Any moves keep places distinct. */
static void pages_are_placed_one_by_one(void **state)
{
    (void)state;
    random_state = 2;
    struct home_map *map = home_map_new();
    struct home_layout layout = {.text = "M2 R4 H1 C1 O6", .geometry = {4, 1, 2, 1, 1, 1, 16, 2, 64}};
    const uint64_t base = 0x4000, page = 512;
    struct error err;
    uint32_t frames[16];
    assert_true(home_range_add(map, base, 16 * page, &layout, &err));
    assert_true(home_range_page(map, base, page, &err));
    for (uint32_t i = 0; i < 16; i++)
        frames[i] = i;
    for (unsigned round = 0; round < 500; round++) {
        uint32_t moved = number_below(16), frame = number_below(32);
        for (uint32_t i = 0; i < 16; i++)
            if (frames[i] == frame)
                frames[i] = frames[moved];
        frames[moved] = frame;
        assert_true(home_page_move(map, base + moved * page + number_below(512), frame, NULL, NULL, 0, &err));
        for (uint64_t at = 0; at < 16 * page; at += 64) {
            uint64_t number = frames[at / page] * page + at % page, back = 0;
            struct home home;
            home_resolve(map, base + at, &home);
            const struct home expected = model("MMRRRRHCOOOOOO", &layout, number);
            assert_same(&home, &expected);
            assert_int_equal(home.module, frames[at / page] / 8);
            assert_true(home_address(map, &home, &back));
            assert_true(back == base + at);
            assert_int_equal(home_page_frame(map, base + at), frames[at / page]);
        }
    }
    home_map_free(map);
}

/* A port that answers when the test says so, and clients with one request each. */
struct rig {
    struct home_map *map;
    struct mem_waiters waiters;
    bool full;
    unsigned held, changes;
    uint64_t changed_at;
};

struct client {
    struct rig *rig;
    struct mem_link link;
    struct mem_request request;
    unsigned rooms, answers;
    bool refusing;
};

static bool hold(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct rig *rig = port;
    struct home fresh;
    (void)now;
    if (rig->full) {
        mem_waiters_add(&rig->waiters, link);
        return false;
    }
    home_resolve(rig->map, request->address, &fresh);
    assert_true(home_current(&request->home));
    assert_same(&request->home, &fresh);
    rig->held++;
    return true;
}

static bool answered(void *owner, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct client *client = owner;
    (void)link, (void)request, (void)now;
    client->answers += !client->refusing;
    return !client->refusing;
}

static void room(void *owner, struct mem_link *link, uint64_t now)
{
    struct client *client = owner;
    client->rooms++;
    (void)mem_link_request(link, &client->request, now);
}

static void changed(void *context, uint64_t now)
{
    struct rig *rig = context;
    rig->changes++;
    rig->changed_at = now;
}

static void client_init(struct client *client, struct rig *rig)
{
    static const struct mem_port_ops port = {.request = hold};
    static const struct mem_client_ops ops = {answered, room};
    *client = (struct client){.rig = rig};
    client->link = (struct mem_link){&port, rig, &ops, client, NULL, false, rig->map, NULL};
}

static bool ask(struct client *client, uint64_t address)
{
    mem_request_init(&client->request, MEM_READ, address, 64);
    return mem_link_request(&client->link, &client->request, 0);
}

static void held_maps_write_nothing(void **state)
{
    (void)state;
    struct rig rig = {.map = home_map_new()};
    struct home_layout layout = {.text = "R4 H1 C2 O6", .geometry = {1, 1, 2, 1, 1, 1, 16, 4, 64}};
    struct client client;
    struct error err;
    struct home home;
    assert_true(home_range_add(rig.map, 0, 0x2000, &layout, &err));
    assert_true(home_range_add(rig.map, 0x8000, 0x2000, &layout, &err));
    assert_true(home_range_page(rig.map, 0x8000, 0x1000, &err));
    client_init(&client, &rig);
    home_map_hold(rig.map, "held");
    for (uint64_t address = 0x100; address < 0x10000; address += 0x8000) {
        home_resolve(rig.map, address, &home);
        const struct home_slot before = *home.slot;
        assert_true(ask(&client, address));
        assert_memory_equal(&before, home.slot, sizeof before);
        assert_true(mem_request_respond(&client.request, 6));
        assert_memory_equal(&before, home.slot, sizeof before);
    }
    assert_false(home_range_change(rig.map, 0, 0x2000, &layout, changed, &rig, 4, &err));
    assert_string_equal(err.text, "held");
    home_map_free(rig.map);
}

static void changes_wait_for_quiet(void **state)
{
    (void)state;
    struct rig rig = {.map = home_map_new()};
    struct home_layout layout = {.text = "R4 H1 C2 O6", .geometry = {1, 1, 2, 1, 1, 1, 16, 4, 64}};
    struct home_layout other = layout;
    struct client clients[5];
    struct error err;
    struct home home;
    (void)strcpy(other.text, "H1 R4 C2 O6");
    assert_true(home_range_add(rig.map, 0, 0x2000, &layout, &err));
    assert_true(home_range_add(rig.map, 0x8000, 0x2000, &layout, &err));
    for (unsigned i = 0; i < 5; i++)
        client_init(&clients[i], &rig);
    /* The range is quiet: changed at once. */
    assert_true(home_range_change(rig.map, 0, 0x2000, &layout, changed, &rig, 3, &err));
    assert_int_equal(rig.changes, 1);
    assert_int_equal(rig.changed_at, 3);
    /* Two requests are outstanding; one was refused by the port and does not count. */
    assert_true(ask(&clients[0], 0x100));
    assert_true(ask(&clients[1], 0x1fc0));
    rig.full = true;
    assert_false(ask(&clients[2], 0x140));
    rig.full = false;
    assert_true(home_range_change(rig.map, 0, 0x2000, &other, changed, &rig, 4, &err));
    assert_int_equal(rig.changes, 1);
    assert_false(home_range_change(rig.map, 0, 0x2000, &layout, changed, &rig, 4, &err));
    home_resolve(rig.map, 0x100, &home);
    assert_int_equal(home.controller, 1); /* still the old map */
    /* New requests wait, including the refused one; requests to another range do not. */
    assert_false(ask(&clients[3], 0x100));
    assert_true(mem_waiters_wake(&rig.waiters, 5));
    assert_true(clients[2].link.waiting);
    assert_true(ask(&clients[4], 0x8100));
    assert_int_equal(rig.held, 3);
    /* A refused response keeps the range busy. */
    assert_true(mem_request_respond(&clients[1].request, 6));
    clients[0].refusing = true;
    assert_false(mem_request_respond(&clients[0].request, 7));
    assert_int_equal(rig.changes, 1);
    clients[0].refusing = false;
    assert_true(mem_request_respond(&clients[0].request, 8));
    assert_int_equal(rig.changes, 2);
    assert_int_equal(rig.changed_at, 8);
    /* The waiting clients were woken and sent their requests again, with the new map: hold() compares. */
    assert_int_equal(clients[2].rooms, 2);
    assert_int_equal(clients[3].rooms, 1);
    assert_int_equal(rig.held, 5);
    assert_int_equal(clients[3].request.home.controller, 0);
    home_resolve(rig.map, 0x1000, &home);
    assert_int_equal(home.controller, 1);
    assert_true(mem_request_respond(&clients[2].request, 9));
    assert_true(mem_request_respond(&clients[3].request, 9));
    assert_true(mem_request_respond(&clients[4].request, 9));
    home_map_free(rig.map);
}

/* The middle quarter of a range gets its own layout, which permutes bits below its alignment. */
static void parts_of_ranges_change(void **state)
{
    (void)state;
    struct rig rig = {.map = home_map_new()};
    struct home_layout layout = {.text = "R6 H1 C2 O6", .geometry = {1, 1, 2, 1, 1, 1, 64, 4, 64}};
    struct home_layout other = layout;
    struct error err;
    bool seen[2][64][4] = {0};
    struct client client;
    (void)strcpy(other.text, "R2 H1 R4 C2 O6");
    assert_true(home_range_add(rig.map, 0x10000, 0x8000, &layout, &err));
    client_init(&client, &rig);
    assert_true(ask(&client, 0x17000)); /* outside the part, but in the same range */
    assert_true(home_range_change(rig.map, 0x12000, 0x2000, &other, changed, &rig, 0, &err));
    assert_int_equal(rig.changes, 0);
    assert_true(mem_request_respond(&client.request, 1));
    assert_int_equal(rig.changes, 1);
    assert_false(home_current(&client.request.home));
    for (uint64_t number = 0; number < 0x8000; number += 64) {
        struct home home;
        uint64_t back = 0;
        bool part = number >= 0x2000 && number < 0x4000;
        home_resolve(rig.map, 0x10000 + number, &home);
        const struct home expected =
            part ? model("RRHRRRRCCOOOOOO", &other, number) : model("RRRRRRHCCOOOOOO", &layout, number);
        assert_same(&home, &expected);
        assert_false(seen[home.controller][home.row][home.column]);
        seen[home.controller][home.row][home.column] = true;
        assert_true(home_address(rig.map, &home, &back));
        assert_true(back == 0x10000 + number);
    }
    /* Requests to the three parts are counted separately. */
    assert_true(ask(&client, 0x12000));
    assert_true(home_range_change(rig.map, 0x10000, 0x2000, &layout, changed, &rig, 2, &err));
    assert_true(home_range_change(rig.map, 0x14000, 0x4000, &layout, changed, &rig, 2, &err));
    assert_int_equal(rig.changes, 3);
    assert_true(home_range_change(rig.map, 0x12000, 0x1000, &layout, changed, &rig, 2, &err));
    assert_int_equal(rig.changes, 3);
    assert_true(mem_request_respond(&client.request, 3));
    assert_int_equal(rig.changes, 4);
    assert_false(home_range_change(rig.map, 0x11000, 0x2000, &layout, changed, &rig, 2, &err));
    home_map_free(rig.map);
}

static void page_moves_wait_for_their_pages(void **state)
{
    (void)state;
    struct rig rig = {.map = home_map_new()};
    struct home_layout layout = {.text = "M2 R4 H1 C1 O6", .geometry = {4, 1, 2, 1, 1, 1, 16, 2, 64}};
    struct client clients[3];
    struct error err;
    assert_true(home_range_add(rig.map, 0, 16 * 512, &layout, &err));
    assert_true(home_range_page(rig.map, 0, 512, &err));
    for (unsigned i = 0; i < 3; i++)
        client_init(&clients[i], &rig);
    assert_true(ask(&clients[0], 0x200)); /* page 1 */
    assert_true(ask(&clients[1], 0x400)); /* page 2 */
    /* Page 3 moves to a free frame, which has no page. Page 0 to the frame of page 1, and page 2 to a free
     * frame, wait. */
    assert_true(home_page_move(rig.map, 0x600, 31, changed, &rig, 0, &err));
    assert_int_equal(rig.changes, 1);
    assert_true(home_page_move(rig.map, 0, 1, changed, &rig, 0, &err));
    assert_true(home_page_move(rig.map, 0x400, 20, changed, &rig, 0, &err));
    assert_int_equal(rig.changes, 1);
    /* A reserved frame is not available, nor are pages that move. */
    assert_false(home_page_move(rig.map, 0x800, 20, changed, &rig, 0, &err));
    assert_false(home_page_move(rig.map, 0x800, 1, changed, &rig, 0, &err));
    assert_false(home_page_move(rig.map, 0x200, 9, changed, &rig, 0, &err));
    assert_false(ask(&clients[2], 0x40));
    assert_true(mem_request_respond(&clients[0].request, 1));
    assert_int_equal(rig.changes, 2);
    assert_int_equal(home_page_frame(rig.map, 0), 1);
    assert_int_equal(home_page_frame(rig.map, 0x200), 0);
    assert_int_equal(home_page_frame(rig.map, 0x400), 2);
    assert_int_equal(clients[2].rooms, 1);
    assert_true(mem_request_respond(&clients[1].request, 2));
    assert_int_equal(home_page_frame(rig.map, 0x400), 20);
    assert_true(home_page_move(rig.map, 0x800, 2, changed, &rig, 3, &err)); /* where page 2 was */
    assert_int_equal(rig.changes, 4);
    assert_true(mem_request_respond(&clients[2].request, 4));
    home_map_free(rig.map);
}

/* Returns whether a child process that runs the function fails an assertion. */
static bool aborts(void (*function)(void))
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)!freopen("/dev/null", "w", stderr);
        function();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* A read that arrives at a memory with a correct home, unless `spoil` changes it before. */
static void read_memory(void (*spoil)(struct home_map *map, struct mem_request *request))
{
    struct event_queue *queue = calloc(1, sizeof *queue);
    struct dram_config config;
    struct dram_memory memory;
    struct mem_request request;
    struct error err;
    event_queue_init(queue);
    dram_config_default(&config, DRAM_STANDARD_hbm1);
    struct home_map *map = dram_map_homes(&config, 0);
    if (!part_check(&dram_kind, &config, &err))
        _exit(2);
    dram_memory_init(&memory, &config, queue, 1, map);
    dram_memory_serve(&memory, 0, 0);
    struct mem_link link = {.port_ops = &dram_memory_ops, .port = &memory};
    mem_request_init(&request, MEM_READ, 0x1000, 64);
    home_resolve(map, 0x1000, &request.home);
    spoil(map, &request);
    (void)mem_link_request(&link, &request, 0);
}

static void leave(struct home_map *map, struct mem_request *request)
{
    (void)map, (void)request;
}

static void forget(struct home_map *map, struct mem_request *request)
{
    (void)map;
    request->home.generation = 0;
}

static void change(struct home_map *map, struct mem_request *request)
{
    struct dram_config config;
    struct error err;
    (void)request;
    dram_config_default(&config, DRAM_STANDARD_hbm1);
    const struct home_layout layout = dram_map_layout(&config);
    if (!home_range_change(map, 0, dram_config_bytes(&config), &layout, NULL, NULL, 0, &err))
        _exit(2);
}

static void misroute(struct home_map *map, struct mem_request *request)
{
    (void)map;
    request->home.stack = 1;
}

static void read_well(void)
{
    read_memory(leave);
}

static void read_homeless(void)
{
    read_memory(forget);
}

static void read_late(void)
{
    read_memory(change);
}

static void read_elsewhere(void)
{
    read_memory(misroute);
}

static void memory_asserts_what_arrives(void **state)
{
    (void)state;
    assert_false(aborts(read_well));
    assert_true(aborts(read_homeless));
    assert_true(aborts(read_late));
    assert_true(aborts(read_elsewhere));
}

/* No line may lie in two stacks: of each text, the homes of all lines' first and last bytes say so. */
static void stacks_stand_above_a_line(void **state)
{
    static const struct {
        const char *from, *raised;
        uint32_t stacks, bytes;
        bool hash;
    } cases[] = {
        {"R4 B2 C5 S2 O5", "R4 B2 C2 S2 C3 O5", 4, 256, false},
        {"R4 B2 C5 S2 O5", "R4 B2 C5 S2 O5", 4, 32, false},
        {"R4 S2 C3 B2 C2 O5", "R4 S2 C3 B2 C2 O5", 4, 128, false},
        {"R4 B2 C5 %S O5", "R4 B2 C3 %S C2 O5", 3, 128, false},
        {"C5 B2 R4 S2 O5", "C1 S2 C4 B2 R4 O5", 4, 32768, false},
        {"S2 R4 B2 C5 O5", "S2 R4 B2 C5 O5", 4, 65536, false},
        {"B2 C5 S2 R4 O5", "B2 C5 S2 R4 O5", 4, 256, false},
        {"B2 C5 S2 R4 O5", "B2 C2 S2 R4 C3 O5", 4, 256, true},
        {"R4 B2 C5 S2 O5", "R4 B2 C2 S2 C3 O5", 4, 256, true},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct home_layout layout = {.geometry = {1, cases[i].stacks, 1, 1, 1, 4, 16, 32, 32},
                                     .stack_hash = cases[i].hash};
        struct home_map *map = home_map_new();
        struct error err = {""};
        assert_true(home_text_raise(cases[i].from, cases[i].bytes, cases[i].hash, layout.text, &err));
        assert_string_equal(layout.text, cases[i].raised);
        assert_true(home_text_span(layout.text, cases[i].hash) >= cases[i].bytes);
        if (strcmp(cases[i].from, cases[i].raised) != 0)
            assert_true(home_text_span(cases[i].from, cases[i].hash) < cases[i].bytes);
        const uint64_t size = (uint64_t)cases[i].stacks * 4 * 16 * 32 * 32;
        assert_true(home_range_add(map, 0, size, &layout, &err));
        for (uint64_t line = 0; line < size; line += cases[i].bytes) {
            struct home first, last;
            home_resolve(map, line, &first);
            home_resolve(map, line + cases[i].bytes - 32, &last);
            assert_int_equal(first.stack, last.stack);
        }
        home_map_free(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_follow_counts),
        cmocka_unit_test(bit_strings_are_the_model),
        cmocka_unit_test(interleaving_by_hand),
        cmocka_unit_test(ranges_have_maps_of_their_own),
        cmocka_unit_test(hostile_ranges),
        cmocka_unit_test(pages_are_placed_one_by_one),
        cmocka_unit_test(held_maps_write_nothing),
        cmocka_unit_test(changes_wait_for_quiet),
        cmocka_unit_test(parts_of_ranges_change),
        cmocka_unit_test(page_moves_wait_for_their_pages),
        cmocka_unit_test(memory_asserts_what_arrives),
        cmocka_unit_test(stacks_stand_above_a_line),
    };
    return cmocka_run_group_tests_name("homes of addresses", tests, NULL, NULL);
}
