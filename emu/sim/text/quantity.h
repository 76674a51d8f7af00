/* Quantities in a user's notation, a decimal number and a unit, converted exactly. */
#ifndef EMU_SIM_TEXT_QUANTITY_H
#define EMU_SIM_TEXT_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

/* What a number measures. The value is a whole uint64_t in the unit named here. */
enum quantity {
    QUANTITY_COUNT,     /* plain number, no unit; decimal or 0x hexadecimal */
    QUANTITY_ADDRESS,   /* plain number, printed in hexadecimal */
    QUANTITY_SIZE,      /* bytes: B KiB MiB GiB TiB */
    QUANTITY_TIME,      /* femtoseconds: fs ps ns us ms s */
    QUANTITY_FREQUENCY, /* hertz: Hz kHz MHz GHz */
    QUANTITY_BANDWIDTH, /* bytes per second: B/s kB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s TiB/s */
    QUANTITY_ENERGY,    /* femtojoules: fJ pJ nJ uJ mJ */
    QUANTITY_POWER,     /* microwatts: uW mW W */
    QUANTITY_KINDS
};

enum { QUANTITY_TEXT = 32 }; /* size of the longest text that quantity_format() writes */

/* Converts `text` ("32 KiB", "13.75 ns", "0x80000000"; the space may be missing) to *value, without rounding: a value
 * that is not a whole number of the quantity's unit, or is above 2^64-1, is an error, whose message says what is
 * allowed. */
bool quantity_parse(enum quantity quantity, const char *text, uint64_t *value, struct error *err);

/* Writes the shortest text that quantity_parse() turns into the same value. */
void quantity_format(enum quantity quantity, uint64_t value, char buffer[QUANTITY_TEXT]);

#endif
