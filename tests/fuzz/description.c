/* Fuzzes machine descriptions: any file and --set list gives a machine whose ports are joined soundly, that can be
 * shown, drawn and planned, or one line of message that says where. The input is the file, then the options, each
 * behind a form feed. Run in the repository's root. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/dram/config.h"
#include "emu/machine/builder.h"
#include "emu/machine/describe/graph.h"
#include "emu/sim/text/text.h"

enum { SETS = 16, MEMORIES_MOST = 64, DIGITS_MOST = 3 };

static void check(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "description: %s\n", what);
    abort();
}

/* Whether no number is so long that a count makes thousands of parts: large machines are for test_bounds. */
static bool is_small(const char *text)
{
    for (size_t digits; *text; text += digits ? digits : 1) {
        digits = strspn(text, "0123456789");
        if (digits > DIGITS_MOST)
            return false;
    }
    return true;
}

/* The message begins with file and line of a setting, --set, or the origin of a value that no setting gives. */
static void check_message(const char *path, const char *message)
{
    bool known = strncmp(message, path, strlen(path)) == 0 || strstr(message, ".yaml");
    static const char *const origins[] = {"--set", "default", "the number of cores: harts"};
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++)
        known = known || strncmp(message, origins[i], strlen(origins[i])) == 0;
    check(known, message);
    check(text_printable(message), "the message is more than one line of printable characters");
}

/* The ends of wires at ports, sorted by part, port and slot. */
struct end {
    const struct instance *part;
    unsigned port, slot;
};

static int by_slot(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->part != y->part)
        return (x->part->number > y->part->number) - (x->part->number < y->part->number);
    if (x->port != y->port)
        return (x->port > y->port) - (x->port < y->port);
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* The slots of each port are numbered from 0, and a port that takes one partner has one. */
static void check_ends(struct end *ends, size_t count)
{
    qsort(ends, count, sizeof *ends, by_slot);
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && ends[i].part == ends[i - 1].part && ends[i].port == ends[i - 1].port;
        check(ends[i].slot == (same ? ends[i - 1].slot + 1 : 0),
              "the slots of a port have gaps or are used twice");
        check(!same || ends[i].part->kind->ports[ends[i].port].many, "a port has several partners");
    }
}

static void check_wires(const struct machine_config *config)
{
    struct wiring wiring;
    struct error err = {.text = ""};
    check(wiring_plan(&wiring, config->tree, machine_kinds, &err), err.text);
    struct end *ends = calloc(2 * wiring.count + 1, sizeof *ends);
    check(ends, "out of memory");
    for (size_t i = 0; i < wiring.count; i++) {
        const struct wire *wire = &wiring.wires[i];
        const struct part_port *client = &wire->client->kind->ports[wire->client_port],
                               *server = &wire->server->kind->ports[wire->server_port];
        check(!wire->client->absent && !wire->server->absent, "an absent part is joined");
        check(client->direction == PART_ASKS && server->direction == PART_SERVES, "a wire's direction");
        check(strcmp(client->type, server->type) == 0, "a wire's type");
        ends[2 * i] = (struct end){wire->client, wire->client_port, wire->client_slot};
        ends[2 * i + 1] = (struct end){wire->server, wire->server_port, wire->server_slot};
    }
    check_ends(ends, 2 * wiring.count);
    free(ends);
    wiring_free(&wiring);
}

static void plan(const struct machine_config *config)
{
    struct builder builder;
    struct error err = {.text = ""};
    unsigned memories = 0;
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i))
        memories += i->kind == &dram_kind;
    if (memories > MEMORIES_MOST)
        return;
    check(builder_plan(&builder, config, &err) || *err.text, "no plan, and no word why");
    builder_free(&builder);
}

static void check_machine(const struct machine_config *config)
{
    char *text;
    size_t size;
    struct error err = {.text = ""};
    FILE *out = open_memstream(&text, &size);
    check(out, "out of memory");
    machine_show(config, out);
    check(graph_text(config, out, &err) && graph_dot(config, out, &err), err.text);
    (void)fclose(out);
    free(text);
    if (!machine_timed(config))
        return;
    check_wires(config);
    plan(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], *text = malloc(size + 1), *sets[SETS];
    struct machine_config config;
    struct error err = {.text = ""};
    size_t count = 0;
    check(text, "out of memory");
    memcpy(text, data, size);
    text[size] = '\0';
    size_t length = strcspn(text, "\f");
    if (is_small(text)) {
        for (char *at = text + length; *at == '\f' && count < SETS; at += strcspn(at, "\f")) {
            *at++ = '\0';
            sets[count++] = at;
        }
        int file = memfd_create("machine", MFD_CLOEXEC);
        check(file >= 0 && write(file, text, length) == (ssize_t)length, "no file");
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        if (machine_load(&config, path, "emu/machine/shipped", (const char *const *)sets, count, &err)) {
            check_machine(&config);
            machine_free(&config);
        } else {
            check_message(path, err.text);
        }
        (void)close(file);
    }
    free(text);
    return 0;
}
