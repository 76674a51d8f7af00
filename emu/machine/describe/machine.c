#include "emu/machine/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/core/tlb.h"
#include "emu/machine/plan/lines.h"
#include "emu/machine/plan/plan.h"
#include "emu/machine/plan/wiring.h"
#include "emu/machine/system.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/schema/blame.h"
#include "isa/decoder/set.h"

/* RISC-V physical addresses have 56 bits; the limits of memory.base and memory.size keep their sum from wrapping. */
#define PHYSICAL_END (UINT64_C(1) << 56)

static bool is_timed(const struct tree *tree)
{
    const struct core_config *host = tree_config(tree, "host");
    return host && host->core != CORE_FUNCTIONAL;
}

static unsigned copies(const struct tree *tree, const char *path)
{
    const struct instance *instance = tree_find(tree, path);
    return instance ? instance->copies : 0;
}

/* Returns the configuration of the first SIMT part whose field a description or --set sets, or NULL. */
static const struct simt_config *giver(const struct tree *tree, const char *field)
{
    int index = part_field_find(&simt_kind, field);
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &simt_kind && i->given[index])
            return i->config;
    return NULL;
}

/* Returns the capacity of all memories in bytes. *request is the longest request in bytes that all of them
 * accept. */
static uint64_t memory_room(const struct machine_config *config, uint64_t *request)
{
    uint64_t room = 0;
    *request = UINT64_MAX;
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i)) {
        if (i->kind != &dram_kind)
            continue;
        const struct dram_config *dram = i->config;
        uint64_t queue = dram->read_queue < dram->write_queue ? dram->read_queue : dram->write_queue;
        room += dram_config_bytes(dram);
        if (queue * dram->burst_bytes < *request)
            *request = queue * dram->burst_bytes;
    }
    return room;
}

/* Returns the number of threads that have stacks at the same time. Without a clock, only one block runs at a
 * time. */
static uint64_t stack_threads(const struct machine_config *config, bool timed)
{
    return timed ? (uint64_t)config->warps * config->simt->width : config->simt->block_threads;
}

/* Doubles the memory's size until it is at least twice that of all stacks, unless the description sets it.
 * `stack` is the size of one stack in bytes. The limit is the capacity of the memories; without a clock,
 * ROOT_MEMORY_MOST. */
static void grow_memory(const struct machine_config *config, struct memory_config *memory, uint64_t stack,
                        bool timed)
{
    uint64_t request, room = timed ? memory_room(config, &request) : ROOT_MEMORY_MOST;
    uint64_t stacks = stack_threads(config, timed) * stack;
    if (tree_find(config->tree, "memory")->given[part_field_find(&memory_kind, "size")])
        return;
    while (memory->size < 2 * stacks && memory->size < room)
        memory->size = 2 * memory->size < room ? 2 * memory->size : room;
}

/* Returns the bytes of a thread's stack: SIMT_STACK, halved until all stacks together take at most half of
 * memory, but at least SIMT_STACK_LEAST. */
static uint64_t stack_that_fits(const struct machine_config *config, bool timed)
{
    uint64_t threads = stack_threads(config, timed), stack = SIMT_STACK;
    while (stack > SIMT_STACK_LEAST && threads * stack > config->memory->size / 2)
        stack /= 2;
    return stack;
}

/* Sets the fields that all multiprocessors have in common (stack, placement) where the description does not:
 * to the value that it sets for another one, or else the stack's size to one that fits. */
static void settle_simt(const struct machine_config *config, struct memory_config *memory, bool timed)
{
    const struct simt_config *stack = giver(config->tree, "stack"),
                             *placement = giver(config->tree, "placement");
    int stack_at = part_field_find(&simt_kind, "stack"),
        placement_at = part_field_find(&simt_kind, "placement");
    if (!config->simt)
        return;
    grow_memory(config, memory, stack ? stack->stack : SIMT_STACK, timed);
    uint64_t bytes = stack ? stack->stack : stack_that_fits(config, timed);
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i)) {
        struct simt_config *simt = i->config;
        if (i->kind != &simt_kind)
            continue;
        if (!i->given[stack_at])
            simt->stack = bytes;
        if (placement && !i->given[placement_at]) {
            simt->placement = placement->placement;
            memcpy(simt->placement_table, placement->placement_table, sizeof simt->placement_table);
        }
    }
}

static void view(struct machine_config *config, struct tree *tree)
{
    struct root_config *root = tree_root(tree)->config;
    int harts = part_field_find(&root_kind, "harts");
    const struct devices_config *devices = tree_config(tree, "devices");
    struct memory_config *memory = tree_find(tree, "memory")->config;
    *config = (struct machine_config){
        .tree = tree,
        .name = root->name,
        .description = root->description,
        .quantum = root->quantum,
        .host_count = copies(tree, "host"),
        .accel_count = copies(tree, "accel"),
        .host = tree_config(tree, "host"),
        .accel = tree_config(tree, "accel"),
        .memory = memory,
        .stack = tree_config(tree, "user_stack"),
        .mmu = tree_config(tree, "mmu"),
        .devices = {.latency = devices->latency,
                    .clint = tree_config(tree, "devices.clint"),
                    .plic = tree_config(tree, "devices.plic"),
                    .uart = tree_config(tree, "devices.uart")},
    };
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct simt_config *simt = i->config;
        if (i->kind != &simt_kind || simt->count == 0)
            continue;
        config->warps += simt->count * simt->warps;
        config->multiprocessors += simt->count;
        if (!simt->launches)
            continue;
        config->simt = config->simt ? config->simt : simt;
        config->launchers += simt->count;
        uint64_t held = (uint64_t)simt->warps * simt->width;
        held = simt->threads < held ? simt->threads : held;
        config->threads = held > config->threads ? held : config->threads;
    }
    settle_simt(config, memory, is_timed(tree));
    if (!tree_root(tree)->given[harts])
        root->harts = is_timed(tree) ? config->host_count + config->accel_count : 1;
    config->harts = root->harts;
}

bool machine_offloads(const struct machine_config *config)
{
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i))
        if (i->kind->hooks && i->kind->hooks->offloads)
            return true;
    return false;
}

bool machine_by_word(const struct machine_config *config)
{
    const struct instance *level = tree_find(config->tree, "l2");
    return level && level->kind == &llc_kind &&
           ((const struct llc_config *)level->config)->coherence == LLC_DENOVO;
}

const char *machine_checks(const struct machine_config *config)
{
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i))
        if (i->kind->hooks && i->kind->hooks->findings)
            return i->kind->name;
    return NULL;
}

const char *machine_reserved(const struct machine_config *config, uint64_t *first, uint64_t *end)
{
    const struct instance *part = assembly_reserver(config->tree, NULL);
    *first = *end = 0;
    if (!part)
        return NULL;
    assembly_reserved(part, config->memory->base, first, end);
    return part->path;
}

/* Programs find the instructions of one part only. */
static bool check_reserved(const struct machine_config *config, struct error *err)
{
    const struct instance *part = assembly_reserver(config->tree, NULL);
    const struct instance *other = part ? assembly_reserver(config->tree, part) : NULL;
    if (!other)
        return true;
    (void)error_set(err, "a machine has one part of kind %s, and '%s' is it; remove '%s' or '%s'",
                    other->kind->name, part->path, part->path, other->path);
    return tree_at_part(config->tree, other, err);
}

static bool at(const struct machine_config *config, const char *path, const char *field, struct error *err)
{
    return tree_at(config->tree, tree_find(config->tree, path), field, err);
}

static bool check_memory(const struct machine_config *config, struct error *err)
{
    char size[QUANTITY_TEXT], other[QUANTITY_TEXT], source[MACHINE_SOURCE];
    quantity_format(QUANTITY_SIZE, config->memory->size, size);
    if (config->memory->base + config->memory->size > PHYSICAL_END) {
        quantity_format(QUANTITY_ADDRESS, config->memory->base, other);
        (void)error_set(err, "%s from memory.base %s reaches beyond the last physical address, 2^56-1", size,
                        other);
        return at(config, "memory", "size", err);
    }
    if (config->stack->size < config->memory->size)
        return true;
    quantity_format(QUANTITY_SIZE, config->stack->size, other);
    machine_source(config, "user_stack.size", source);
    (void)error_set(err, "%s is not allowed; allowed: more than user_stack.size, which is %s (%s)", size,
                    other, source);
    return at(config, "memory", "size", err);
}

static bool check_harts(const struct machine_config *config, struct error *err)
{
    unsigned cores = config->host_count + config->accel_count;
    if (config->harts > 1 && !config->devices.clint) {
        (void)error_set(
            err,
            "%" PRIu32
            " is not allowed; allowed: 1, or more with devices.clint, whose software interrupts connect "
            "the harts",
            config->harts);
        return at(config, "", "harts", err);
    }
    if (config->harts > ROOT_HARTS) {
        (void)error_set(err, "%" PRIu32 " is not allowed; allowed: 1 to %d", config->harts, ROOT_HARTS);
        return at(config, "", "harts", err);
    }
    if (!machine_timed(config) || config->harts == cores)
        return true;
    (void)error_set(err,
                    "%" PRIu32
                    " is not allowed on a machine with timed cores; allowed: auto, or host.count + "
                    "accel.count, which is %u",
                    config->harts, cores);
    return at(config, "", "harts", err);
}

static bool take_isa(struct machine_config *config, struct error *err)
{
    const struct root_config *root = tree_root(config->tree)->config;
    char message[ISA_MESSAGE];
    if (isa_parse(root->isa, &config->isa, message))
        return true;
    (void)error_set(err, "%s", message);
    return at(config, "", "isa", err);
}

/* Writes the last setting of a memory's capacity, if it is in another file than that of memory.size and later:
 * " (dram.rows: FILE:LINE)". */
static void write_limit(const struct machine_config *config, const struct instance *memory, char *text,
                        size_t size)
{
    static const char *const keys[] = {"standard", "channels", "ranks",    "groups",
                                       "banks",    "rows",     "row_bytes"};
    const struct instance *range = tree_find(config->tree, "memory");
    const unsigned own = range->winner[part_field_find(range->kind, "size")];
    unsigned last = own;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const int field = part_field_find(&dram_kind, keys[i]);
        char source[TREE_SOURCE];
        if (memory->winner[field] <= last || tree_same_file(config->tree, memory->winner[field], own))
            continue;
        last = memory->winner[field];
        tree_source(config->tree, memory, (unsigned)field, source);
        (void)snprintf(text, size, " (%s.%s: %s)", memory->path, keys[i], source);
    }
}

static bool check_room(const struct machine_config *config, uint64_t room, struct error *err)
{
    char size[QUANTITY_TEXT], most[QUANTITY_TEXT], limit[TREE_SOURCE + TREE_NAME];
    const struct instance *memory = NULL;
    unsigned count = 0;
    if (config->memory->size <= room)
        return true;
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i)) {
        if (i->kind != &dram_kind)
            continue;
        memory = memory ? memory : i;
        count++;
    }
    if (!memory) {
        (void)error_set(err, "the machine has no dram");
        return tree_at_part(config->tree, tree_root(config->tree), err);
    }
    quantity_format(QUANTITY_SIZE, config->memory->size, size);
    quantity_format(QUANTITY_SIZE, room, most);
    write_limit(config, memory, limit, sizeof limit);
    if (count > 1)
        (void)error_set(
            err,
            "%s is not allowed; allowed: at most %s, the capacity of %u memories, of which each is as "
            "%s.channels, ranks, groups, banks, rows and row_bytes say%s",
            size, most, count, memory->path, limit);
    else
        (void)error_set(
            err,
            "%s is not allowed; allowed: at most %s, the capacity that %s.channels, ranks, groups, "
            "banks, rows and row_bytes give%s",
            size, most, memory->path, limit);
    return at(config, "memory", "size", err);
}

/* Writes the names of the root's roles that parts of a kind can have: "host and accel". */
static void write_roles(const struct part_kind *kind, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (const struct part_role *role = root_kind.roles; role->name; role++)
        if (role->kind == kind && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s", length ? " and " : "", role->name);
}

/* Checks that parts of fixed kinds, which cores are too, stand only in roles, such as host and accel. */
static bool check_places(const struct machine_config *config, struct error *err)
{
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i)) {
        char roles[TREE_NAME];
        if (i->role || (i->kind != &core_kind && !(i->kind->hooks && i->kind->hooks->fixed)))
            continue;
        write_roles(i->kind, roles, sizeof roles);
        (void)error_set(err, "%s: a part of kind %s is not allowed here; allowed: %s of the machine", i->path,
                        i->kind->name, roles);
        return tree_at_part(config->tree, i, err);
    }
    return true;
}

/* Lets mechanisms check their parts. */
static bool check_mechanisms(const struct machine_config *config, struct error *err)
{
    const struct assembly assembly = machine_assembly(config);
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i))
        if (i->kind->hooks && i->kind->hooks->allows && !i->kind->hooks->allows(&assembly, i, err))
            return false;
    return true;
}

static bool check_cores(const struct machine_config *config, struct error *err)
{
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i)) {
        const struct core_config *core = i->config;
        if (i->kind != &core_kind)
            continue;
        if (core->core != CORE_FUNCTIONAL)
            continue;
        (void)error_set(err, "functional is not allowed beside timed cores; allowed: inorder, ooo");
        return tree_at(config->tree, i, "core", err);
    }
    return true;
}

/* Fields that must be equal in all multiprocessors, because programs see only one kind of multiprocessor. */
#define SIMT_ALIKE(ALIKE)                                                                                    \
    ALIKE(block_threads)                                                                                     \
    ALIKE(scratchpad)                                                                                        \
    ALIKE(registers)                                                                                         \
    ALIKE(placement)
/* Fields that must also be equal in multiprocessors that only execute blocks that others offload to them. */
#define SIMT_SAME(ALIKE)                                                                                     \
    ALIKE(width)                                                                                             \
    ALIKE(stack)                                                                                             \
    ALIKE(stack_near)

/* Returns the first of these fields that differs, or NULL. */
static const char *difference(const struct simt_config *a, const struct simt_config *b)
{
#define ALIKE(key)                                                                                           \
    if (a->key != b->key)                                                                                    \
        return #key;
    SIMT_SAME(ALIKE)
    if (!a->launches)
        return NULL;
    SIMT_ALIKE(ALIKE)
#undef ALIKE
    return NULL;
}

/* Returns whether a last-level cache has the directory of cores' caches: cores are connected to it, or it is
 * the machine's own, which serves the host. */
static bool serves_cores(const struct wiring *wiring, const struct instance *level)
{
    for (size_t i = 0; i < wiring->count; i++)
        if (wiring->wires[i].server == level && wiring->wires[i].client->kind == &core_kind)
            return true;
    return !level->parent->parent;
}

/* Checks keys that a level with a directory of the caches above it cannot have. */
static bool check_level(const struct machine_config *config, const struct wiring *wiring,
                        const struct instance *level, struct error *err)
{
    const struct llc_config *llc = level->config;
    const char *key = llc->write_policy != LLC_WRITE_BACK   ? "write_policy"
                      : llc->interleave == LLC_BY_PARTITION ? "interleave"
                                                            : NULL;
    if (!key || level->parent->kind == &simt_kind || !serves_cores(wiring, level))
        return true;
    (void)error_set(
        err,
        "%s is only allowed for the second level of multiprocessors, or for one at a memory; allowed: %s",
        *key == 'w' ? llc_policy_names[llc->write_policy] : llc_interleave_names[llc->interleave],
        *key == 'w' ? llc_policy_names[LLC_WRITE_BACK] : llc_interleave_names[LLC_BY_LINE]);
    return tree_at(config->tree, level, key, err);
}

static bool check_levels(const struct machine_config *config, const struct wiring *wiring, struct error *err)
{
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i))
        if (i->kind == &llc_kind && !check_level(config, wiring, i, err))
            return false;
    return true;
}

static bool check_simt(const struct machine_config *config, struct error *err)
{
    const struct instance *first = NULL;
    for (const struct instance *i = tree_next(config->tree, NULL); i; i = tree_next(config->tree, i)) {
        const struct simt_config *simt = i->config;
        if (i->kind != &simt_kind || simt->count == 0)
            continue;
        first = first || !simt->launches ? first : i;
        const struct instance *l2 = tree_below(i, &llc_kind);
        if (l2 && !tree_below(i, &crossbar_kind) && ((const struct llc_config *)l2->config)->slices > 1) {
            (void)error_set(
                err, "%" PRIu32 " is not allowed without %s.crossbar, which leads to the slices; allowed: 1",
                ((const struct llc_config *)l2->config)->slices, i->path);
            return tree_at(config->tree, l2, "slices", err);
        }
        const char *key = first ? difference(simt, first->config) : NULL;
        if (key) {
            (void)error_set(err, "differs from %s.%s; all multiprocessors must have the same value",
                            first->path, key);
            return tree_at(config->tree, i, key, err);
        }
    }
    return true;
}

/* Checks the connections between ports, and the caches that these join. plan_check() checks homes and the ways to memory. */
static bool check_ports(const struct machine_config *config, uint64_t request, struct error *err)
{
    struct wiring wiring = {NULL, 0};
    bool planned = (!machine_timed(config) || (wiring_plan(&wiring, config->tree, machine_kinds, err) &&
                                               lines_check(config->tree, &wiring, request, err))) &&
                   check_levels(config, &wiring, err);
    wiring_free(&wiring);
    return planned;
}

static bool check(const struct machine_config *config, struct error *err)
{
    uint64_t request = UINT64_MAX, room = memory_room(config, &request);
    if (machine_timed(config) && (!check_places(config, err) || !check_cores(config, err)))
        return false;
    if (!check_ports(config, request, err))
        return false;
    if (machine_timed(config) && (!check_room(config, room, err) || !check_mechanisms(config, err)))
        return false;
    if (!check_simt(config, err))
        return false;
    return check_memory(config, err) && check_reserved(config, err) && check_harts(config, err);
}

/* A machine and where it is found. */
struct source {
    const char *machine, *text, *shipped_dir;
};

static bool load(struct machine_config *config, const struct source *source, const char *const *sets,
                 size_t set_count, struct error *err)
{
    const struct tree_options options = {.root = &root_kind,
                                         .kinds = machine_kinds,
                                         .machine = source->machine,
                                         .text = source->text,
                                         .shipped_dir = source->shipped_dir,
                                         .sets = sets,
                                         .set_count = set_count,
                                         .timed = is_timed};
    struct tree *tree = tree_load(&options, err);
    if (!tree)
        return false;
    view(config, tree);
    if (take_isa(config, err) && check(config, err)) {
        plan_derive_homes(config);
        return true;
    }
    machine_free(config);
    return false;
}

static bool loads(void *context, const char *const *sets, size_t set_count, struct error *err)
{
    struct machine_config config;
    if (!load(&config, context, sets, set_count, err))
        return false;
    machine_free(&config);
    return true;
}

bool machine_load(struct machine_config *config, const char *machine, const char *shipped_dir,
                  const char *const *sets, size_t set_count, struct error *err)
{
    return machine_load_text(config, machine, NULL, shipped_dir, sets, set_count, err);
}

bool machine_load_text(struct machine_config *config, const char *machine, const char *text,
                       const char *shipped_dir, const char *const *sets, size_t set_count, struct error *err)
{
    struct source source = {machine, text, shipped_dir};
    return load(config, &source, sets, set_count, err) || blame_setting(sets, set_count, loads, &source, err);
}

void machine_free(struct machine_config *config)
{
    tree_free(config->tree);
    config->tree = NULL;
}

void machine_show(const struct machine_config *config, FILE *out)
{
    tree_show(config->tree, out);
}

void machine_source(const struct machine_config *config, const char *name, char buffer[MACHINE_SOURCE])
{
    tree_source_of(config->tree, name, buffer);
}
