#include "emu/cmd/run/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/version.h"
#include "emu/io/output.h"
#include "emu/machine/system.h"
#include "emu/sim/alloc.h"

/* The instructions of harts by class. Counting visits all blocks, so it is done once per state of the harts. */
struct hart_counts {
    const struct hart *harts;
    unsigned count;
    uint64_t instret; /* of the harts when they were counted; UINT64_MAX: never */
    uint64_t counts[CLASS_COUNT];
    struct class_counter {
        struct hart_counts *all;
        size_t index;
    } classes[CLASS_COUNT];
};

struct report {
    struct stats *stats;
    const char *path;
    int stream;                 /* open file for the statistics instead of the path; -1: none */
    bool made;                  /* report_open() has made the file, which is empty */
    char description[PATH_MAX]; /* path of the machine's description, or empty */
    unsigned hart_count;        /* of harts[] */
    struct hart_counts **harts; /* each with statistics of its own */
    struct hart_counts *others; /* NULL: none */
};

struct report *report_new(const char *path)
{
    struct report *report = alloc(1, sizeof *report);
    report->stats = stats_new();
    report->path = path;
    report->stream = -1;
    return report;
}

void report_to(struct report *report, int stream)
{
    report->path = "-";
    report->stream = stream;
}

void report_free(struct report *report)
{
    stats_free(report->stats);
    for (unsigned i = 0; i < report->hart_count; i++)
        free(report->harts[i]);
    free(report->harts);
    free(report->others);
    if (report->made)
        (void)unlink(report->path);
    free(report);
}

bool report_wanted(const struct report *report)
{
    return report->path;
}

struct stats *report_stats(struct report *report)
{
    return report->stats;
}

bool report_open(struct report *report, struct error *err)
{
    if (!report->path)
        return true;
    if (strcmp(report->path, "-") == 0)
        return true;
    if (snprintf(report->description, sizeof report->description, "%s.machine.yaml", report->path) >=
        (int)sizeof report->description)
        return error_set(err, "--stats: the path is too long");
    return output_try(report->path, &report->made, err) || error_prefix(err, "--stats");
}

static uint64_t instructions_of(const struct hart_counts *all)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < all->count; i++)
        sum += all->harts[i].instret;
    return sum;
}

static uint64_t read_class(const void *context)
{
    const struct class_counter *counter = context;
    struct hart_counts *all = counter->all;
    const uint64_t instret = instructions_of(all);
    if (all->instret != instret) {
        memset(all->counts, 0, sizeof all->counts);
        for (unsigned i = 0; i < all->count; i++) {
            uint64_t counts[CLASS_COUNT];
            hart_count_classes(&all->harts[i], counts);
            for (size_t c = 0; c < CLASS_COUNT; c++)
                all->counts[c] += counts[c];
        }
        all->instret = instret;
    }
    return all->counts[counter->index];
}

static uint64_t read_blocks(const void *context)
{
    return hart_blocks_translated(context);
}

/* Writes the class's name in lower case. */
static void class_name(char *name, size_t size, size_t iclass)
{
    (void)snprintf(name, size, "%s", insn_class_name[iclass]);
    for (char *c = name; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
}

static struct hart_counts *counts_new(const struct hart *harts, unsigned count)
{
    struct hart_counts *all = alloc(1, sizeof *all);
    *all = (struct hart_counts){.harts = harts, .count = count, .instret = UINT64_MAX};
    return all;
}

/* Registers the counts of all classes. */
static void add_classes(struct report *report, struct hart_counts *all, struct scope scope)
{
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        char name[32];
        class_name(name, sizeof name, i);
        all->classes[i] = (struct class_counter){all, i};
        stats_computed(report->stats, scope, name, read_class, &all->classes[i], "instructions",
                       insn_class_text[i]);
    }
}

void report_add_hart(struct report *report, const struct hart *hart)
{
    report->harts = alloc_resize(report->harts, (report->hart_count + 1) * sizeof *report->harts);
    unsigned number = report->hart_count++;
    report->harts[number] = counts_new(hart, 1);
    const struct scope scope = scope_at(NULL, "hart", number);
    stats_counter(report->stats, scope, "instructions", &hart->instret, "instructions",
                  "instructions retired");
    add_classes(report, report->harts[number], scope_enter(&scope, "class"));
    stats_computed(report->stats, scope, "blocks", read_blocks, hart, "blocks",
                   "basic blocks translated to the interpreter's form");
}

void report_add_accelerators(struct report *report, const struct hart *harts, unsigned count)
{
    const struct scope scope = scope_enter(NULL, "accel");
    if (count == 0)
        return;
    report->others = counts_new(harts, count);
    add_classes(report, report->others, scope_enter(&scope, "class"));
}

static bool save_description(const struct report *report, const struct machine_config *machine,
                             struct error *err)
{
    if (!report->description[0])
        return true;
    struct output *out = output_open(report->description, err);
    if (!out)
        return error_prefix(err, "--stats");
    machine_show(machine, output_stream(out));
    return output_keep(out, err) || error_prefix(err, "--stats");
}

static uint64_t instructions(const struct report *report)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < report->hart_count; i++)
        sum += instructions_of(report->harts[i]);
    return sum;
}

static bool write_stream(struct report *report, struct error *err)
{
    FILE *out = fdopen(report->stream, "w");
    bool good = out && stats_write_json(report->stats, out, err);
    if (!out || (fclose(out) != 0 && good))
        good = error_set(err, "the statistics cannot be written: %s", strerror(errno));
    return good;
}

static bool write_stats(struct report *report, struct error *err)
{
    if (report->stream >= 0)
        return write_stream(report, err);
    if (strcmp(report->path, "-") == 0) {
        if (!stats_write_json(report->stats, stdout, err))
            return false;
        return fflush(stdout) == 0 ||
               error_set(err, "--stats: writing to standard output failed: %s", strerror(errno));
    }
    struct output *output = output_open(report->path, err);
    if (!output)
        return error_prefix(err, "--stats");
    if (!stats_write_json(report->stats, output_stream(output), err)) {
        output_drop(output);
        return false;
    }
    report->made = false;
    return output_keep(output, err) || error_prefix(err, "--stats");
}

bool report_write(struct report *report, const struct report_run *run, struct error *err)
{
    struct stats *stats = report->stats;
    if (!report->path)
        return true;
    /* The program's folder is left out, so that a run's file does not depend on where it was started. */
    const char *slash = strrchr(run->program, '/');
    stats_fact_text(stats, "croft", CROFT_VERSION);
    stats_fact_text(stats, "program", slash ? slash + 1 : run->program);
    stats_fact_text(stats, "machine", run->machine->name);
    stats_fact_number(stats, "exit_status", (uint64_t)run->status);
    stats_host_number(stats, "seconds", run->seconds);
    stats_host_number(stats, "mips",
                      run->seconds > 0 ? (double)instructions(report) / run->seconds / 1e6 : 0);
    return write_stats(report, err) && save_description(report, run->machine, err);
}
