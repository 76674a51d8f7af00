#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/machine/document.h"
#include "emu/machine/key.h"
#include "emu/machine/parts.h"
#include "emu/machine/text.h"
#include "emu/sim/nearest.h"

/* The files of one machine, from the one that was asked for to the one that extends nothing. */
struct chain {
    struct document documents[MACHINE_CHAIN];
    dev_t devices[MACHINE_CHAIN];
    ino_t inodes[MACHINE_CHAIN];
};

static bool ends_in_yaml(const char *name)
{
    size_t length = strlen(name);
    return length >= 5 && strcmp(name + length - 5, ".yaml") == 0;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || ends_in_yaml(name);
}

/* The path at which `name`, as written in the file `from` (NULL: on the command line), is found; free() it.
 */
static char *find_path(const char *name, const char *from, const char *shipped_dir)
{
    char *path = NULL;
    int length;
    if (!is_path(name)) {
        length = asprintf(&path, "%s/%s.yaml", shipped_dir, name);
    } else {
        const char *slash = from && *name != '/' ? strrchr(from, '/') : NULL;
        length = asprintf(&path, "%.*s%s", slash ? (int)(slash - from + 1) : 0, slash ? from : "", name);
    }
    return length < 0 ? NULL : path;
}

static bool unknown_machine(const char *name, const char *shipped_dir, struct error *err)
{
    struct machine_list list;
    struct error ignored;
    if (!machine_list(&list, shipped_dir, &ignored) || list.count == 0) {
        machine_list_free(&list);
        return error_set(err, "unknown machine %s: no machines are installed in %s", text_quote(name).text,
                         shipped_dir);
    }
    const char *nearest = nearest_name(name, (const char *const *)list.names, list.count);
    char names[512] = "";
    for (size_t i = 0; i < list.count; i++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", list.names[i]);
    }
    (void)error_set(err, "unknown machine %s%s%s%s: %s (a path contains a '/' or ends in .yaml)",
                    text_quote(name).text, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'? Shipped machines" : "; shipped machines", names);
    machine_list_free(&list);
    return false;
}

/* Whether the file is none of the chain's so far; it becomes chain element `index`. */
static bool is_new(const struct machine_config *config, struct chain *chain, unsigned index,
                   const struct stat *stat, struct error *err)
{
    chain->devices[index] = stat->st_dev;
    chain->inodes[index] = stat->st_ino;
    for (unsigned i = 0; i < index; i++)
        if (chain->devices[i] == stat->st_dev && chain->inodes[i] == stat->st_ino)
            return error_set(err, "%s extends itself%s", config->files[index].path,
                             index - i > 1 ? " through other files" : "");
    return true;
}

/* Opens the file of config->files[index] and makes sure that the chain does not hold it yet. Returns a file
 * descriptor or -1. */
static int open_file(struct machine_config *config, struct chain *chain, unsigned index, const char *name,
                     const char *shipped_dir, struct error *err)
{
    const char *path = config->files[index].path;
    /* O_NONBLOCK: a FIFO must not hold us up; it is refused, as are folders and devices. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ENOENT && config->files[index].shipped) {
        (void)unknown_machine(name, shipped_dir, err);
        return -1;
    }
    struct stat stat;
    if (file < 0 || fstat(file, &stat) != 0)
        (void)error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
    else if (!S_ISREG(stat.st_mode))
        (void)error_set(err, "%s: not a regular file; a machine description is a YAML file", path);
    else if (is_new(config, chain, index, &stat, err))
        return file;
    if (file >= 0)
        (void)close(file);
    return -1;
}

/* Puts the place that names the next file of the chain, if it is a file's `extends`, before the message. */
static bool at_extends(const struct machine_config *config, const struct chain *chain, unsigned index,
                       struct error *err)
{
    if (index == 0)
        return false;
    return error_prefix(err, "%s:%u: extends", config->files[index - 1].path,
                        chain->documents[index - 1].outline.extends_line);
}

/* Reads the file that `name` stands for as the next of the chain. */
static bool chain_add(struct machine_config *config, struct chain *chain, const char *name,
                      const char *shipped_dir, struct error *err)
{
    unsigned index = config->file_count;
    if (index == MACHINE_CHAIN) {
        (void)error_set(err, "a machine may consist of at most %d files", MACHINE_CHAIN);
        return at_extends(config, chain, index, err);
    }
    if (!*name) {
        (void)error_set(err, "the name of the machine is empty; write a shipped machine's name or a path");
        return at_extends(config, chain, index, err);
    }
    const char *from = index ? config->files[index - 1].path : NULL;
    config->files[index] =
        (struct machine_file){.path = find_path(name, from, shipped_dir), .shipped = !is_path(name)};
    if (!config->files[index].path)
        return error_set(err, "out of memory");
    config->file_count++;

    int file = open_file(config, chain, index, name, shipped_dir, err);
    if (file < 0)
        return at_extends(config, chain, index, err);
    bool read = document_read(&chain->documents[index], file, config->files[index].path, err);
    (void)close(file);
    return read;
}

/* Whether a key describes one file only and is not inherited. */
static bool is_own(const struct key *key)
{
    return strcmp(key->name, "name") == 0 || strcmp(key->name, "description") == 0;
}

/* Where a key has been set, which has stored already whether its value is automatic. */
static void set_source(struct machine_config *config, int key, struct machine_source source)
{
    source.automatic = config->sources[key].automatic;
    config->sources[key] = source;
}

static bool apply_document(struct machine_config *config, const struct document *document, unsigned file,
                           struct error *err)
{
    for (int i = 0; i < MACHINE_KEYS; i++) {
        const char *text = document_text(document, i);
        if (!text || (file > 0 && is_own(&machine_keys[i])))
            continue;
        unsigned line = document->outline.lines[i];
        if (!key_set(&machine_keys[i], config, text, err))
            return error_prefix(err, "%s:%u", config->files[file].path, line);
        set_source(config, i, (struct machine_source){MACHINE_FILE, file, line, false});
    }
    return true;
}

static bool apply_set(struct machine_config *config, const char *set, struct error *err)
{
    char name[128];
    const char *equals = strchr(set, '=');
    if (!equals)
        return error_set(err, "--set %s: write NAME=VALUE, such as --set memory.size=2GiB",
                         text_quote(set).text);
    (void)snprintf(name, sizeof name, "%.*s", equals - set < 128 ? (int)(equals - set) : 127, set);
    int key = key_find(name);
    if (strcmp(name, "extends") == 0)
        return error_set(err, "--set: extends belongs in a machine file; choose a machine with --machine");
    if (key < 0) {
        (void)key_unknown(name, err);
        return error_prefix(err, "--set");
    }
    if (!key_set(&machine_keys[key], config, equals + 1, err))
        return error_prefix(err, "--set");
    set_source(config, key, (struct machine_source){.origin = MACHINE_SET});
    return true;
}

/* The machine's name where no key gives one: that of its file. */
static void name_by_file(struct machine_config *config)
{
    const char *path = config->files[0].path;
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base) - (ends_in_yaml(base) ? 5 : 0);
    (void)snprintf(config->name, sizeof config->name, "%.*s", (int)(length < 250 ? length : 250), base);
    if (!text_printable(config->name))
        strcpy(config->name, "unnamed");
}

/* RISC-V physical addresses have 56 bits; the limits of memory.base and memory.size keep their sum from
 * wrapping. */
#define PHYSICAL_END (UINT64_C(1) << 56)

/* What several keys must fulfil together. */
static bool check(const struct machine_config *config, struct error *err)
{
    char size[UNIT_TEXT], other[UNIT_TEXT], source[MACHINE_SOURCE];
    machine_source(config, "memory.size", source);
    unit_format(UNIT_SIZE, config->memory.size, size);
    if (config->memory.base + config->memory.size > PHYSICAL_END) {
        unit_format(UNIT_ADDRESS, config->memory.base, other);
        return error_set(
            err, "%s: memory.size: %s from memory.base %s reaches beyond the last physical address, 2^56-1",
            source, size, other);
    }
    if (config->stack.size >= config->memory.size) {
        char stack_source[MACHINE_SOURCE];
        unit_format(UNIT_SIZE, config->stack.size, other);
        machine_source(config, "stack.size", stack_source);
        return error_set(
            err, "%s: memory.size: %s is not allowed; allowed: more than stack.size, which is %s (%s)",
            source, size, other, stack_source);
    }
    if (config->harts > 1 && !config->devices.clint.present) {
        machine_source(config, "harts", source);
        return error_set(err,
                         "%s: harts: %" PRIu64
                         " is not allowed; allowed: 1, or more with devices.clint.present, for "
                         "harts reach each other by its software interrupts",
                         source, config->harts);
    }
    return true;
}

static bool resolve(struct machine_config *config, struct chain *chain, const char *machine,
                    const char *shipped_dir, struct error *err)
{
    for (const char *next = machine; next; next = document_extends(&chain->documents[config->file_count - 1]))
        if (!chain_add(config, chain, next, shipped_dir, err))
            return false;
    for (int i = 0; i < MACHINE_KEYS; i++)
        if (!key_set(&machine_keys[i], config, machine_keys[i].initial, err))
            return error_prefix(err, "default");
    name_by_file(config);
    for (unsigned i = config->file_count; i-- > 0;)
        if (!apply_document(config, &chain->documents[i], i, err))
            return false;
    return true;
}

bool machine_load(struct machine_config *config, const char *machine, const char *shipped_dir,
                  const char *const *sets, size_t set_count, struct error *err)
{
    struct chain chain = {0};
    *config = (struct machine_config){0};
    bool loaded = resolve(config, &chain, machine, shipped_dir, err);
    for (unsigned i = 0; i < config->file_count; i++)
        document_free(&chain.documents[i]);
    for (size_t i = 0; loaded && i < set_count; i++)
        loaded = apply_set(config, sets[i], err);
    if (loaded)
        parts_resolve(config);
    loaded = loaded && (!machine_timed(config) || parts_check(config, err)) && check(config, err);
    if (!loaded)
        machine_free(config);
    return loaded;
}

void machine_free(struct machine_config *config)
{
    for (unsigned i = 0; i < config->file_count; i++)
        free(config->files[i].path);
    config->file_count = 0;
}
