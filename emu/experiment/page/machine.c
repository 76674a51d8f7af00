/* The parts of a page that show machines. */
#include "emu/experiment/page/parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/core/config.h"
#include "emu/dram/config.h"
#include "emu/machine/describe/graph.h"
#include "emu/machine/machine.h"
#include "emu/sim/alloc.h"
#include "emu/simt/multiprocessor.h"

/* Creates a file for writing; `path` is a template with a suffix (mkostemps()). Returns NULL if it cannot be created; then
 * nothing is left behind. */
static FILE *create(char *path, int suffix)
{
    int fd = mkostemps(path, suffix, O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && !file) {
        (void)close(fd);
        (void)unlink(path);
    }
    return file;
}

/* Loads a machine from its text through a file, because machine_load() reads files. */
static bool load(const char *text, const char *machines, struct machine_config *machine)
{
    char path[] = "/tmp/croft-report-XXXXXX.yaml";
    struct error ignored;
    FILE *file = create(path, 5);
    if (!file)
        return false;
    bool good = fputs(text, file) >= 0;
    good = fclose(file) == 0 && good && machine_load(machine, path, machines, NULL, 0, &ignored);
    (void)unlink(path);
    return good;
}

/* Lets Graphviz draw a graph. Returns the picture, which the caller frees; NULL: Graphviz is not there. */
static char *draw(const struct machine_config *machine)
{
    char *picture = NULL, *end;
    size_t size, got;
    char buffer[4096], path[] = "/tmp/croft-report-XXXXXX.dot", command[128];
    struct error ignored;
    FILE *dot = create(path, 4);
    if (!dot)
        return NULL;
    bool good = graph_dot(machine, dot, &ignored);
    good = fclose(dot) == 0 && good;
    (void)snprintf(command, sizeof command, "dot -Tsvg %s 2>/dev/null", path);
    FILE *in = good ? popen(command, "re") : NULL, *out = open_memstream(&picture, &size);
    if (!out)
        alloc_failed();
    while (in && (got = fread(buffer, 1, sizeof buffer, in)) > 0)
        (void)fwrite(buffer, 1, got, out);
    good = in && pclose(in) == 0;
    if (fclose(out) != 0)
        alloc_failed();
    (void)unlink(path);
    end = good ? strstr(picture, "<svg") : NULL; /* without the prologue, which names a DTD on the net */
    if (end)
        memmove(picture, end, strlen(end) + 1);
    else {
        free(picture);
        picture = NULL;
    }
    return picture;
}

void page_graph(json_t *data, const char *name, const char *text, const char *machines)
{
    struct machine_config machine;
    struct error ignored;
    char *tree = NULL;
    size_t size;
    if (!load(text, machines, &machine))
        return;
    char *picture = draw(&machine);
    FILE *out = open_memstream(&tree, &size);
    if (!out)
        alloc_failed();
    (void)graph_text(&machine, out, &ignored);
    if (fclose(out) != 0)
        alloc_failed();
    json_t *graph = json_pack("{s:s, s:s}", "name", name, picture ? "svg" : "text", picture ? picture : tree);
    if (graph)
        (void)json_array_append_new(json_object_get(data, "graphs"), graph);
    free(tree);
    free(picture);
    machine_free(&machine);
}

/* Adds the peak rates of one part. */
static void add_peak(const struct instance *part, double *bandwidth, double *burst, double *issue)
{
    if (strcmp(part->kind->name, "dram") == 0) {
        const struct dram_config *dram = part->config;
        *burst = (double)dram->burst_bytes;
        *bandwidth += dram->channels * (double)dram->burst_bytes / ((double)dram->tBURST * 1e-15);
    } else if (strcmp(part->kind->name, "core") == 0) {
        const struct core_config *core = part->config;
        if (core->core == CORE_INORDER)
            *issue += (double)core->width * (double)core->clock;
        else if (core->core == CORE_OOO)
            *issue += (double)core->decode_width * (double)core->clock;
    } else if (strcmp(part->kind->name, "simt") == 0) {
        const struct simt_config *simt = part->config;
        *issue += (double)simt->count * (double)simt->schedulers * (double)simt->width * (double)simt->clock;
    }
}

json_t *page_machine(const char *text, const char *machines)
{
    struct machine_config machine;
    double bandwidth = 0, burst = 0, issue = 0;
    if (load(text, machines, &machine)) {
        struct instance *part = NULL;
        while ((part = tree_next(machine.tree, part)) != NULL)
            add_peak(part, &bandwidth, &burst, &issue);
        machine_free(&machine);
    }
    return json_pack("{s:f, s:f, s:f}", "bandwidth", bandwidth, "burst", burst, "issue", issue);
}
