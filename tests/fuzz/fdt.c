/* Fuzzes the device tree and the board: any description that is accepted gives a sound tree, and devices or a
 * message. Run in the repository's root. */
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/board/board.h"
#include "emu/machine/board/fdt.h"
#include "emu/machine/machine.h"

enum { SETS = 16, RECORD = 7, SET_ROOM = 320 };

static void check(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "fdt: %s\n", what);
    abort();
}

/* The part, and the index of its field, of the given number among all fields of all parts; NULL: there are fewer. */
static const struct instance *find_field(const struct tree *tree, size_t *number)
{
    const struct instance *part = tree_next(tree, NULL);
    for (; part && *number >= part->kind->field_count; part = tree_next(tree, part))
        *number -= part->kind->field_count;
    return part;
}

/* PART=default or PART=none for a device. */
static void make_presence(char *set, uint32_t value)
{
    static const char *const devices[] = {"rom", "finisher", "rtc", "clint", "plic", "uart"};
    (void)snprintf(set, SET_ROOM, "devices.%s=%s", devices[value / 2 % 6], value & 1 ? "default" : "none");
}

/* NAME=VALUE for a field, of the type that it takes. Values near its limits and round ones are likely. */
static void make_set(const struct tree *tree, char *set, const uint8_t bytes[RECORD])
{
    size_t number = bytes[0] | (size_t)(bytes[6] & 3) << 8;
    const struct instance *part = find_field(tree, &number);
    uint32_t value;
    char text[QUANTITY_TEXT] = "";
    memcpy(&value, bytes + 2, sizeof value);
    if (!part || bytes[6] & 4) {
        make_presence(set, value);
        return;
    }
    const struct part_field *field = &part->kind->fields[number];
    if (field->type < FIELD_BOOL)
        quantity_format((enum quantity)field->type, (uint64_t)value << bytes[1] % 40, text);
    const char *chosen = text;
    if (bytes[1] >= 0xe0)
        chosen = bytes[1] & 1 ? field->min : field->max;
    else if (field->type == FIELD_BOOL)
        chosen = value & 1 ? "true" : "false";
    else if (field->type == FIELD_CHOICE)
        chosen = field->choices[0];
    (void)snprintf(set, SET_ROOM, "%s%s%s=%s", part->path, *part->path ? "." : "", field->name, chosen);
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
    const struct phys memory = {.base = config->memory->base, .size = config->memory->size};
    struct board_host host = {.ticks = ticks, .interrupt = interrupt, .context = config};
    struct error err = {.text = ""};
    struct bus bus;
    bus_init(&bus, &memory);
    struct board *board = board_new(config, &bus, &host, NULL, &err);
    check(board || *err.text, "no board, and no word why");
    board_free(board);
    bus_free(&bus);
}

static void make_tree(const struct machine_config *config, const char *bootargs)
{
    struct error err = {.text = ""};
    size_t size = 0;
    void *fdt = machine_fdt(config, NULL, bootargs, &size, &err);
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
    struct machine_config config;
    struct error err = {.text = ""};
    check(machine_load(&config, "virt", "emu/machine/shipped", NULL, 0, &err), err.text);
    for (; size >= RECORD && count < SETS; data += RECORD, size -= RECORD) {
        make_set(config.tree, texts[count], data);
        sets[count] = texts[count];
        count++;
    }
    machine_free(&config);
    memcpy(bootargs, data, size < sizeof bootargs ? size : sizeof bootargs - 1);
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
