/* croft neural: observes functions marked with CROFT_APPROX, trains networks that approximate them, and writes these as C. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cc/units.h"
#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/neural/generate.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

enum { OUTPUT, SEED, SAMPLES, EPOCHS, FOLDS, TOPOLOGY, BIAS, ITERATIONS, QUALITY, SLACK };

enum { COLUMN_CLOCKS = 3 }; /* tCCDL of GDDR5: from one RD4 to the next */

static const struct option_row rows[] = {
    [OUTPUT] = {"output", 'o', "FILE",
                "write the networks to FILE (default: the source's name with .network.h)"},
    [SEED] = {"seed", 's', "NUMBER", "choose samples and first weights by this number (default 1)"},
    [SAMPLES] = {"samples", 0, "COUNT", "take at most so many of the observed calls (default 8192)"},
    [EPOCHS] = {"epochs", 0, "COUNT",
                "train the chosen network so long (default 1000); the search takes a fifth"},
    [FOLDS] = {"folds", 0, "COUNT", "parts of the cross-validation, 2 to 10 (default 4)"},
    [TOPOLOGY] = {"topology", 't', "N-...-N", "inputs, up to two hidden layers, outputs: do not search"},
    [BIAS] = {"bias", 0, NULL, "give each layer a constant input of 1"},
    [ITERATIONS] = {"iterations", 'i', "COUNT", "shifts of a SHA weight, 1 to 5 (default 4)"},
    [QUALITY] = {"quality", 'q', "PERCENT",
                 "choose the shifts by layer: the fewest clocks with at most so much error of the range"},
    [SLACK] = {"slack", 0, "PERCENT",
               "take the smallest network whose error is so near the least (default 10)"},
};

const struct option_set neural_interface = {
    .command = "croft neural",
    .synopsis = "[options] FILE.c [ARGS...]",
    .summary = "Trains neural networks that stand for functions marked with CROFT_APPROX.",
    .example = "croft neural kernel.c 1000 && "
               "croft cc -DCROFT_APPROX_BY=CROFT_BY_NETWORK -include kernel.network.h kernel.c",
    .notes = "FILE.c is compiled (croft cc -O2, -lm) and run with ARGS, which are to make it call the "
             "functions with\n"
             "inputs for training; it can open files in a folder of its own only. <croft/approx.h> has the "
             "marks.\n"
             "Topologies have hidden layers of 2, 4, 8, 16 or 32 neurons. libfann trains by RPROP, with the "
             "weights'\n"
             "words in the loop. The same source, arguments and options give the same bytes.\n",
    .stop_at_argument = true,
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line, and the work's files. */
struct request {
    const char *source, *output;
    char **arguments; /* of the program, after the first argument */
    size_t argument_count;
    uint64_t samples, epochs, folds, iterations, seed, slack;
    double quality; /* part of the range; 0: not given */
    bool iterates;  /* --iterations is given */
    struct network topology;
    char folder[PATH_MAX], named[PATH_MAX];
    const char *function; /* that is trained */
    bool terminal, shown;
    char shifts[64]; /* what the output says of iterations */
};

/* Reading the command line. */

static int number(int option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || parsed < least || parsed > most)
        return options_usage_error(&neural_interface, "--%s is %s; it must be a number from %llu to %llu",
                                   rows[option].name, text_quote(text).text, (unsigned long long)least,
                                   (unsigned long long)most);
    *value = parsed;
    return OPTIONS_TAKEN;
}

static int take_topology(struct network *topology, const char *text)
{
    struct error err;
    unsigned count = 0;
    const char *at = text;
    char *end = NULL;
    while (count <= NETWORK_LAYERS && *at >= '0' && *at <= '9') {
        unsigned long size = strtoul(at, &end, 10);
        topology->size[count++] = size < UINT_MAX ? (unsigned)size : UINT_MAX;
        at = *end == '-' ? end + 1 : end;
    }
    topology->layers = count ? count - 1 : 0;
    if (count < 2 || *at || at[-1] == '-')
        return options_usage_error(&neural_interface,
                                   "--topology is %s; it must be 2 to 4 numbers, as in 6-8-1",
                                   text_quote(text).text);
    if (!network_check(topology, &err))
        return options_usage_error(&neural_interface, "--topology is %s: %s", text_quote(text).text,
                                   err.text);
    return OPTIONS_TAKEN;
}

/* Reads "5%" or "2.5". */
static int take_quality(double *quality, const char *text)
{
    char *end;
    const double percent = strtod(text, &end);
    end += *end == '%';
    if (end == text || *end || !(percent >= 0.01 && percent <= 100))
        return options_usage_error(&neural_interface,
                                   "--quality is %s; it must be a number of percent from 0.01 to 100",
                                   text_quote(text).text);
    *quality = percent / 100;
    return OPTIONS_TAKEN;
}

static int take(void *context, int option, const char *value)
{
    struct request *r = context;
    switch (option) {
    case OUTPUT: r->output = value; break;
    case SEED: return number(option, value, 0, UINT32_MAX, &r->seed);
    case SAMPLES: return number(option, value, SAMPLES_LEAST, 1 << 20, &r->samples);
    case EPOCHS: return number(option, value, 1, 1000000, &r->epochs);
    case FOLDS: return number(option, value, 2, SEARCH_FOLDS, &r->folds);
    case ITERATIONS: r->iterates = true; return number(option, value, 1, ARITH_SHIFTS, &r->iterations);
    case QUALITY: return take_quality(&r->quality, value);
    case SLACK: return number(option, value, 0, 1000, &r->slack);
    case BIAS: r->topology.bias = true; break;
    case TOPOLOGY: return take_topology(&r->topology, value);
    default:
        if (!r->source)
            r->source = value;
        else
            r->arguments[r->argument_count++] = (char *)(uintptr_t)value;
    }
    return OPTIONS_TAKEN;
}

/* Observing. */

static bool make_folder(struct request *r, struct error *err)
{
    const char *where = getenv("TMPDIR");
    where = where && *where ? where : "/tmp";
    int length = snprintf(r->folder, sizeof r->folder, "%s/croft-neural.XXXXXX", where);
    if (length > 0 && (size_t)length < sizeof r->folder && mkdtemp(r->folder))
        return true;
    r->folder[0] = '\0';
    return error_set(err, "cannot make a folder for temporary files in %s: %s", where, strerror(errno));
}

static void remove_folder(const struct request *r)
{
    char path[2 * PATH_MAX];
    DIR *folder = *r->folder ? opendir(r->folder) : NULL;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (snprintf(path, sizeof path, "%s/%s", r->folder, entry->d_name) > 0)
            (void)unlink(path);
    if (folder)
        (void)closedir(folder);
    if (*r->folder)
        (void)rmdir(r->folder);
}

/* Runs a command of this croft. An error message names `what`. */
static bool run_croft(char *const *words, const char *what, struct error *err)
{
    int status = cc_run_command(words, err);
    if (status > 0)
        return error_set(err, "%s failed with status %d", what, status);
    return status == 0;
}

/* Compiles the source with an observer in each marked function, and runs it. */
static bool observe(struct request *r, struct error *err)
{
    char self[] = "/proc/self/exe", cc[] = "cc", run[] = "run", optimize[] = "-O2", output[] = "-o",
         math[] = "-lm", observer[] = "-DCROFT_APPROX_BY=CROFT_BY_OBSERVER", dir[] = "--dir",
         program[PATH_MAX + 16];
    (void)snprintf(program, sizeof program, "%s/observed", r->folder);
    char *const compile[] = {self,   cc,      optimize, observer, (char *)(uintptr_t)r->source,
                             output, program, math,     NULL};
    if (!run_croft(compile, "its compilation", err))
        return false;
    char **words = alloc(r->argument_count + 6, sizeof *words);
    char *const first[] = {self, run, dir, r->folder, program};
    memcpy(words, first, sizeof first);
    memcpy(words + 5, r->arguments, r->argument_count * sizeof *words);
    bool done = run_croft(words, "the program that calls the functions", err);
    free(words);
    return done;
}

/* Returns the names of the observed functions, sorted; ends in NULL. */
static char **list_functions(const struct request *r, size_t *count)
{
    static const char ending[] = ".samples";
    struct dirent **entries = NULL;
    int found = scandir(r->folder, &entries, NULL, alphasort);
    char **names = alloc((size_t)(found > 0 ? found : 0) + 1, sizeof *names);
    *count = 0;
    for (int i = 0; i < found; i++) {
        size_t length = strlen(entries[i]->d_name), cut = sizeof ending - 1;
        if (length > cut && strcmp(entries[i]->d_name + length - cut, ending) == 0) {
            names[*count] = alloc_text(entries[i]->d_name);
            names[(*count)++][length - cut] = '\0';
        }
        free(entries[i]);
    }
    free(entries);
    return names;
}

/* Training and reporting. */

static void tell(void *context, unsigned done, unsigned all, const struct network *network)
{
    struct request *r = context;
    char text[NETWORK_TEXT];
    if (!r->terminal)
        return;
    fprintf(stderr, "\r\033[K%s: training %u of %u, %s in %s", r->function, done + 1, all,
            network_text(network, text), arith_name(network->kind));
    r->shown = true;
}

static void hide(struct request *r)
{
    if (r->shown)
        fprintf(stderr, "\r\033[K");
    r->shown = false;
}

static void print_candidates(const struct search_result *result, bool bias)
{
    char text[NETWORK_TEXT];
    printf("  %-24s %8s %10s\n", "topology", "weights", "error");
    for (unsigned i = 0; i < result->count; i++) {
        const struct search_candidate *c = &result->candidates[i];
        struct network n = {.layers = c->layers, .bias = bias};
        memcpy(n.size, c->size, sizeof n.size);
        printf("  %-24s %8zu %9.2f%%%s\n", network_text(&n, text), network_weights(&n),
               100 * c->error / SAMPLES_SPAN, i == result->chosen && result->count > 1 ? "  chosen" : "");
    }
}

static void print_result(const char *name, const struct samples *s, const struct search_result *result)
{
    bool bias = result->of[0].network.bias;
    printf("%s: %zu of %zu calls, %u inputs, %u outputs%s\n", name, s->count, s->observed, s->inputs,
           s->outputs, bias ? ", biases" : "");
    print_candidates(result, bias);
    printf("  %-10s %10s %10s %12s %8s %8s %8s\n", "arithmetic", "error", "relative", "image bytes", "clocks",
           "columns", "writes");
    for (int kind = 0; kind < ARITH_KINDS; kind++) {
        const struct search_network *of = &result->of[kind];
        struct network_work work = network_work(&of->network);
        const uint64_t columns = COLUMN_CLOCKS * (work.input_reads + work.weight_reads);
        printf("  %-10s %9.2f%% %9.2f%% %12zu %8llu %8llu %8llu\n", arith_name((enum arith_kind)kind),
               100 * of->error / SAMPLES_SPAN, 100 * of->relative_error,
               network_image_words(&of->network) * sizeof(uint32_t), (unsigned long long)work.clocks,
               (unsigned long long)columns, (unsigned long long)work.output_writes);
    }
}

static void print_quality(const struct request *r, const struct search_result *result)
{
    const struct search_quality *quality = &result->quality;
    const struct network *n = &result->of[ARITH_SHA].network;
    printf("  iterations by layer:");
    for (unsigned layer = 0; layer < n->layers; layer++)
        printf(" %u", quality->iterations[layer]);
    printf("; %llu clocks, %llu with %d everywhere; error %.2f%% of at most %g%% in the calls that choose\n",
           (unsigned long long)network_work(n).clocks, (unsigned long long)quality->most_clocks, ARITH_SHIFTS,
           100 * quality->error, 100 * r->quality);
}

static bool reaches_quality(const struct request *r, const struct search_result *result, struct error *err)
{
    if (result->quality.error <= r->quality)
        return true;
    return error_set(
        err,
        "%s: an error of %g%% is not reached; the least one is %.2f%%: train longer (--epochs), with "
        "other hidden layers (--topology) or with --bias",
        r->function, 100 * r->quality, 100 * result->quality.error);
}

/* Refuses a topology that does not fit the function. */
static bool fits(const struct request *r, const struct samples *s, struct error *err)
{
    const struct network *t = &r->topology;
    if (!t->layers || (t->size[0] == s->inputs && t->size[t->layers] == s->outputs))
        return true;
    return error_set(err, "--topology has %u inputs and %u outputs, but %s has %u and %u", t->size[0],
                     t->size[t->layers], r->function, s->inputs, s->outputs);
}

/* Warns of a value whose scale a few calls spoil. */
static void warn_of_outlier(const struct request *r, const struct samples *s)
{
    const struct samples_outlier *o = &s->outlier;
    const bool input = o->at < s->inputs;
    if (o->found)
        fprintf(
            stderr,
            "croft neural: warning: %s[%u] of %s is %g in some call, but from %g to %g in 98 of 100: scaled "
            "by "
            "its whole range, these are all alike to the network; let the program limit it before the call\n",
            input ? "in" : "out", input ? o->at : o->at - s->inputs, r->function, (double)o->value,
            (double)o->low, (double)o->high);
}

static bool train_function(struct request *r, FILE *file, struct error *err)
{
    char path[2 * PATH_MAX], name[PATH_MAX];
    struct samples samples;
    struct search_result *result = alloc(1, sizeof *result);
    struct search_options options = {.seed = r->seed,
                                     .folds = (unsigned)r->folds,
                                     .epochs = (unsigned)r->epochs,
                                     .iterations = (unsigned)r->iterations,
                                     .quality = r->quality,
                                     .slack = (double)r->slack / 100,
                                     .topology = r->topology,
                                     .tell = tell,
                                     .context = r};
    (void)snprintf(path, sizeof path, "%s/%s.samples", r->folder, r->function);
    (void)snprintf(name, sizeof name, "calls of %s", r->function);
    bool done = samples_read(&samples, path, name, r->samples, r->seed, err) && fits(r, &samples, err);
    if (done) {
        warn_of_outlier(r, &samples);
        search_network(result, &samples, &options);
        hide(r);
        print_result(r->function, &samples, result);
        if (r->quality > 0)
            print_quality(r, result);
        done = r->quality == 0 || reaches_quality(r, result, err);
    }
    if (done) {
        generate_network(file, r->function, &samples, result);
    }
    samples_free(&samples);
    free(result);
    return done;
}

/* Trains all observed functions and writes them to the output, which is not left half written. */
static bool train_functions(struct request *r, struct error *err)
{
    size_t count;
    char **names = list_functions(r, &count);
    bool done = count > 0 || error_set(err, "no function marked with CROFT_APPROX was called");
    FILE *file = done ? fopen(r->output, "we") : NULL;
    if (done && !file)
        done = error_set(err, "%s: %s", r->output, strerror(errno));
    if (file)
        fprintf(file,
                "/* Written by croft neural: seed %llu, %s. Include it before %s (-include). */\n"
                "#include <stdint.h>\n",
                (unsigned long long)r->seed, r->shifts, r->source);
    for (size_t i = 0; i < count; i++) {
        r->function = names[i];
        done = done && train_function(r, file, err);
        free(names[i]);
    }
    free(names);
    if (file && fclose(file) != 0 && done)
        done = error_set(err, "%s: %s", r->output, strerror(errno));
    if (file && !done)
        (void)unlink(r->output);
    return done;
}

/* Names the output by the source: kernel.c becomes kernel.network.h in the current folder. */
static void name_output(struct request *r)
{
    const char *slash = strrchr(r->source, '/'), *name = slash ? slash + 1 : r->source,
               *dot = strrchr(name, '.');
    (void)snprintf(r->named, sizeof r->named, "%.*s.network.h", (int)(dot ? dot - name : (long)strlen(name)),
                   name);
    r->output = r->output ? r->output : r->named;
}

int cmd_neural(int argc, char **argv)
{
    struct request *r = alloc(1, sizeof *r);
    struct error err;
    *r = (struct request){
        .samples = 8192, .epochs = 1000, .folds = 4, .iterations = 4, .seed = 1, .slack = 10};
    r->arguments = alloc((size_t)argc + 1, sizeof *r->arguments);
    r->terminal = isatty(STDERR_FILENO) == 1;
    int status = options_parse(&neural_interface, argc, argv, take, r);
    if (status == OPTIONS_TAKEN && !r->source)
        status = options_usage_error(&neural_interface, "no C file given");
    if (status == OPTIONS_TAKEN && r->quality > 0 && r->iterates)
        status = options_usage_error(&neural_interface,
                                     "--quality chooses the iterations; leave --iterations out");
    if (status == OPTIONS_TAKEN) {
        name_output(r);
        if (r->quality > 0)
            (void)snprintf(r->shifts, sizeof r->shifts, "iterations of SHA for an error of %g%%",
                           100 * r->quality);
        else
            (void)snprintf(r->shifts, sizeof r->shifts, "%llu iterations of SHA",
                           (unsigned long long)r->iterations);
        bool done = make_folder(r, &err) && observe(r, &err) && train_functions(r, &err);
        hide(r);
        if (!done)
            fprintf(stderr, "croft neural: %s: %s\n", r->source, err.text);
        remove_folder(r);
        status = done ? 0 : 1;
    }
    free(r->arguments);
    free(r);
    return status;
}
