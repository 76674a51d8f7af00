#include "emu/sim/text/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

struct unit {
    const char *name;
    uint64_t scale;
};

#define KIBI(n)         (UINT64_C(1) << (10 * (n)))
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* Every table begins with the unit of the stored value; the scales of its first `shown` rows ascend. */
static const struct unit size_units[] = {
    {"B", 1}, {"KiB", KIBI(1)}, {"MiB", KIBI(2)}, {"GiB", KIBI(3)}, {"TiB", KIBI(4)},
};
static const struct unit time_units[] = {
    {"fs", 1},
    {"ps", 1000},
    {"ns", 1000000},
    {"us", 1000000000},
    {"ms", UINT64_C(1000000000000)},
    {"s", UINT64_C(1000000000000000)},
};
static const struct unit frequency_units[] = {
    {"Hz", 1},
    {"kHz", 1000},
    {"MHz", 1000000},
    {"GHz", 1000000000},
};
static const struct unit bandwidth_units[] = {
    {"B/s", 1},
    {"kB/s", 1000},
    {"MB/s", 1000000},
    {"GB/s", 1000000000},
    {"TB/s", UINT64_C(1000000000000)},
    {"KiB/s", KIBI(1)},
    {"MiB/s", KIBI(2)},
    {"GiB/s", KIBI(3)},
    {"TiB/s", KIBI(4)},
};
static const struct unit energy_units[] = {
    {"fJ", 1}, {"pJ", 1000}, {"nJ", 1000000}, {"uJ", 1000000000}, {"mJ", UINT64_C(1000000000000)},
};
static const struct unit power_units[] = {
    {"uW", 1},
    {"mW", 1000},
    {"W", 1000000},
};

static const struct scale {
    const struct unit *units; /* NULL: plain numbers */
    size_t count, shown;      /* number of rows; of these, used by quantity_format() */
    const char *base;         /* unit of the stored value */
    const char *syntax;
} scales[QUANTITY_KINDS] = {
    [QUANTITY_COUNT] = {.syntax = "a whole number such as 16"},
    [QUANTITY_ADDRESS] = {.syntax = "an address such as 0x80000000"},
    [QUANTITY_SIZE] = {size_units, COUNT_OF(size_units), COUNT_OF(size_units), "bytes",
                       "a size such as 32 KiB (units: B, KiB, MiB, GiB, TiB)"},
    [QUANTITY_TIME] = {time_units, COUNT_OF(time_units), COUNT_OF(time_units), "femtoseconds",
                       "a time such as 13.75 ns (units: fs, ps, ns, us, ms, s)"},
    [QUANTITY_FREQUENCY] = {frequency_units, COUNT_OF(frequency_units), COUNT_OF(frequency_units), "hertz",
                            "a frequency such as 1.4 GHz (units: Hz, kHz, MHz, GHz)"},
    [QUANTITY_BANDWIDTH] =
        {bandwidth_units, COUNT_OF(bandwidth_units), 5, "bytes per second",
         "a bandwidth such as 80 GB/s (units: B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, "
         "TiB/s)"},
    [QUANTITY_ENERGY] = {energy_units, COUNT_OF(energy_units), COUNT_OF(energy_units), "femtojoules",
                         "an energy such as 10.2 pJ (units: fJ, pJ, nJ, uJ, mJ)"},
    [QUANTITY_POWER] = {power_units, COUNT_OF(power_units), COUNT_OF(power_units), "microwatts",
                        "a power such as 55 mW (units: uW, mW, W)"},
};

enum { FRACTION_DIGITS = 18 }; /* fraction and divisor then fit in 64 bits */

/* A scanned decimal number: whole + fraction / divisor. */
struct number {
    uint64_t whole, fraction, divisor;
};

enum scan { SCAN_OK, SCAN_NO_NUMBER, SCAN_TOO_LARGE, SCAN_TOO_FINE };

static bool digit_append(uint64_t *value, unsigned base, unsigned digit)
{
    if (*value > (UINT64_MAX - digit) / base)
        return false;
    *value = *value * base + digit;
    return true;
}

static unsigned digit_value(char c)
{
    return (unsigned)(isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10);
}

static enum scan scan_hexadecimal(const char **at, struct number *number)
{
    const char *p = *at + 2;
    if (!isxdigit((unsigned char)*p))
        return SCAN_NO_NUMBER;
    for (; isxdigit((unsigned char)*p); p++)
        if (!digit_append(&number->whole, 16, digit_value(*p)))
            return SCAN_TOO_LARGE;
    *at = p;
    return SCAN_OK;
}

/* Reads the digits after the decimal point. */
static enum scan scan_fraction(const char **at, struct number *number)
{
    size_t digits = strspn(*at, "0123456789");
    const char *p = *at;
    if (digits == 0)
        return SCAN_NO_NUMBER;
    *at += digits;
    while (digits > 0 && p[digits - 1] == '0')
        digits--;
    if (digits > FRACTION_DIGITS)
        return SCAN_TOO_FINE;
    for (size_t i = 0; i < digits; i++) {
        (void)digit_append(&number->fraction, 10, digit_value(p[i]));
        number->divisor *= 10;
    }
    return SCAN_OK;
}

/* Reads a number at *at and moves *at past it. `plain` kinds allow hexadecimal, the others a fraction. */
static enum scan number_scan(const char **at, bool plain, struct number *number)
{
    *number = (struct number){.divisor = 1};
    const char *p = *at;
    if (!isdigit((unsigned char)*p))
        return SCAN_NO_NUMBER;
    if (plain && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return scan_hexadecimal(at, number);
    for (; isdigit((unsigned char)*p); p++)
        if (!digit_append(&number->whole, 10, digit_value(*p)))
            return SCAN_TOO_LARGE;
    *at = p;
    if (*p != '.' || plain)
        return SCAN_OK;
    *at = p + 1;
    return scan_fraction(at, number);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sets *value to number * scale. Returns SCAN_OK, or the reason why the product is not a uint64_t. */
static enum scan number_scale(const struct number *number, uint64_t scale, uint64_t *value)
{
    if (number->whole > UINT64_MAX / scale)
        return SCAN_TOO_LARGE;
    /* fraction * scale / divisor, with the divisor reduced first, so that the result stays below scale */
    uint64_t common = gcd(number->divisor, scale);
    uint64_t divisor = number->divisor / common;
    if (number->fraction % divisor)
        return SCAN_TOO_FINE;
    uint64_t part = number->fraction / divisor * (scale / common);
    uint64_t whole = number->whole * scale;
    if (part > UINT64_MAX - whole)
        return SCAN_TOO_LARGE;
    *value = whole + part;
    return SCAN_OK;
}

static bool scan_error(enum scan why, const struct scale *scale, const char *text, struct error *err)
{
    struct quoted quoted = text_quote(text);
    const char *base = scale->base ? scale->base : "";
    if (why == SCAN_TOO_LARGE)
        return error_set(err, "%s is too large; the limit is 18446744073709551615%s%s", quoted.text,
                         *base ? " " : "", base);
    if (why == SCAN_TOO_FINE)
        return error_set(err, "%s is not a whole number of %s", quoted.text, base);
    return error_set(err, "%s is not %s", quoted.text, scale->syntax);
}

static bool unit_error(const struct scale *scale, const char *text, const char *unit, struct error *err)
{
    const char *names[COUNT_OF(bandwidth_units)];
    const char *nearest = NULL;
    if (!*unit)
        return error_set(err, "%s has no unit; write %s", text_quote(text).text, scale->syntax);
    for (size_t i = 0; i < scale->count; i++) {
        names[i] = scale->units[scale->count - 1 - i].name; /* largest first: KB suggests KiB, not B */
        if (!nearest && strcasecmp(unit, names[i]) == 0)
            nearest = names[i];
    }
    for (size_t i = 0; !nearest && i < scale->count; i++)
        if (strncasecmp(unit, names[i], strlen(unit)) == 0) /* k means KiB rather than B */
            nearest = names[i];
    if (!nearest)
        nearest = nearest_name(unit, names, scale->count);
    return error_set(err, "%s has the unknown unit %s%s%s%s; write %s", text_quote(text).text,
                     text_quote(unit).text, nearest ? " (did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?)" : "", scale->syntax);
}

bool quantity_parse(enum quantity kind, const char *text, uint64_t *value, struct error *err)
{
    const struct scale *scale = &scales[kind];
    const char *at = text + strspn(text, " ");
    struct number number;
    enum scan scanned = number_scan(&at, !scale->units, &number);
    if (scanned != SCAN_OK)
        return scan_error(scanned, scale, text, err);

    at += strspn(at, " ");
    size_t length = strlen(at);
    while (length > 0 && at[length - 1] == ' ')
        length--;
    if (!scale->units) {
        if (length)
            return scan_error(SCAN_NO_NUMBER, scale, text, err);
        *value = number.whole;
        return true;
    }
    for (size_t i = 0; i < scale->count; i++) {
        const char *name = scale->units[i].name;
        if (strncmp(at, name, length) != 0 || name[length])
            continue;
        scanned = number_scale(&number, scale->units[i].scale, value);
        return scanned == SCAN_OK || scan_error(scanned, scale, text, err);
    }
    char unit[16];
    (void)snprintf(unit, sizeof unit, "%.*s", length < sizeof unit ? (int)length : (int)sizeof unit - 1, at);
    return unit_error(scale, text, unit, err);
}

/* Chooses the largest unit not above the value; sizes use only units that divide it, others may take a fraction. */
static const struct unit *unit_choose(const struct scale *scale, uint64_t value)
{
    const struct unit *chosen = &scale->units[0];
    for (size_t i = 1; i < scale->shown; i++) {
        const struct unit *unit = &scale->units[i];
        bool whole = scale->units != size_units || value % unit->scale == 0;
        if (value >= unit->scale && whole)
            chosen = unit;
    }
    return chosen;
}

void quantity_format(enum quantity kind, uint64_t value, char buffer[QUANTITY_TEXT])
{
    const struct scale *scale = &scales[kind];
    if (!scale->units) {
        (void)snprintf(buffer, QUANTITY_TEXT, kind == QUANTITY_ADDRESS ? "0x%" PRIx64 : "%" PRIu64, value);
        return;
    }
    const struct unit *unit = unit_choose(scale, value);
    int length = snprintf(buffer, QUANTITY_TEXT, "%" PRIu64, value / unit->scale);
    uint64_t rest = value % unit->scale;
    if (rest)
        buffer[length++] = '.';
    for (uint64_t place = unit->scale / 10; rest; place /= 10) {
        buffer[length++] = (char)('0' + rest / place);
        rest %= place;
    }
    (void)snprintf(buffer + length, QUANTITY_TEXT - (size_t)length, " %s", unit->name);
}
