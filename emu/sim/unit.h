/* Quantities in a user's notation, a decimal number and a unit, converted exactly. */
#ifndef EMU_SIM_UNIT_H
#define EMU_SIM_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

/* What a number measures. The value is a whole uint64_t in the unit named here. */
enum unit_kind {
    UNIT_COUNT,     /* plain number, no unit; decimal or 0x hexadecimal */
    UNIT_ADDRESS,   /* plain number, printed in hexadecimal */
    UNIT_SIZE,      /* bytes: B KiB MiB GiB TiB */
    UNIT_TIME,      /* femtoseconds: fs ps ns us ms s */
    UNIT_FREQUENCY, /* hertz: Hz kHz MHz GHz */
    UNIT_BANDWIDTH, /* bytes per second: B/s kB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s TiB/s */
    UNIT_ENERGY,    /* femtojoules: fJ pJ nJ uJ mJ */
    UNIT_POWER,     /* microwatts: uW mW W */
    UNIT_KINDS
};

enum { UNIT_TEXT = 32 }; /* size of the longest text that unit_format() writes */

/* Converts `text` ("32 KiB", "13.75 ns", "0x80000000"; the space may be missing) to *value, without rounding: a value
 * that is not a whole number of the kind's unit, or is above 2^64-1, is an error, whose message says what is
 * allowed. */
bool unit_parse(enum unit_kind kind, const char *text, uint64_t *value, struct error *err);

/* Writes the shortest text that unit_parse() turns into the same value. */
void unit_format(enum unit_kind kind, uint64_t value, char buffer[UNIT_TEXT]);

#endif
