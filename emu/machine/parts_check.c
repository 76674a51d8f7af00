/* Whether the parts of a timed machine are possible and fit together, in messages that name keys. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/dram/standard.h"
#include "emu/machine/key.h"
#include "emu/machine/parts.h"
#include "emu/machine/parts_simt.h"
#include "emu/machine/system.h"

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

/* The same for a part within the section of cores. */
static bool at_part(const struct machine_config *config, const char *section, const char *part,
                    struct error *err)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s.%s", section, part);
    return at_field(config, name, err);
}

static bool check_core(const struct machine_config *config, const char *section, struct error *err)
{
    struct parts_core core;
    parts_core(config, section, &core);
    bool fine =
        core.ooo ? ooo_config_check(&core.ooo_config, err) : inorder_config_check(&core.inorder_config, err);
    if (!fine) {
        (void)snprintf(err->text + strlen(err->text), sizeof err->text - strlen(err->text),
                       "; with %s.core %s", section, core.ooo ? "ooo" : "inorder");
        return at_field(config, section, err);
    }
    if (!cache_config_check(&core.l1i, err))
        return at_part(config, section, "l1i", err);
    if (!cache_config_check(&core.l1d, err))
        return at_part(config, section, "l1d", err);
    if (!tlb_config_check(&core.tlb, err))
        return at_part(config, section, "tlb", err);
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

/* The firmware's memory is protected as a naturally aligned power of two. */
static bool check_offload(const struct machine_config *config, struct error *err)
{
    char size[UNIT_TEXT];
    uint64_t bytes = config->nucd.memory, end = config->memory.base + config->memory.size;
    if (!config->nucd.present || config->accel.count == 0)
        return true;
    if ((bytes & (bytes - 1)) == 0 && end % bytes == 0 && bytes + config->stack.size < config->memory.size)
        return true;
    unit_format(UNIT_SIZE, bytes, size);
    (void)error_set(err,
                    "%s is not allowed; allowed: a power of two that divides memory.base + memory.size and "
                    "leaves room for programs and stack.size",
                    size);
    return at_key(config, "nucd.memory", err);
}

static bool check_simt(const struct machine_config *config, struct error *err)
{
    const char *section;
    if (config->simt.count == 0 || parts_simt_check(config, &section, err))
        return true;
    return section ? at_field(config, section, err) : error_prefix(err, "%s", config->name);
}

bool parts_check(const struct machine_config *config, struct error *err)
{
    struct llc_config llc;
    struct crossbar_config crossbar;
    parts_llc(config, &llc);
    parts_crossbar(config, &crossbar);
    if (!check_core(config, "host", err) || !check_core(config, "accel", err))
        return false;
    if (!llc_config_check(&llc, err))
        return at_field(config, "l2", err);
    if (!crossbar_config_check(&crossbar, err))
        return at_field(config, "crossbar", err);
    return check_memory(config, err) && check_lines(config, err) && check_cores(config, err) &&
           check_offload(config, err) && check_simt(config, err);
}

/* The source of a standard's value, or where it is no fact of the standard's. */
static void note_dram(const struct machine_config *config, const char *field, char *buffer, size_t size)
{
    enum dram_standard standard = (enum dram_standard)config->dram.standard;
    const char *source = dram_standard_source(standard, field);
    (void)snprintf(buffer, size, "%s%s%s", dram_standard_name(standard), source ? ": " : "",
                   source ? source : "");
}

/* The source of a latency or interval; NULL for other keys. */
static const char *note_latency(const char *name)
{
    if (!strstr(name, ".latency.") && !strstr(name, ".interval."))
        return NULL;
    for (enum core_work work = 0; work < CORE_WORKS; work++)
        if (strcmp(core_work_name(work), strrchr(name, '.') + 1) == 0)
            return core_work_source(work);
    return NULL;
}

/* Which core the value of a core's own key is like; NULL for keys of what stands beside it. */
static const char *note_core(const struct machine_config *config, const struct key *key)
{
    const char *section = strncmp(key->name, "host.", 5) == 0 ? "host" : "accel";
    bool own = strchr(key->name, '.') == strrchr(key->name, '.') || strstr(key->name, ".predict.") ||
               strstr(key->name, ".ports.");
    if (strncmp(key->name, section, strlen(section)) != 0 || !own)
        return NULL;
    bool ooo = key->use == USE_OOO || (key->use == USE_TIMED && parts_are_ooo(config, section));
    return ooo ? "like Cortex-A57 or assumed: see emu/core/ooo/config.c" : "like Cortex-A53";
}

void parts_note(const struct machine_config *config, int key, char *buffer, size_t size)
{
    const char *name = machine_keys[key].name;
    const char *note = parts_simt_note(name);
    if (!note)
        note = note_latency(name);
    if (!note)
        note = note_core(config, &machine_keys[key]);
    if (strncmp(name, "dram.", 5) == 0)
        note_dram(config, name + 5, buffer, size);
    else
        (void)snprintf(buffer, size, "%s",
                       note                         ? note
                       : strcmp(name, "harts") == 0 ? "the number of cores"
                                                    : "default");
}
