/* Machine descriptions: YAML files and --set options become one plain struct of checked values. */
#ifndef EMU_MACHINE_MACHINE_H
#define EMU_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/sim/error.h"

/* A description is a YAML mapping of sections and keys (see keys/all.def, or `croft show`), where `extends:
 * MACHINE` takes over another description. A MACHINE is a shipped machine's name, or a path: what contains a
 * '/' or ends in .yaml. A path in `extends` is relative to the file that holds it.
 *
 * How a file is read: libyaml's event stream gives the line of each key and answers unknown, repeated and
 * misplaced keys with line and nearest name, because libcyaml's messages know neither; then libcyaml loads
 * the document by a schema into a struct of texts; then each text is converted by its key's row. The rows of
 * keys/all.def generate all of it: struct, schema, defaults, checks, messages and `croft show`. */

enum {
    MACHINE_TEXT = 256,   /* bytes of a TEXT key, with the final NUL */
    MACHINE_CHAIN = 16,   /* files that one machine may consist of through `extends` */
    MACHINE_SOURCE = 512, /* bytes that machine_source() needs at most */
};

#define CHOICES_CONSTANT(constant, name) constant,
#define CHOICES(tag, list)               enum machine_##tag{list(CHOICES_CONSTANT)};
#include "emu/machine/keys/all.def"
#undef CHOICES_CONSTANT

/* The number of keys. */
#define KEY(...)             +1
#define CHOICE_KEY(...)      +1
#define TOP_KEY(...)         +1
#define AUTO_KEY(...)        +1
#define AUTO_CHOICE_KEY(...) +1
#define AUTO_TOP_KEY(...)    +1
enum {
    MACHINE_KEYS =
#include "emu/machine/keys/all.def"
};

/* Where a key's value came from. */
enum machine_origin { MACHINE_DEFAULT, MACHINE_FILE, MACHINE_SET };

struct machine_source {
    enum machine_origin origin;
    unsigned file;  /* MACHINE_FILE: index into machine_config.files */
    unsigned line;  /* MACHINE_FILE: counted from 1 */
    bool automatic; /* the value is `auto`, and was made from others (automatic.h) */
};

struct machine_file {
    char *path;   /* as it was opened */
    bool shipped; /* found by its name among the shipped machines */
};

/* A resolved description. Kinds COUNT, ADDRESS, SIZE (bytes), TIME (fs), FREQUENCY (Hz),
 * BANDWIDTH (bytes/s), ENERGY (fJ) and POWER (uW) are uint64_t, BOOL is bool, TEXT is char[MACHINE_TEXT], and
 * a choice is its enumeration. */
#define MACHINE_FIELD_COUNT(field)     uint64_t field;
#define MACHINE_FIELD_ADDRESS(field)   uint64_t field;
#define MACHINE_FIELD_SIZE(field)      uint64_t field;
#define MACHINE_FIELD_TIME(field)      uint64_t field;
#define MACHINE_FIELD_FREQUENCY(field) uint64_t field;
#define MACHINE_FIELD_BANDWIDTH(field) uint64_t field;
#define MACHINE_FIELD_ENERGY(field)    uint64_t field;
#define MACHINE_FIELD_POWER(field)     uint64_t field;
#define MACHINE_FIELD_BOOL(field)      bool field;
#define MACHINE_FIELD_TEXT(field)      char field[MACHINE_TEXT];

#define SECTION(tag, name, explanation) struct machine_##tag {
#define SECTION_END(name)                                                                                    \
    }                                                                                                        \
    name;
#define KEY(section, field, kind, ...)            MACHINE_FIELD_##kind(field)
#define CHOICE_KEY(section, field, tag, ...)      enum machine_##tag field;
#define TOP_KEY(field, kind, ...)                 MACHINE_FIELD_##kind(field)
#define AUTO_KEY(section, field, kind, ...)       MACHINE_FIELD_##kind(field)
#define AUTO_CHOICE_KEY(section, field, tag, ...) enum machine_##tag field;
#define AUTO_TOP_KEY(field, kind, ...)            MACHINE_FIELD_##kind(field)
struct machine_config {
#include "emu/machine/keys/all.def"
    struct machine_source sources[MACHINE_KEYS]; /* by key, in the order of keys/all.def */
    struct machine_file files[MACHINE_CHAIN];
    unsigned file_count;
};

/* Resolves `machine` (a shipped name or a path): defaults, then the extended descriptions, then the file,
 * then sets[set_count], each NAME=VALUE, in order. Shipped machines are shipped_dir/NAME.yaml. Errors name
 * file, line and key and what is allowed. After success release with machine_free(); after failure there is
 * nothing to release. */
bool machine_load(struct machine_config *config, const char *machine, const char *shipped_dir,
                  const char *const *sets, size_t set_count, struct error *err);

void machine_free(struct machine_config *config);

/* Writes the description as YAML in which a comment explains each key: meaning, what is allowed, and where
 * the value came from. Loaded again, the text gives the same values. The text does not depend on where croft
 * is installed. */
void machine_show(const struct machine_config *config, FILE *out);

/* Where the value of the key came from, for messages and comments: "default", "--set", "FILE:LINE", or what
 * an automatic value follows.
 * `name` must be a known key. */
void machine_source(const struct machine_config *config, const char *name, char buffer[MACHINE_SOURCE]);

/* The keys whose value is not the default, but that this machine's kind of core ignores: their dotted names
 * go to names[MACHINE_KEYS]; returns how many. */
size_t machine_unused_keys(const struct machine_config *config, const char *names[MACHINE_KEYS]);

/* Whether the machine has a clock: its cores are timing cores. */
static inline bool machine_timed(const struct machine_config *config)
{
    return config->host.core != MACHINE_CORE_FUNCTIONAL;
}

/* The names of the shipped machines, sorted. Free names with machine_list_free(). */
struct machine_list {
    char **names;
    size_t count;
};

bool machine_list(struct machine_list *list, const char *shipped_dir, struct error *err);
void machine_list_free(struct machine_list *list);

#endif
