/* The table of keys that keys/all.def describes: finding them, converting and printing their values. */
#ifndef EMU_MACHINE_KEY_H
#define EMU_MACHINE_KEY_H

#include "emu/machine/machine.h"
#include "emu/machine/unit.h"

/* The first kinds are numbers and equal their unit_kind. */
enum key_kind {
    KEY_COUNT = UNIT_COUNT,
    KEY_ADDRESS = UNIT_ADDRESS,
    KEY_SIZE = UNIT_SIZE,
    KEY_TIME = UNIT_TIME,
    KEY_FREQUENCY = UNIT_FREQUENCY,
    KEY_BANDWIDTH = UNIT_BANDWIDTH,
    KEY_ENERGY = UNIT_ENERGY,
    KEY_POWER = UNIT_POWER,
    KEY_BOOL = UNIT_KINDS,
    KEY_CHOICE,
    KEY_TEXT,
};

/* Whose behaviour depends on the key: every machine's, that of machines with timing cores, and of
 * those whose cores in the same section (host, accel) are in order, or out of order. */
enum key_use { USE_ALWAYS, USE_TIMED, USE_INORDER, USE_OOO };

struct key {
    const char *name; /* dotted */
    size_t offset;    /* in struct machine_config */
    enum key_kind kind;
    enum key_use use;
    const char *initial, *min, *max, *step; /* as in the row; the last three are for numbers */
    bool automatic;                         /* takes "auto" too, its initial value: what automatic.h says */
    const char *const *choices;             /* KEY_CHOICE: the names by value, then NULL */
    const char *explanation;
};

/* In the order of keys/all.def; the index of a key is also that of its machine_config.sources. */
extern const struct key machine_keys[MACHINE_KEYS];

enum { KEY_VALUE = 2 * MACHINE_TEXT + 3 }; /* bytes that key_format() needs at most */

/* The index of the key, or -1. */
int key_find(const char *name);

/* The index of the first key in the section of that dotted name, or -1 when there is no such section. */
int key_section(const char *name);

/* Converts and checks `text` and stores it in config, with whether it was "auto", which leaves the field as
 * it is; the message begins with the key's name. */
bool key_set(const struct key *key, struct machine_config *config, const char *text, struct error *err);

/* Numbers, booleans and choices as plain numbers; not for KEY_TEXT. */
uint64_t key_number(const struct key *key, const struct machine_config *config);
void key_put_number(const struct key *key, struct machine_config *config, uint64_t value);

/* The value as it is written in YAML. */
void key_format(const struct key *key, const struct machine_config *config, char buffer[KEY_VALUE]);

/* The values that the key takes, in words: "4 KiB to 1 TiB, a multiple of 4 KiB", "true or false". */
void key_allowed(const struct key *key, char *buffer, size_t size);

/* Sets the message for a dotted name that is no key: the nearest key, or what its section offers. Returns
 * false. */
bool key_unknown(const char *name, struct error *err);

#endif
