#include "emu/machine/parts.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/key.h"
#include "emu/machine/parts_field.h"
#include "emu/machine/parts_simt.h"

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
const struct parts_field parts_l1_fields[] = {
#include "emu/machine/keys/l1.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(tlb_config, field)
static const struct parts_field tlb_fields[] = {
#include "emu/machine/keys/tlb.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(predict_config, field)
static const struct parts_field predict_fields[] = {
#include "emu/machine/keys/predict.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(llc_config, field)
const struct parts_field parts_llc_fields[] = {
#include "emu/machine/keys/l2.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(crossbar_config, field)
const struct parts_field parts_crossbar_fields[] = {
#include "emu/machine/keys/crossbar.def"
    {0}};
#undef FIELD

#define FIELD(field) ENTRY(dram_config, field)
static const struct parts_field dram_fields[] = {
#include "emu/machine/keys/dram.def"
    {0}};
#undef FIELD
#undef EXPANDED_AUTO_KEY

/* The cores' own keys, each of one kind of core or of both. */
#define EXPANDED_AUTO_KEY(section, field, kind, min, max, step, use, explanation) FIELD_##use(field)
#define FIELD_INORDER(field)
#define FIELD_OOO(field)   ENTRY(ooo_config, field)
#define FIELD_TIMED(field) ENTRY(ooo_config, field)
static const struct parts_field ooo_fields[] = {
#include "emu/machine/keys/core_fields.def"
    {0}};
#undef FIELD_INORDER
#undef FIELD_OOO
#undef FIELD_TIMED
#define FIELD_INORDER(field) ENTRY(inorder_config, field)
#define FIELD_OOO(field)
#define FIELD_TIMED(field) ENTRY(inorder_config, field)
static const struct parts_field inorder_fields[] = {
#include "emu/machine/keys/core_fields.def"
    {0}};

#define LATENCY(name, ...)                                                                                   \
    {#name, offsetof(struct core_latencies, of[CORE_WORK_##name].latency), sizeof(uint16_t)},
static const struct parts_field latency_fields[] = {
#include "emu/core/latency.def"
    {0}};
#define LATENCY(name, ...)                                                                                   \
    {#name, offsetof(struct core_latencies, of[CORE_WORK_##name].interval), sizeof(uint16_t)},
static const struct parts_field interval_fields[] = {
#include "emu/core/latency.def"
    {0}};
#define LATENCY(name, ...)                                                                                   \
    {#name, offsetof(struct core_latencies, of[CORE_WORK_##name].ports), sizeof(uint16_t)},
static const struct parts_field port_fields[] = {
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
    abort(); /* keys and fields are made of the same rows */
}

static uint64_t field_read(const struct parts_field *field, const void *part)
{
    const void *at = (const char *)part + field->offset;
    switch (field->size) {
    case 1: return *(const bool *)at;
    case 2: return *(const uint16_t *)at;
    case 4: return *(const uint32_t *)at;
    default: return *(const uint64_t *)at;
    }
}

static void field_write(const struct parts_field *field, void *part, uint64_t value)
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

void parts_fill(const struct machine_config *config, const char *section, const struct parts_field *fields,
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

void parts_draw(struct machine_config *config, const char *section, const struct parts_field *fields,
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

/* Windows that must not exceed the reorder buffer shrink with it, so that a sweep of its size needs one key.
 */
static void fit_to_rob(const struct machine_config *config, const char *section, struct ooo_config *core)
{
    int key = key_find(within(section, "rob").text);
    if (config->sources[key].automatic)
        return;
    core->rob = (uint32_t)key_number(&machine_keys[key], config);
    core->fetch_queue = core->fetch_queue < core->rob ? core->fetch_queue : core->rob;
    core->iq = core->iq < core->rob ? core->iq : core->rob;
}

/* First-level TLBs stay fully associative, and no level has more ways than entries. */
static void fit_to_entries(const struct machine_config *config, const char *section, struct tlb_config *tlb)
{
    int l1 = key_find(within(section, "tlb.l1_entries").text);
    int l2 = key_find(within(section, "tlb.l2_entries").text);
    uint32_t entries = (uint32_t)key_number(&machine_keys[l2], config);
    if (!config->sources[l1].automatic)
        tlb->l1_ways = (uint32_t)key_number(&machine_keys[l1], config);
    if (!config->sources[l2].automatic && entries && entries < tlb->l2_ways)
        tlb->l2_ways = entries;
}

static void resolve_core(struct machine_config *config, const char *section, bool ooo)
{
    struct cache_config l1;
    struct tlb_config tlb;
    struct inorder_config inorder_config;
    struct ooo_config ooo_config;
    inorder_config_default(&inorder_config);
    ooo_config_default(&ooo_config);
    fit_to_rob(config, section, &ooo_config);
    cache_config_default(&l1);
    tlb_config_default(&tlb);
    fit_to_entries(config, section, &tlb);
    const struct core_latencies *latency = ooo ? &ooo_config.latency : &inorder_config.latency;
    /* Of keys that both kinds have, the machine's kind decides: it comes last. */
    parts_draw(config, section, ooo ? inorder_fields : ooo_fields,
               ooo ? (void *)&inorder_config : (void *)&ooo_config);
    parts_draw(config, section, ooo ? ooo_fields : inorder_fields,
               ooo ? (void *)&ooo_config : (void *)&inorder_config);
    parts_draw(config, within(section, "predict").text, predict_fields,
               ooo ? &ooo_config.predict : &inorder_config.predict);
    parts_draw(config, within(section, "latency").text, latency_fields, latency);
    parts_draw(config, within(section, "interval").text, interval_fields, latency);
    parts_draw(config, within(section, "ports").text, port_fields, latency);
    parts_draw(config, within(section, "l1i").text, parts_l1_fields, &l1);
    parts_draw(config, within(section, "l1d").text, parts_l1_fields, &l1);
    parts_draw(config, within(section, "tlb").text, tlb_fields, &tlb);
}

bool parts_are_ooo(const struct machine_config *config, const char *section)
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
    struct llc_config llc;
    struct crossbar_config crossbar;
    struct dram_config dram;
    resolve_core(config, "host", parts_are_ooo(config, "host"));
    resolve_core(config, "accel", parts_are_ooo(config, "accel"));
    llc_config_default(&llc);
    parts_draw(config, "l2", parts_llc_fields, &llc);
    crossbar_config_default(&crossbar);
    parts_draw(config, "crossbar", parts_crossbar_fields, &crossbar);
    dram_config_default(&dram, (enum dram_standard)config->dram.standard);
    parts_draw(config, "dram", dram_fields, &dram);
    parts_simt_resolve(config);
    if (config->sources[key_find("harts")].automatic)
        config->harts = machine_timed(config) ? parts_cores(config) : 1;
}

void parts_core(const struct machine_config *config, const char *section, struct parts_core *core)
{
    bool host = strcmp(section, "host") == 0;
    core->ooo = parts_are_ooo(config, section);
    core->frequency = host ? config->host.clock : config->accel.clock;
    inorder_config_default(&core->inorder_config);
    ooo_config_default(&core->ooo_config);
    cache_config_default(&core->l1i);
    parts_fill(config, section, inorder_fields, &core->inorder_config);
    parts_fill(config, section, ooo_fields, &core->ooo_config);
    parts_fill(config, within(section, "predict").text, predict_fields, &core->ooo_config.predict);
    parts_fill(config, within(section, "latency").text, latency_fields, &core->ooo_config.latency);
    parts_fill(config, within(section, "interval").text, interval_fields, &core->ooo_config.latency);
    parts_fill(config, within(section, "ports").text, port_fields, &core->ooo_config.latency);
    core->inorder_config.predict = core->ooo_config.predict;
    core->inorder_config.latency = core->ooo_config.latency;
    core->l1d = core->l1i;
    parts_fill(config, within(section, "l1i").text, parts_l1_fields, &core->l1i);
    parts_fill(config, within(section, "l1d").text, parts_l1_fields, &core->l1d);
    core->l1i.coherent = core->l1d.coherent = host;
    parts_fill(config, within(section, "tlb").text, tlb_fields, &core->tlb);
}

void parts_llc(const struct machine_config *config, struct llc_config *llc)
{
    llc_config_default(llc);
    parts_fill(config, "l2", parts_llc_fields, llc);
}

void parts_crossbar(const struct machine_config *config, struct crossbar_config *crossbar)
{
    crossbar_config_default(crossbar);
    parts_fill(config, "crossbar", parts_crossbar_fields, crossbar);
    crossbar->inputs =
        (uint32_t)(1 + config->accel.count + (config->simt.count ? config->simt.l2.slices : 0));
    crossbar->outputs = (uint32_t)config->dram.channels;
}

void parts_dram(const struct machine_config *config, struct dram_config *dram)
{
    dram_config_default(dram, (enum dram_standard)config->dram.standard);
    parts_fill(config, "dram", dram_fields, dram);
}
