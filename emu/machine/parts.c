#include "emu/machine/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "emu/dram/standard.h"
#include "emu/machine/key.h"
#include "emu/machine/system.h"

/* A field of a part's configuration, described by the key of the same name in the part's section. */
struct field {
    const char *name;
    size_t offset, size;
};

/* The tables of fields are made of the rows that make the keys, in their order. */
#define SECTION(tag, name, explanation)
#define SECTION_END(name)
#define EXPANDED_SECTION(...)
#define CHOICES(tag, list)
#define KEY(section, field, ...)
#define CHOICE_KEY(section, field, ...)               FIELD(field)
#define EXPANDED_AUTO_CHOICE_KEY(section, field, ...) FIELD(field)
#define EXPANDED_AUTO_KEY(section, field, ...)        FIELD(field)
#define ENTRY(type, field)                            {#field, offsetof(struct type, field), sizeof((struct type *)0)->field},

#define FIELD(field) ENTRY(cache_config, field)
static const struct field l1_fields[] = {
#include "emu/machine/keys/l1.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(tlb_config, field)
static const struct field tlb_fields[] = {
#include "emu/machine/keys/tlb.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(predict_config, field)
static const struct field predict_fields[] = {
#include "emu/machine/keys/predict.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(hub_config, field)
static const struct field l2_fields[] = {
#include "emu/machine/keys/l2.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(crossbar_config, field)
static const struct field crossbar_fields[] = {
#include "emu/machine/keys/crossbar.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(dram_config, field)
static const struct field dram_fields[] = {
#include "emu/machine/keys/dram.def"
    {0}};
#undef FIELD
#undef EXPANDED_AUTO_KEY

/* The cores' own keys, each of one kind of core or of both. */
#define EXPANDED_AUTO_KEY(section, field, kind, min, max, step, use, explanation) FIELD_##use(field)
#define FIELD_INORDER(field)
#define FIELD_OOO(field)   ENTRY(ooo_config, field)
#define FIELD_TIMED(field) ENTRY(ooo_config, field)
static const struct field ooo_fields[] = {
#include "emu/machine/keys/core_fields.def"
    {0}};
#undef FIELD_INORDER
#undef FIELD_OOO
#undef FIELD_TIMED
#define FIELD_INORDER(field) ENTRY(inorder_config, field)
#define FIELD_OOO(field)
#define FIELD_TIMED(field) ENTRY(inorder_config, field)
static const struct field inorder_fields[] = {
#include "emu/machine/keys/core_fields.def"
    {0}};

#define LATENCY(name, ...)                                                                                   \
    {#name, offsetof(struct core_latencies, of[CORE_WORK_##name].latency), sizeof(uint16_t)},
static const struct field latency_fields[] = {
#include "emu/core/latency.def"
    {0}};
#define LATENCY(name, ...)                                                                                   \
    {#name, offsetof(struct core_latencies, of[CORE_WORK_##name].interval), sizeof(uint16_t)},
static const struct field interval_fields[] = {
#include "emu/core/latency.def"
    {0}};
#define LATENCY(name, ...)                                                                                   \
    {#name, offsetof(struct core_latencies, of[CORE_WORK_##name].ports), sizeof(uint16_t)},
static const struct field port_fields[] = {
#include "emu/core/latency.def"
    {0}};

/* The index of the key `section.name`, which is at or behind key `from`. */
static int key_of(const char *section, const char *name, int from)
{
    size_t length = strlen(section);
    for (int i = from; i < MACHINE_KEYS; i++) {
        const char *key = machine_keys[i].name;
        if (strncmp(key, section, length) == 0 && key[length] == '.' && strcmp(key + length + 1, name) == 0)
            return i;
    }
    assert(!"the key of a part's field");
    return -1;
}

static uint64_t field_read(const struct field *field, const void *part)
{
    const void *at = (const char *)part + field->offset;
    switch (field->size) {
    case 1: return *(const bool *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static void field_write(const struct field *field, void *part, uint64_t value)
{
    void *at = (char *)part + field->offset;
    uint32_t word = (uint32_t)value;
    switch (field->size) {
    case 1: *(bool *)at = value != 0; break;
    case 2: *(uint16_t *)at = (uint16_t)value; break;
    case 4: memcpy(at, &word, sizeof word); break; /* an enumeration too */
    default: *(uint64_t *)at = value;
    }
}

/* Fills the fields of a part from the keys of its section. */
static void fill(const struct machine_config *config, const char *section, const struct field *fields,
                 void *part)
{
    for (int key = key_section(section) - 1; fields->name; fields++) {
        key = key_of(section, fields->name, key + 1);
        if (machine_keys[key].kind == KEY_TEXT)
            (void)snprintf((char *)part + fields->offset, fields->size, "%s",
                           (const char *)config + machine_keys[key].offset);
        else
            field_write(fields, part, key_number(&machine_keys[key], config));
    }
}

/* Gives the automatic keys of a section their values from the part's fields. */
static void draw(struct machine_config *config, const char *section, const struct field *fields,
                 const void *part)
{
    for (int key = key_section(section) - 1; fields->name; fields++) {
        key = key_of(section, fields->name, key + 1);
        if (!config->sources[key].automatic)
            continue;
        if (machine_keys[key].kind == KEY_TEXT)
            (void)snprintf((char *)config + machine_keys[key].offset, MACHINE_TEXT, "%s",
                           (const char *)part + fields->offset);
        else
            key_put_number(&machine_keys[key], config, field_read(fields, part));
    }
}

/* "host.l1d" */
struct name {
    char text[32];
};

static struct name within(const char *section, const char *part)
{
    struct name name;
    (void)snprintf(name.text, sizeof name.text, "%s.%s", section, part);
    return name;
}

static void resolve_core(struct machine_config *config, const char *section, bool ooo)
{
    struct cache_config l1;
    struct tlb_config tlb;
    struct inorder_config inorder_config;
    struct ooo_config ooo_config;
    inorder_config_default(&inorder_config);
    ooo_config_default(&ooo_config);
    cache_config_default(&l1);
    tlb_config_default(&tlb);
    const struct core_latencies *latency = ooo ? &ooo_config.latency : &inorder_config.latency;
    /* Of keys that both kinds have, the machine's kind decides: it comes last. */
    draw(config, section, ooo ? inorder_fields : ooo_fields,
         ooo ? (void *)&inorder_config : (void *)&ooo_config);
    draw(config, section, ooo ? ooo_fields : inorder_fields,
         ooo ? (void *)&ooo_config : (void *)&inorder_config);
    draw(config, within(section, "predict").text, predict_fields,
         ooo ? &ooo_config.predict : &inorder_config.predict);
    draw(config, within(section, "latency").text, latency_fields, latency);
    draw(config, within(section, "interval").text, interval_fields, latency);
    draw(config, within(section, "ports").text, port_fields, latency);
    draw(config, within(section, "l1i").text, l1_fields, &l1);
    draw(config, within(section, "l1d").text, l1_fields, &l1);
    draw(config, within(section, "tlb").text, tlb_fields, &tlb);
}

static bool is_ooo(const struct machine_config *config, const char *section)
{
    return strcmp(section, "host") == 0 ? config->host.core != MACHINE_CORE_INORDER
                                        : config->accel.core == MACHINE_ACCEL_CORE_OOO;
}

unsigned parts_cores(const struct machine_config *config)
{
    return (unsigned)(config->host.count + config->accel.count);
}

void parts_resolve(struct machine_config *config)
{
    struct hub_config hub;
    struct crossbar_config crossbar;
    struct dram_config dram;
    resolve_core(config, "host", is_ooo(config, "host"));
    resolve_core(config, "accel", is_ooo(config, "accel"));
    hub_config_default(&hub);
    draw(config, "l2", l2_fields, &hub);
    crossbar_config_default(&crossbar);
    draw(config, "crossbar", crossbar_fields, &crossbar);
    dram_config_default(&dram, (enum dram_standard)config->dram.standard);
    draw(config, "dram", dram_fields, &dram);
    if (config->sources[key_find("harts")].automatic)
        config->harts = machine_timed(config) ? parts_cores(config) : 1;
}

void parts_core(const struct machine_config *config, const char *section, struct parts_core *core)
{
    bool host = strcmp(section, "host") == 0;
    core->ooo = is_ooo(config, section);
    core->frequency = host ? config->host.clock : config->accel.clock;
    inorder_config_default(&core->inorder_config);
    ooo_config_default(&core->ooo_config);
    cache_config_default(&core->l1i);
    fill(config, section, inorder_fields, &core->inorder_config);
    fill(config, section, ooo_fields, &core->ooo_config);
    fill(config, within(section, "predict").text, predict_fields, &core->ooo_config.predict);
    fill(config, within(section, "latency").text, latency_fields, &core->ooo_config.latency);
    fill(config, within(section, "interval").text, interval_fields, &core->ooo_config.latency);
    fill(config, within(section, "ports").text, port_fields, &core->ooo_config.latency);
    core->inorder_config.predict = core->ooo_config.predict;
    core->inorder_config.latency = core->ooo_config.latency;
    core->l1d = core->l1i;
    fill(config, within(section, "l1i").text, l1_fields, &core->l1i);
    fill(config, within(section, "l1d").text, l1_fields, &core->l1d);
    core->l1i.coherent = core->l1d.coherent = host;
    fill(config, within(section, "tlb").text, tlb_fields, &core->tlb);
}

void parts_hub(const struct machine_config *config, struct hub_config *hub)
{
    hub_config_default(hub);
    fill(config, "l2", l2_fields, hub);
}

void parts_crossbar(const struct machine_config *config, struct crossbar_config *crossbar)
{
    crossbar_config_default(crossbar);
    fill(config, "crossbar", crossbar_fields, crossbar);
    crossbar->inputs = (uint32_t)(1 + config->accel.count);
    crossbar->outputs = (uint32_t)config->dram.channels;
}

void parts_dram(const struct machine_config *config, struct dram_config *dram)
{
    dram_config_default(dram, (enum dram_standard)config->dram.standard);
    fill(config, "dram", dram_fields, dram);
}

/* "FILE:LINE: name: " in front of the message. */
static bool at_key(const struct machine_config *config, const char *name, struct error *err)
{
    char source[MACHINE_SOURCE];
    machine_source(config, name, source);
    (void)error_prefix(err, "%s", name);
    return error_prefix(err, "%s", source);
}

/* The message of a part begins with its field's name, which becomes the key's; a message about several fields
 * gets the section's name. */
static bool at_field(const struct machine_config *config, const char *section, struct error *err)
{
    char name[128];
    struct error message = *err;
    size_t length = strcspn(message.text, ":");
    (void)snprintf(name, sizeof name, "%s.%.*s", section, length < 90 ? (int)length : 90, message.text);
    if (message.text[length] != ':' || key_find(name) < 0)
        return error_prefix(err, "%s", section);
    (void)error_set(err, "%s", message.text + length + strspn(message.text + length, ": "));
    return at_key(config, name, err);
}

static bool check_core(const struct machine_config *config, const char *section, struct error *err)
{
    struct parts_core core;
    parts_core(config, section, &core);
    bool fine =
        core.ooo ? ooo_config_check(&core.ooo_config, err) : inorder_config_check(&core.inorder_config, err);
    if (!fine)
        return at_field(config, section, err);
    if (!cache_config_check(&core.l1i, err))
        return at_field(config, within(section, "l1i").text, err);
    if (!cache_config_check(&core.l1d, err))
        return at_field(config, within(section, "l1d").text, err);
    if (!tlb_config_check(&core.tlb, err))
        return at_field(config, within(section, "tlb").text, err);
    return true;
}

/* All caches have lines of one size, which the memory's queues must be able to hold. */
static bool check_lines(const struct machine_config *config, struct error *err)
{
    const struct {
        const char *name;
        uint64_t size;
    } lines[] = {
        {"host.l1i.line", config->host.l1i.line},
        {"host.l1d.line", config->host.l1d.line},
        {"accel.l1i.line", config->accel.l1i.line},
        {"accel.l1d.line", config->accel.l1d.line},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].size == config->l2.line)
            continue;
        (void)error_set(err, "%" PRIu64 " B is not allowed; allowed: l2.line, which is %" PRIu64 " B",
                        lines[i].size, config->l2.line);
        return at_key(config, lines[i].name, err);
    }
    uint64_t queue = config->dram.read_queue < config->dram.write_queue ? config->dram.read_queue
                                                                        : config->dram.write_queue;
    if (config->l2.line <= queue * config->dram.burst_bytes)
        return true;
    (void)error_set(err,
                    "%" PRIu64
                    " B is not allowed; allowed: what the smaller of dram.read_queue and dram.write_queue "
                    "holds, %" PRIu64 " bursts of %" PRIu64 " B",
                    config->l2.line, queue, config->dram.burst_bytes);
    return at_key(config, "l2.line", err);
}

static bool check_memory(const struct machine_config *config, struct error *err)
{
    struct dram_config dram;
    char size[UNIT_TEXT], room[UNIT_TEXT];
    parts_dram(config, &dram);
    if (!dram_config_check(&dram, err))
        return at_field(config, "dram", err);
    if (config->memory.size <= dram_config_bytes(&dram))
        return true;
    unit_format(UNIT_SIZE, config->memory.size, size);
    unit_format(UNIT_SIZE, dram_config_bytes(&dram), room);
    (void)error_set(
        err,
        "%s is not allowed; allowed: what dram.channels, ranks, groups, banks, rows and row_bytes hold, %s",
        size, room);
    return at_key(config, "memory.size", err);
}

static bool check_cores(const struct machine_config *config, struct error *err)
{
    unsigned cores = parts_cores(config);
    if (cores > SYSTEM_HARTS) {
        (void)error_set(err,
                        "%" PRIu64 " with host.count %" PRIu64 " is not allowed; allowed: %d cores in all",
                        config->accel.count, config->host.count, SYSTEM_HARTS);
        return at_key(config, "accel.count", err);
    }
    if (config->accel.count && !config->crossbar.present) {
        (void)error_set(err,
                        "%" PRIu64
                        " is not allowed; allowed: 0, or more with crossbar.present, by which they "
                        "reach memory",
                        config->accel.count);
        return at_key(config, "accel.count", err);
    }
    if (config->harts == cores)
        return true;
    (void)error_set(err,
                    "%" PRIu64
                    " is not allowed on a machine with timing cores; allowed: auto, or host.count and "
                    "accel.count together, %u",
                    config->harts, cores);
    return at_key(config, "harts", err);
}

bool parts_check(const struct machine_config *config, struct error *err)
{
    struct hub_config hub;
    struct crossbar_config crossbar;
    parts_hub(config, &hub);
    parts_crossbar(config, &crossbar);
    if (!check_core(config, "host", err) || !check_core(config, "accel", err))
        return false;
    if (!hub_config_check(&hub, err))
        return at_field(config, "l2", err);
    if (!crossbar_config_check(&crossbar, err))
        return at_field(config, "crossbar", err);
    return check_memory(config, err) && check_lines(config, err) && check_cores(config, err);
}

/* The source of a standard's value, or where it is no fact of the standard's. */
static void note_dram(const struct machine_config *config, const char *field, char *buffer, size_t size)
{
    enum dram_standard standard = (enum dram_standard)config->dram.standard;
    const char *source = dram_standard_source(standard, field);
    (void)snprintf(buffer, size, "%s%s%s", dram_standard_name(standard), source ? ": " : "",
                   source ? source : "");
}

void parts_note(const struct machine_config *config, int key, char *buffer, size_t size)
{
    const char *name = machine_keys[key].name, *last = strrchr(name, '.');
    bool host = strncmp(name, "host.", 5) == 0;
    if (strncmp(name, "dram.", 5) == 0) {
        note_dram(config, last + 1, buffer, size);
        return;
    }
    for (int work = 0; last && work < CORE_WORKS; work++) {
        bool timing = strstr(name, ".latency.") || strstr(name, ".interval.");
        if (timing && strcmp(core_work_name((enum core_work)work), last + 1) == 0) {
            (void)snprintf(buffer, size, "%s", core_work_source((enum core_work)work));
            return;
        }
    }
    if (machine_keys[key].use == USE_OOO || machine_keys[key].use == USE_INORDER || strstr(name, ".predict."))
        (void)snprintf(buffer, size, "like Cortex-%s",
                       machine_keys[key].use == USE_OOO ||
                               (machine_keys[key].use == USE_TIMED && is_ooo(config, host ? "host" : "accel"))
                           ? "A57"
                           : "A53");
    else
        (void)snprintf(buffer, size, "%s", strcmp(name, "harts") == 0 ? "the number of cores" : "default");
}
