/* Fuzzes the device tree and the board: any description that is accepted gives a sound tree, and devices or a
 * message. Run in the repository's root. */
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/board.h"
#include "emu/machine/fdt.h"
#include "emu/machine/key.h"

enum { SETS = 16, RECORD = 7, SET_ROOM = 320 };

static void check(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "fdt: %s\n", what);
    abort();
}

/* NAME=VALUE for a key of the table, of the kind that it takes. Values near its limits and round ones are
 * likely. */
static void make_set(char *set, const uint8_t bytes[RECORD])
{
    const struct key *key = &machine_keys[bytes[0] % MACHINE_KEYS];
    uint32_t value;
    char text[UNIT_TEXT] = "";
    memcpy(&value, bytes + 2, sizeof value);
    if (key->kind < (enum key_kind)UNIT_KINDS)
        unit_format((enum unit_kind)key->kind, (uint64_t)value << bytes[1] % 40, text);
    const char *chosen = text;
    if (bytes[1] >= 0xe0)
        chosen = bytes[1] & 1 ? key->min : key->max;
    else if (key->kind == KEY_BOOL)
        chosen = value & 1 ? "true" : "false";
    else if (key->kind == KEY_CHOICE)
        chosen = key->choices[0];
    (void)snprintf(set, SET_ROOM, "%s=%s", key->name, chosen);
}

static uint64_t ticks(void *context)
{
    (void)context;
    return 0;
}

static void interrupt(void *context, unsigned hart, unsigned number, bool level)
{
    const struct machine_config *config = context;
    (void)level;
    check(hart < config->harts && number < 16, "an interrupt for no hart");
}

static void make_board(struct machine_config *config)
{
    const struct phys memory = {.base = config->memory.base, .size = config->memory.size};
    struct board_host host = {.ticks = ticks, .interrupt = interrupt, .context = config};
    struct error err = {.text = ""};
    struct bus bus;
    bus_init(&bus, &memory);
    struct board *board = board_create(config, &bus, &host, NULL, &err);
    check(board || *err.text, "no board, and no word why");
    board_free(board);
}

static void make_tree(const struct machine_config *config, const char *bootargs)
{
    struct error err = {.text = ""};
    size_t size = 0;
    void *fdt = machine_fdt(config, bootargs, &size, &err);
    check(fdt, err.text);
    check(fdt_check_full(fdt, size) == 0, "the tree is not sound");
    free(fdt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char texts[SETS][SET_ROOM], bootargs[256] = "";
    const char *sets[SETS];
    size_t count = 0;
    for (; size >= RECORD && count < SETS; data += RECORD, size -= RECORD) {
        make_set(texts[count], data);
        sets[count] = texts[count];
        count++;
    }
    memcpy(bootargs, data, size < sizeof bootargs ? size : sizeof bootargs - 1);
    struct machine_config config;
    struct error err = {.text = ""};
    if (!machine_load(&config, "virt", "emu/machine/shipped", sets, count, &err)) {
        check(strncmp(err.text, "--set", 5) == 0 || strstr(err.text, ".yaml:") || strstr(err.text, "default"),
              err.text);
        return 0;
    }
    make_tree(&config, size ? bootargs : NULL);
    make_board(&config);
    machine_free(&config);
    return 0;
}
