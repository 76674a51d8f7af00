#include "emu/sim/report/stats.h"
#include "emu/sim/alloc.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum counter_kind {
    COUNTER,
    COUNTER_OPERAND, /* operand of a ratio: read like a counter, not written */
    COUNTER_RATIO,   /* quotient of the two counters before it; counts nothing */
};

struct counter {
    struct stats_operand source;
    enum counter_kind kind;
    char *name; /* NULL for an operand */
    const char *unit, *meaning;
    char *own_meaning; /* owned text that meaning points to, or NULL */
    bool rare;         /* written only if its value is not 0 */
};

struct region {
    char *name;
    bool open;
    uint64_t entries;
    uint64_t *counted; /* by counter: sum over the ended entries */
    uint64_t *begin;   /* by counter: value at the begin of the open entry */
};

struct listener {
    void (*reset)(void *context);
    void *context;
};

struct stats {
    struct counter *counters;
    size_t counter_count;
    struct listener *listeners;
    size_t listener_count;
    struct region *regions;
    size_t region_count;
    uint64_t **dumps; /* each holds one value per counter */
    size_t dump_count;
    uint64_t *start; /* by counter: value at the last reset; NULL: all zero */
    uint64_t regions_dropped, dumps_dropped;
    bool sealed; /* no counter may be added */
    json_t *run, *host;
};

/* Returns `array` with room for one more element than count; reallocates when count is a power of two. */
static void *grown(void *array, size_t count, size_t element)
{
    if (count & (count - 1))
        return array;
    return alloc_resize(array, (count ? 2 * count : 1) * element);
}

struct stats *stats_new(void)
{
    struct stats *stats = alloc(1, sizeof *stats);
    stats->run = alloc_checked(json_object());
    stats->host = alloc_checked(json_object());
    return stats;
}

void stats_free(struct stats *stats)
{
    if (!stats)
        return;
    for (size_t i = 0; i < stats->counter_count; i++) {
        free(stats->counters[i].name);
        free(stats->counters[i].own_meaning);
    }
    for (size_t i = 0; i < stats->region_count; i++) {
        free(stats->regions[i].name);
        free(stats->regions[i].counted);
        free(stats->regions[i].begin);
    }
    for (size_t i = 0; i < stats->dump_count; i++)
        free(stats->dumps[i]);
    free(stats->counters);
    free(stats->listeners);
    free(stats->regions);
    free(stats->dumps);
    free(stats->start);
    json_decref(stats->run);
    json_decref(stats->host);
    free(stats);
}

static void counter_add(struct stats *stats, struct counter counter)
{
    assert(!stats->sealed);
    stats->counters = grown(stats->counters, stats->counter_count, sizeof counter);
    stats->counters[stats->counter_count++] = counter;
}

void stats_counter(struct stats *stats, struct scope scope, const char *name, const uint64_t *value,
                   const char *unit, const char *meaning)
{
    counter_add(stats, (struct counter){.source = {.value = value},
                                        .name = scope_path(scope, name),
                                        .unit = unit,
                                        .meaning = meaning});
}

void stats_counters(struct stats *stats, struct scope scope, const struct stats_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        stats_counter(stats, scope, rows[i].name, rows[i].value, rows[i].unit, rows[i].meaning);
}

void stats_rare(struct stats *stats, struct scope scope, const char *name, const uint64_t *value,
                const char *unit, const char *meaning)
{
    stats_counter(stats, scope, name, value, unit, meaning);
    stats->counters[stats->counter_count - 1].rare = true;
}

void stats_computed(struct stats *stats, struct scope scope, const char *name,
                    uint64_t (*read)(const void *context), const void *context, const char *unit,
                    const char *meaning)
{
    counter_add(stats, (struct counter){.source = {.read = read, .context = context},
                                        .name = scope_path(scope, name),
                                        .unit = unit,
                                        .meaning = meaning});
}

void stats_ratio(struct stats *stats, struct scope scope, const char *name, struct stats_operand over,
                 struct stats_operand under, const char *unit, const char *meaning)
{
    counter_add(stats, (struct counter){.source = over, .kind = COUNTER_OPERAND});
    counter_add(stats, (struct counter){.source = under, .kind = COUNTER_OPERAND});
    counter_add(
        stats, (struct counter){
                   .kind = COUNTER_RATIO, .name = scope_path(scope, name), .unit = unit, .meaning = meaning});
}

/* Returns the text "MEANING: 3 to 4". */
static char *bucket_meaning(const struct histogram *histogram, uint32_t bucket, const char *meaning)
{
    uint64_t below = bucket ? histogram_most(histogram, bucket - 1) : 0;
    if (bucket == histogram->count)
        return alloc_format("%s: more than %" PRIu64, meaning, below);
    uint64_t most = histogram_most(histogram, bucket);
    if (bucket == 0)
        return alloc_format("%s: at most %" PRIu64, meaning, most);
    return below + 1 == most ? alloc_format("%s: %" PRIu64, meaning, most)
                             : alloc_format("%s: %" PRIu64 " to %" PRIu64, meaning, below + 1, most);
}

static uint64_t read_samples(const void *histogram)
{
    return histogram_samples(histogram);
}

void stats_histogram(struct stats *stats, struct scope scope, const char *name,
                     const struct histogram *histogram, const char *unit, const char *counted,
                     const char *meaning)
{
    const struct scope inner = scope_enter(&scope, name);
    for (uint32_t i = 0; i < histogram->count + !histogram->bounded; i++) {
        char *bucket = i == histogram->count ? alloc_text("more")
                                             : alloc_format("%" PRIu64, histogram_most(histogram, i));
        char *text = bucket_meaning(histogram, i, meaning);
        counter_add(stats, (struct counter){.source = {.value = &histogram->buckets[i]},
                                            .name = scope_path(inner, bucket),
                                            .unit = counted,
                                            .meaning = text,
                                            .own_meaning = text});
        free(bucket);
    }
    stats_ratio(stats, inner, "mean", (struct stats_operand){.value = &histogram->sum},
                (struct stats_operand){.read = read_samples, .context = histogram}, unit, meaning);
}

static uint64_t counter_now(const struct counter *counter)
{
    if (counter->kind == COUNTER_RATIO)
        return 0;
    const struct stats_operand *source = &counter->source;
    return source->value ? *source->value : source->read(source->context);
}

/* Returns whether the output has the counter. */
static bool counter_shows(const struct counter *counter)
{
    return counter->kind != COUNTER_OPERAND && (!counter->rare || counter_now(counter) > 0);
}

/* Returns a new array of the current values of all counters, less `since` unless that is NULL. */
static uint64_t *values_now(struct stats *stats, const uint64_t *since)
{
    stats->sealed = true;
    uint64_t *values = alloc(stats->counter_count + 1, sizeof *values);
    for (size_t i = 0; i < stats->counter_count; i++)
        values[i] = counter_now(&stats->counters[i]) - (since ? since[i] : 0);
    return values;
}

static struct region *region_find(struct stats *stats, const char *name)
{
    for (size_t i = 0; i < stats->region_count; i++)
        if (strcmp(stats->regions[i].name, name) == 0)
            return &stats->regions[i];
    return NULL;
}

bool stats_region_begin(struct stats *stats, const char *region)
{
    struct region *found = region_find(stats, region);
    if (found && found->open)
        return false;
    if (!found && stats->region_count == STATS_REGIONS) {
        stats->regions_dropped++;
        return false;
    }
    if (!found) {
        stats->regions = grown(stats->regions, stats->region_count, sizeof *found);
        found = &stats->regions[stats->region_count++];
        *found = (struct region){.name = alloc_text(region)};
        found->counted = alloc(stats->counter_count + 1, sizeof *found->counted);
    }
    free(found->begin);
    found->begin = values_now(stats, NULL);
    found->open = true;
    found->entries++;
    return true;
}

static void region_close(const struct stats *stats, struct region *region)
{
    for (size_t i = 0; i < stats->counter_count; i++)
        region->counted[i] += counter_now(&stats->counters[i]) - region->begin[i];
    region->open = false;
}

bool stats_region_end(struct stats *stats, const char *region)
{
    struct region *found = region_find(stats, region);
    if (!found || !found->open)
        return false;
    region_close(stats, found);
    return true;
}

void stats_on_reset(struct stats *stats, void (*reset)(void *context), void *context)
{
    stats->listeners = grown(stats->listeners, stats->listener_count, sizeof *stats->listeners);
    stats->listeners[stats->listener_count++] = (struct listener){reset, context};
}

void stats_reset(struct stats *stats)
{
    free(stats->start);
    stats->start = values_now(stats, NULL);
    for (size_t i = 0; i < stats->region_count; i++) {
        struct region *region = &stats->regions[i];
        if (!region->open)
            continue;
        region->entries = 1;
        memset(region->counted, 0, stats->counter_count * sizeof *region->counted);
        memcpy(region->begin, stats->start, stats->counter_count * sizeof *region->begin);
    }
    for (size_t i = 0; i < stats->listener_count; i++)
        stats->listeners[i].reset(stats->listeners[i].context);
}

bool stats_dump(struct stats *stats)
{
    if (stats->dump_count == STATS_DUMPS) {
        stats->dumps_dropped++;
        return false;
    }
    stats->dumps = grown(stats->dumps, stats->dump_count, sizeof *stats->dumps);
    stats->dumps[stats->dump_count++] = values_now(stats, stats->start);
    return true;
}

/* Returns a copy of `text`; unless it is UTF-8, bytes outside ASCII become \xNN. The caller frees it. */
static char *valid_text(const char *text)
{
    json_t *probe = json_string(text);
    if (probe) {
        json_decref(probe);
        return alloc_text(text);
    }
    char *copy = alloc_checked(malloc(4 * strlen(text) + 1));
    char *to = copy;
    for (const unsigned char *from = (const unsigned char *)text; *from; from++) {
        if (*from < 0x80)
            *to++ = (char)*from;
        else
            to += sprintf(to, "\\x%02x", *from);
    }
    *to = '\0';
    return copy;
}

static json_t *json_text(const char *text)
{
    char *valid = valid_text(text);
    json_t *value = alloc_checked(json_string(valid));
    free(valid);
    return value;
}

static json_t *json_number(uint64_t value)
{
    if (value <= INT64_MAX)
        return alloc_checked(json_integer((json_int_t)value));
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    return alloc_checked(json_string(digits));
}

static json_t *json_quotient(double value)
{
    return isfinite(value) ? alloc_checked(json_real(value)) : json_null();
}

/* Puts value into object under name; takes over the reference to value. */
static void json_put(json_t *object, const char *name, json_t *value)
{
    char *valid = valid_text(name);
    if (json_object_set_new(object, valid, value) != 0)
        alloc_failed();
    free(valid);
}

void stats_fact_text(struct stats *stats, const char *name, const char *value)
{
    json_put(stats->run, name, json_text(value));
}

void stats_fact_number(struct stats *stats, const char *name, uint64_t value)
{
    json_put(stats->run, name, json_number(value));
}

void stats_host_number(struct stats *stats, const char *name, double value)
{
    json_put(stats->host, name, json_quotient(value));
}

static json_t *json_schema(const struct stats *stats)
{
    json_t *schema = alloc_checked(json_object());
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *counter = &stats->counters[i];
        if (!counter_shows(counter))
            continue;
        assert(!json_object_get(schema, counter->name));
        json_t *row = alloc_checked(json_object());
        json_put(row, "unit", json_text(counter->unit));
        json_put(row, "meaning", json_text(counter->meaning));
        json_put(schema, counter->name, row);
    }
    return schema;
}

/* Divides the two values before a ratio; NAN if the divisor is 0. */
static double ratio(const uint64_t *values, size_t i)
{
    uint64_t over = values[i - 2], under = values[i - 1];
    return under ? (double)over / (double)under : (double)NAN;
}

static void json_put_values(json_t *object, const struct stats *stats, const uint64_t *values)
{
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *counter = &stats->counters[i];
        if (!counter_shows(counter))
            continue;
        if (counter->kind == COUNTER)
            json_put(object, counter->name, json_number(values[i]));
        else if (counter->kind == COUNTER_RATIO)
            json_put(object, counter->name, json_quotient(ratio(values, i)));
    }
}

static json_t *json_regions(const struct stats *stats)
{
    json_t *regions = alloc_checked(json_object());
    for (size_t i = 0; i < stats->region_count; i++) {
        json_t *row = alloc_checked(json_object());
        json_put(row, "entries", json_number(stats->regions[i].entries));
        json_put_values(row, stats, stats->regions[i].counted);
        json_put(regions, stats->regions[i].name, row);
    }
    return regions;
}

static json_t *json_dumps_array(const struct stats *stats)
{
    json_t *dumps = alloc_checked(json_array());
    for (size_t i = 0; i < stats->dump_count; i++) {
        json_t *row = alloc_checked(json_object());
        json_put_values(row, stats, stats->dumps[i]);
        if (json_array_append_new(dumps, row) != 0)
            alloc_failed();
    }
    return dumps;
}

static json_t *json_all(struct stats *stats)
{
    json_t *all = alloc_checked(json_object());
    json_t *total = alloc_checked(json_object());
    uint64_t *values = values_now(stats, stats->start);
    json_put_values(total, stats, values);
    free(values);

    json_put(all, "format", json_text("croft statistics 1"));
    json_put(all, "run", json_incref(stats->run));
    json_put(all, "statistics", json_schema(stats));
    json_put(all, "total", total);
    json_put(all, "regions", json_regions(stats));
    json_put(all, "dumps", json_dumps_array(stats));
    if (stats->regions_dropped || stats->dumps_dropped) {
        json_t *dropped = alloc_checked(json_object());
        json_put(dropped, "regions", json_number(stats->regions_dropped));
        json_put(dropped, "dumps", json_number(stats->dumps_dropped));
        json_put(all, "dropped", dropped);
    }
    json_put(all, "host", json_incref(stats->host));
    return all;
}

size_t stats_print(struct stats *stats, const char *pattern, FILE *out)
{
    uint64_t *values = values_now(stats, stats->start);
    size_t printed = 0;
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *counter = &stats->counters[i];
        if (!counter_shows(counter) || (pattern && fnmatch(pattern, counter->name, 0) != 0))
            continue;
        if (counter->kind == COUNTER)
            fprintf(out, "%-32s %16" PRIu64, counter->name, values[i]);
        else if (counter->kind == COUNTER_RATIO)
            fprintf(out, "%-32s %16.6f", counter->name, ratio(values, i));
        else
            continue;
        fprintf(out, " # %s (%s)\n", counter->meaning, counter->unit);
        printed++;
    }
    free(values);
    return printed;
}

/* Fills in *out with a counter and its value: a count, or a quotient. */
static void show(const struct counter *counter, uint64_t count, double quotient, struct stats_value *out)
{
    *out = (struct stats_value){.name = counter->name,
                                .unit = counter->unit,
                                .meaning = counter->meaning,
                                .real = counter->kind == COUNTER_RATIO,
                                .count = count,
                                .quotient = quotient};
}

void stats_each(struct stats *stats, bool (*each)(void *context, const struct stats_value *value),
                void *context)
{
    uint64_t *values = values_now(stats, stats->start);
    bool more = true;
    for (size_t i = 0; more && i < stats->counter_count; i++) {
        const struct counter *counter = &stats->counters[i];
        struct stats_value value;
        if (counter->kind == COUNTER_OPERAND || !counter_shows(counter))
            continue;
        show(counter, values[i], counter->kind == COUNTER_RATIO ? ratio(values, i) : 0, &value);
        more = each(context, &value);
    }
    free(values);
}

/* Returns the count of counter i since the start or the last reset. */
static uint64_t count_of(const struct stats *stats, size_t i)
{
    return counter_now(&stats->counters[i]) - (stats->start ? stats->start[i] : 0);
}

bool stats_find(const struct stats *stats, const char *name, struct stats_value *value)
{
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *counter = &stats->counters[i];
        if (!counter->name || strcmp(counter->name, name) != 0)
            continue;
        const bool real = counter->kind == COUNTER_RATIO;
        const uint64_t operands[] = {real ? count_of(stats, i - 2) : 0, real ? count_of(stats, i - 1) : 0};
        show(counter, real ? 0 : count_of(stats, i), real ? ratio(operands, 2) : 0, value);
        return true;
    }
    return false;
}

bool stats_write_json(struct stats *stats, FILE *out, struct error *err)
{
    for (size_t i = 0; i < stats->region_count; i++)
        if (stats->regions[i].open)
            region_close(stats, &stats->regions[i]);

    json_t *all = json_all(stats);
    errno = 0;
    int failed = json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(all);
    if (failed || fputc('\n', out) == EOF || fflush(out) == EOF)
        return error_set(err, "cannot write the statistics: %s",
                         errno ? strerror(errno) : "the output refuses them");
    return true;
}
