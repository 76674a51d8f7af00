/* Fuzzes the library: calls in any order, with any arguments, on models that live, were freed or never were, and calls from
 * callbacks. Each returns a status of the header with its message, time never runs backwards, every request and packet that was taken
 * is answered once, and a model that runs for ever comes to rest. The input is a program: a byte chooses the call, the next ones
 * its arguments. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/api/undercroft.h"

enum { MODELS = 6, STALE = 8, CALLS = 400, INNER = 3, WORDS = 6 };

static const uint64_t code_base = 0x80000000;

enum kind { NONE, MEMORY, NETWORK, MACHINE };

struct model {
    struct fuzz *fuzz;
    struct undercroft *handle;
    enum kind kind;
    uint64_t taken, answered, now;
    bool refused; /* a packet was refused, so the network may stand still */
};

struct fuzz {
    const uint8_t *at, *end;
    struct model models[MODELS];
    struct undercroft *stale[STALE]; /* freed */
    unsigned stales, depth, calls;
    char program[64];
};

static void check(bool good, const char *what, const struct undercroft_error *error)
{
    if (good)
        return;
    (void)fprintf(stderr, "api: %s: %d %s\n", what, error->status, error->text);
    abort();
}

static uint64_t number(struct fuzz *fuzz, uint64_t below)
{
    uint64_t value = 0;
    for (uint64_t limit = below; limit > 0 && fuzz->at < fuzz->end; limit >>= 8)
        value = value << 8 | *fuzz->at++;
    return below ? value % below : value;
}

/* A number that is mostly small, sometimes any. */
static uint64_t any(struct fuzz *fuzz, uint64_t below)
{
    uint64_t value = 0;
    if (number(fuzz, 8) != 0)
        return number(fuzz, below);
    for (unsigned i = 0; i < 8; i++)
        value = value << 8 | number(fuzz, 256);
    return value;
}

/* A status is one of the header's, and has a message if it is an error. */
static int fine(const struct model *model, int status, const struct undercroft_error *error)
{
    check(status >= UNDERCROFT_PROGRAM && status <= UNDERCROFT_FULL, "no status of the header", error);
    check(status == UNDERCROFT_FULL || status == error->status, "status and error differ", error);
    check((status < 0) == (error->text[0] != '\0'), "an error without a message, or a message without one",
          error);
    check(!strchr(error->text, '\n'), "a message of several lines", error);
    check(!model || model->kind != NONE || status == UNDERCROFT_HANDLE || status == UNDERCROFT_OK,
          "a call of a model that is not there", error);
    return status;
}

static void act(struct fuzz *fuzz);

/* Callbacks make calls, too. */
static void inside(struct model *model)
{
    struct fuzz *fuzz = model->fuzz;
    if (fuzz->depth >= INNER || fuzz->at >= fuzz->end)
        return;
    fuzz->depth++;
    for (uint64_t calls = number(fuzz, 3); calls > 0; calls--)
        act(fuzz);
    fuzz->depth--;
}

static void answer(void *context, uint64_t tag, uint64_t now)
{
    struct model *model = context;
    const struct undercroft_error none = {0};
    check(tag < model->taken + 2, "an answer to nothing", &none);
    check(now >= model->now, "time runs backwards", &none);
    model->now = now;
    model->answered++;
    inside(model);
}

static void room(void *context, uint64_t now)
{
    (void)now;
    inside(context);
}

static int deliver(void *context, const struct undercroft_packet *packet, uint64_t now)
{
    struct model *model = context;
    if (number(model->fuzz, 8) == 1) {
        model->refused = true;
        return 1;
    }
    answer(context, packet->tag, now);
    return 0;
}

static void node_room(void *context, uint32_t node, uint32_t message_class, uint64_t now)
{
    (void)node, (void)message_class;
    room(context, now);
}

static int each(void *context, const struct undercroft_statistic *statistic)
{
    struct fuzz *fuzz = context;
    return statistic->name[0] == '\0' || number(fuzz, 16) == 1;
}

static const char *const memories[] = {
    "dram: {standard: ddr3_1600k, channels: 2}\n",
    "dram: {standard: hbm2, refresh: bank, page: closed}\n",
    "dram: {standard: lpddr5_6400, read_queue: 1, write_queue: 1, write_high: 1, write_low: 0}\n",
    "dram: {standard: gddr6_14, page: timeout, row_timeout: 100 ns}\n",
    "dram: {standard: none}\n",
    ""};
static const char *const networks[] = {
    "network: {topology: mesh, size: 2x2, clock: 1 GHz, wires: on_chip, vcs: 2, buffer: 1, classes: 2}\n",
    "network: {topology: ring, nodes: 5, clock: 1 GHz, wires: on_chip, vcs: 4, buffer: 4, classes: 1}\n",
    "network: {topology: mesh, size: 0x2}\n"};
static const char *const sets[] = {
    "dram.tCL=20 ns", "dram.channels=3", "network.buffer=8", "host.count=2", "=", "a.b=c", "dram.map=R"};
static const char *const machines[] = {
    "host: {core: functional}\nmemory: {size: 16 MiB}\nuser_stack: {size: 256 KiB}\n",
    "host: {core: inorder}\ndram: {standard: ddr3_1600k}\nmemory: {size: 16 MiB}\nuser_stack: {size: 64 "
    "KiB}\n"};

static struct undercroft_source source_of(struct fuzz *fuzz, const char *const *texts, unsigned count,
                                          const char **set)
{
    *set = sets[number(fuzz, sizeof sets / sizeof *sets)];
    struct undercroft_source source = {.size = sizeof source, .text = texts[number(fuzz, count)]};
    source.sets = number(fuzz, 4) ? NULL : set;
    source.set_count = source.sets ? 1 : number(fuzz, 32) == 1;
    if (number(fuzz, 32) == 1)
        source.size = number(fuzz, 256);
    if (number(fuzz, 32) == 1)
        source.file = "nothing.yaml";
    return source;
}

static int make(struct fuzz *fuzz, struct model *model, struct undercroft_error *error)
{
    const char *set;
    const enum kind kind = (enum kind)(MEMORY + number(fuzz, 3));
    if (kind == MEMORY) {
        const struct undercroft_source source =
            source_of(fuzz, memories, sizeof memories / sizeof *memories, &set);
        const struct undercroft_memory_client client = {sizeof client, model, answer,
                                                        number(fuzz, 2) ? room : NULL};
        *model = (struct model){.fuzz = fuzz, .kind = kind};
        return undercroft_memory_new(&model->handle, &source, &client, error);
    }
    if (kind == NETWORK) {
        const struct undercroft_source source =
            source_of(fuzz, networks, sizeof networks / sizeof *networks, &set);
        const struct undercroft_network_client client = {sizeof client, model, deliver,
                                                         number(fuzz, 2) ? node_room : NULL};
        *model = (struct model){.fuzz = fuzz, .kind = kind};
        return undercroft_network_new(&model->handle, &source, (uint32_t)any(fuzz, 6), &client, error);
    }
    const struct undercroft_source source =
        source_of(fuzz, machines, sizeof machines / sizeof *machines, &set);
    const struct undercroft_program program = {.size = sizeof program,
                                               .program = number(fuzz, 8) ? fuzz->program : "/dev/null",
                                               .share = "examples"};
    *model = (struct model){.fuzz = fuzz, .kind = kind};
    return undercroft_machine_new(&model->handle, &source, &program, error);
}

static void new_model(struct fuzz *fuzz, struct model *model)
{
    struct undercroft_error error;
    if (model->kind != NONE)
        return;
    if (fine(NULL, make(fuzz, model, &error), &error) != UNDERCROFT_OK) {
        check(!model->handle, "a handle of a model that was not made", &error);
        model->kind = NONE;
    }
}

static void free_model(struct fuzz *fuzz, struct model *model)
{
    struct undercroft_error error;
    struct undercroft *handle = model->handle;
    const enum kind kind = model->kind;
    const int status = fine(model, undercroft_free(handle, &error), &error);
    if (kind == NONE || status != UNDERCROFT_OK)
        return;
    model->kind = NONE;
    model->handle = NULL;
    fuzz->stale[fuzz->stales++ % STALE] = handle;
}

/* Runs for ever: then everything is answered, unless a packet was refused, or a callback is under way. */
static void run_out(struct model *model)
{
    struct undercroft_error error;
    const int status = fine(model, undercroft_run(model->handle, UNDERCROFT_FOREVER, &error), &error);
    if (status == UNDERCROFT_OK && model->kind != MACHINE && !model->refused)
        check(model->taken == model->answered, "not everything is answered", &error);
}

static void run_some(struct fuzz *fuzz, struct model *model, uint64_t how)
{
    struct undercroft_error error;
    uint64_t now = 0, later;
    (void)fine(model, undercroft_now(model->handle, &now, &error), &error);
    switch (how) {
    case 0: (void)fine(model, undercroft_tick(model->handle, &error), &error); break;
    case 1: (void)fine(model, undercroft_step(model->handle, &error), &error); break;
    case 2:
        (void)fine(model, undercroft_machine_run(model->handle, number(fuzz, 5000), &error), &error);
        break;
    case 3:
        if (model->kind != MACHINE) /* its program has no end */
            run_out(model);
        break;
    default: {
        const bool back = number(fuzz, 8) == 0;
        const uint64_t span = model->kind == MACHINE ? number(fuzz, 1 << 30) : any(fuzz, 1 << 30);
        const uint64_t until = back && span <= now ? now - span : now + span;
        const int status = fine(model, undercroft_run(model->handle, until, &error), &error);
        check(until >= now || status != UNDERCROFT_OK, "time runs backwards", &error);
    }
    }
    if (undercroft_now(model->handle, &later, NULL) == UNDERCROFT_OK)
        check(later >= now, "time runs backwards", &error);
}

static void send(struct fuzz *fuzz, struct model *model)
{
    struct undercroft_error error;
    model->taken++; /* an answer may come in the call */
    int status;
    if (number(fuzz, 2)) {
        const uint64_t address = any(fuzz, 1 << 30), bytes = any(fuzz, 256);
        status = undercroft_memory_request(model->handle, (int)number(fuzz, 3), address, bytes, model->taken,
                                           &error);
    } else {
        const struct undercroft_packet packet = {model->taken, (uint32_t)any(fuzz, 6), (uint32_t)any(fuzz, 6),
                                                 (uint32_t)any(fuzz, 5), (uint32_t)any(fuzz, 3)};
        status = undercroft_network_send(model->handle, number(fuzz, 16) == 1 ? NULL : &packet, &error);
    }
    if (fine(model, status, &error) != UNDERCROFT_OK)
        model->taken--;
}

static void ask(struct fuzz *fuzz, const struct model *model)
{
    static const char *const names[] = {
        "dram.reads", "dram.energy", "network.packets", "hart.0.instructions", "", "x.y", "dram."};
    struct undercroft_error error;
    struct undercroft_statistic statistic;
    uint64_t value;
    uint32_t nodes;
    struct undercroft *handle = model->handle;
    (void)fine(model, undercroft_next(handle, &value, &error), &error);
    (void)fine(model, undercroft_period(handle, &value, &error), &error);
    (void)fine(model, undercroft_memory_size(handle, &value, &error), &error);
    (void)fine(model, undercroft_network_nodes(handle, &nodes, &error), &error);
    if (fine(model, undercroft_memory_outstanding(handle, &value, &error), &error) == UNDERCROFT_OK)
        check(value <= model->taken - model->answered, "more is under way than was taken", &error);
    (void)fine(
        model,
        undercroft_statistic(handle, names[number(fuzz, sizeof names / sizeof *names)], &statistic, &error),
        &error);
    (void)fine(model, undercroft_statistics(handle, each, fuzz, &error), &error);
    (void)fine(model,
               undercroft_network_unblock(handle, (uint32_t)any(fuzz, 6), (uint32_t)any(fuzz, 3), &error),
               &error);
}

static void ask_machine(struct fuzz *fuzz, const struct model *model)
{
    struct undercroft_error error;
    struct undercroft_machine_state state;
    uint64_t words[WORDS] = {0};
    const uint64_t address = code_base + any(fuzz, 8192), bytes = number(fuzz, sizeof words + 1);
    struct undercroft *handle = model->handle;
    (void)fine(model, undercroft_machine_state(handle, &state, &error), &error);
    (void)fine(
        model,
        undercroft_machine_register(handle, (uint32_t)any(fuzz, 3), (uint32_t)any(fuzz, 70), words, &error),
        &error);
    (void)fine(model, undercroft_machine_read(handle, address, words, bytes, &error), &error);
    (void)fine(model, undercroft_machine_write(handle, address, words, bytes, &error), &error);
}

/* A handle that was freed, or NULL, unless a new model has its address. */
static void use_stale(struct fuzz *fuzz)
{
    struct model gone = {.fuzz = fuzz, .handle = fuzz->stale[number(fuzz, STALE)]};
    for (unsigned i = 0; i < MODELS; i++)
        if (fuzz->models[i].kind != NONE && fuzz->models[i].handle == gone.handle)
            return;
    if (number(fuzz, 2))
        ask(fuzz, &gone);
    else
        run_some(fuzz, &gone, number(fuzz, 6));
    free_model(fuzz, &gone);
}

static void act(struct fuzz *fuzz)
{
    struct model *model = &fuzz->models[number(fuzz, MODELS)];
    if (fuzz->calls++ > CALLS)
        return;
    switch (number(fuzz, 16)) {
    case 0:
    case 1: new_model(fuzz, model); break;
    case 2: free_model(fuzz, model); break;
    case 3: use_stale(fuzz); break;
    case 4: ask(fuzz, model); break;
    case 5: ask_machine(fuzz, model); break;
    case 6:
    case 7:
    case 8: run_some(fuzz, model, number(fuzz, 8)); break;
    default:
        for (uint64_t requests = 1 + number(fuzz, 12); requests > 0; requests--)
            send(fuzz, model);
    }
}

/* A program of a loop, as an ELF file: the smallest that loads. */
static void write_program(char *path, size_t size)
{
    static const uint32_t code[] = {0x00150513, 0x00a12023, 0xff9ff06f}; /* a0++; store a0; again */
    unsigned char file[64 + 56 + sizeof code] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    const uint64_t entry = code_base + 64 + 56, first = code_base, length = sizeof file, offset = 64,
                   align = 4096;
    const uint16_t type[2] = {2, 243}, sizes[3] = {64, 56, 1};
    const uint32_t version = 1, flags = 4, load[2] = {1, 7};
    memcpy(file + 16, type, sizeof type);
    memcpy(file + 20, &version, 4);
    memcpy(file + 24, &entry, 8);
    memcpy(file + 32, &offset, 8);
    memcpy(file + 48, &flags, 4);
    memcpy(file + 52, sizes, sizeof sizes);
    memcpy(file + 64, load, sizeof load);
    memcpy(file + 80, &first, 8);
    memcpy(file + 88, &first, 8);
    memcpy(file + 96, &length, 8);
    memcpy(file + 104, &length, 8);
    memcpy(file + 112, &align, 8);
    memcpy(file + 120, code, sizeof code);
    const int memory = memfd_create("program", MFD_CLOEXEC);
    if (memory < 0 || write(memory, file, sizeof file) != (ssize_t)sizeof file)
        abort();
    (void)snprintf(path, size, "/proc/self/fd/%d", memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char program[64];
    if (!program[0])
        write_program(program, sizeof program);
    struct fuzz fuzz = {.at = data, .end = data + size};
    memcpy(fuzz.program, program, sizeof program);
    while (fuzz.at < fuzz.end)
        act(&fuzz);
    for (unsigned i = 0; i < MODELS; i++) {
        struct model *model = &fuzz.models[i];
        if (model->kind == MEMORY)
            run_out(model);
        free_model(&fuzz, model);
    }
    return 0;
}
