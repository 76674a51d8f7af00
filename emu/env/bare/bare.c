#include "emu/env/bare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/env/bare/fault.h"
#include "emu/env/bare/load.h"
#include "emu/env/bare/snapshot.h"
#include "emu/env/loader/elf.h"
#include "emu/env/loader/image.h"
#include "emu/env/marker.h"
#include "emu/env/semihosting.h"
#include "emu/env/tasks_part.h"
#include "emu/io/console.h"
#include "emu/machine/board/board.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"
#include "isa/include/croft/roi.h"

enum {
    STATUS_LIMIT = 124,
    SLICE = 100, /* ms between the checks whether gdb wants to stop the system */

    /* Simulated time without output after which a guest that waits asks (console.h). Boots of distributions print nothing for
     * 10 s; with a clock, 10 ms take half a minute. */
    PATIENCE = 30 * TIMEBASE_HZ,
    PATIENCE_TIMED = TIMEBASE_HZ / 100,
};

struct bare {
    const struct bare_options *options;
    struct phys all, memory; /* memory: the program's part of `all` */
    struct memory_limit limit;
    struct tasks *tasks; /* NULL: no accelerator takes tasks */
    struct decoder *decoder;
    struct system system;
    struct console *console;
    struct board *board;
    struct marker_regions regions;
    struct semihosting *semihosting;
    uint64_t program_end; /* first address after the program; 0: none */
    uint64_t start;       /* pc at which the harts start */
    uint64_t test_failed; /* code of a failed test reported through HTIF, or 0 */
    struct error failure; /* of the console, if `failed` */
    bool failed;
    bool quit;     /* the user ended the run on the console */
    bool saved;    /* the snapshot has been taken */
    bool save_now; /* the marker for it has been reached */
    struct bare_fault fault;
    bool repeat; /* the hart repeats the semihosting call */
    struct call_input input;
};

/* Called by the board and the console. */
static uint64_t host_ticks(void *context)
{
    return system_time(&((struct bare *)context)->system);
}

/* Called when the guest has set a timer or mtime. Sets the harts' time to mtime. */
static void host_moved(void *context)
{
    struct bare *bare = context;
    if (bare->board)
        system_set_time(&bare->system, board_time(bare->board));
    system_timer_moved(&bare->system);
}

static void host_interrupt(void *context, unsigned hart, unsigned number, bool level)
{
    system_set_interrupt(&((struct bare *)context)->system, hart, number, level);
}

static void host_exit(void *context, int status)
{
    system_exit(&((struct bare *)context)->system, status);
}

static void host_tohost(void *context, uint64_t code)
{
    struct bare *bare = context;
    bare->test_failed = code;
    system_exit(&bare->system, code == 0 ? 0 : 1);
}

static void host_reset(void *context)
{
    system_request_reset(&((struct bare *)context)->system);
}

static struct moment host_moment(void *context)
{
    const struct bare *bare = context;
    return (struct moment){system_instructions(&bare->system), system_time(&bare->system)};
}

/* Hides the progress line before console output. */
static void host_writes(void *context)
{
    system_quiet(&((struct bare *)context)->system);
}

/* Returns the signal that ends the run, or 0. */
static int signal_number(const struct bare *bare)
{
    return bare->options->signal ? *bare->options->signal : 0;
}

static bool host_stops(void *context)
{
    return signal_number(context) != 0;
}

/* Called by semihosting. */
static uint64_t host_now(void *context)
{
    return system_time(&((struct bare *)context)->system) * SYSTEM_TICK_NS;
}

static void host_put(void *context, uint8_t byte)
{
    console_put(((struct bare *)context)->console, byte);
}

/* Returns true if the console runs. Otherwise ends the run and returns false. */
static bool console_runs(struct bare *bare, enum console_state state)
{
    if (state == CONSOLE_RUNNING)
        return true;
    bare->failed = bare->failed || state == CONSOLE_FAILED;
    bare->quit = bare->quit || (state == CONSOLE_QUIT && !bare->system.exited);
    system_exit(&bare->system, state == CONSOLE_QUIT ? 0 : 1);
    return false;
}

static void keep_input(struct call_input *input, uint8_t byte)
{
    if (input->count == input->room) {
        input->room = input->room ? 2 * input->room : 256;
        input->bytes = alloc_resize(input->bytes, input->room);
    }
    input->bytes[input->count++] = byte;
}

/* Waits for a byte of input, while simulated time stands still. If the wait ends because the system is
 * interrupted (under gdb, after each SLICE), the semihosting call is repeated and gets the bytes that it had
 * already read from `input`. */
static int host_get(void *context)
{
    struct bare *bare = context;
    struct call_input *input = &bare->input;
    uint8_t byte;
    if (bare->repeat)
        return -1;
    while (input->next == input->count) {
        if (!console_runs(bare, console_poll(bare->console, &bare->failure))) {
            bare->repeat = bare->quit; /* in a run that begins with the snapshot */
            return -1;
        }
        if (console_get(bare->console, &byte)) {
            keep_input(input, byte);
            continue;
        }
        if (!console_await(bare->console, bare->system.interrupted ? 0 : SLICE))
            return -1;
        if (bare->options->debugged)
            system_interrupt(&bare->system);
        bare->repeat = bare->system.interrupted;
        if (bare->repeat)
            return -1;
    }
    return input->bytes[input->next++];
}

static void tohost_stored(void *context, uint64_t address, uint64_t size)
{
    htif_store(board_htif(((struct bare *)context)->board), address, size);
}

/* Called by the system. */
static enum hart_stop hook_run(void *context, struct hart *hart, uint64_t max_insns)
{
    return log_run(((struct bare *)context)->options->log, hart, max_insns);
}

static void hook_update(void *context)
{
    struct bare *bare = context;
    (void)console_runs(bare, board_poll(bare->board, &bare->failure));
}

static uint64_t hook_next_event(void *context)
{
    return board_next_event(((struct bare *)context)->board);
}

static bool hook_wait(void *context)
{
    return board_wait(((struct bare *)context)->board, -1);
}

static void hook_flush(void *context)
{
    console_flush(((struct bare *)context)->console);
}

static bool hook_marker(void *context, struct hart *hart)
{
    struct bare *bare = context;
    if (hart->marker.code == CROFT_MARKER_FAULT)
        return !bare_fault_take(&bare->fault, hart);
    if (hart->marker.code == CROFT_MARKER_ROI_BEGIN && bare->options->save_at_region && !bare->saved) {
        hart_undo_marker(hart); /* the restored run begins with the region */
        bare->save_now = true;
        system_pause(&bare->system);
        return true;
    }
    marker_serve(&bare->regions, hart);
    return true;
}

static void hook_semihosting(void *context, struct hart *hart)
{
    struct bare *bare = context;
    struct call_input *input = &bare->input;
    uint64_t operation = hart->x[10];
    bare->repeat = false;
    input->next = 0;
    (void)semihosting_call(bare->semihosting, hart);
    if (bare->repeat) {
        hart->x[10] = operation;
        return;
    }
    hart_retire_call(hart);
    input->count -= input->next;
    if (input->count)
        memmove(input->bytes, input->bytes + input->next, input->count);
}

static struct bare_state state_of(struct bare *bare)
{
    return (struct bare_state){.machine = bare->options->machine,
                               .system = &bare->system,
                               .harts = bare->system.count -
                                        tasks_count(bare->options->machine->tree, bare->options->firmware),
                               .board = bare->board,
                               .memory = &bare->memory,
                               .semihosting = bare->semihosting,
                               .input = &bare->input};
}

static bool load_images(struct bare *bare, struct error *err)
{
    const struct bytes bytes = {&bare->memory, &bare->system.bus.holders};
    struct rom_boot boot;
    if (!bare_load(bare->options, &bytes, &boot, &bare->program_end, err))
        return false;
    bare->start = boot.start;
    if (board_set_boot(bare->board, &boot, &bare->start))
        return true;
    /* Without a ROM, the harts start in the program itself, with the registers that the ROM would set. */
    for (unsigned i = 0; i < bare->system.count; i++) {
        bare->system.harts[i].x[10] = i;
        bare->system.harts[i].x[11] = boot.fdt;
    }
    return true;
}

static bool add_semihosting(struct bare *bare, struct error *err)
{
    const struct bare_options *o = bare->options;
    const struct semihosting_options options = {.dir = o->dir,
                                                .arguments = o->arguments,
                                                .argument_count = o->argument_count,
                                                .memory = &bare->memory,
                                                .heap_base = bare->program_end,
                                                .now = host_now,
                                                .exit = host_exit,
                                                .put = host_put,
                                                .get = host_get,
                                                .context = bare};
    bare->semihosting = semihosting_new(&options, err);
    for (unsigned i = 0; i < bare->system.count; i++)
        bare->system.harts[i].semihosting = true;
    return bare->semihosting != NULL;
}

static void watch_tohost(struct bare *bare)
{
    for (unsigned i = 0; i < bare->system.count; i++)
        hart_set_hook(&bare->system.harts[i], htif_tohost(board_htif(bare->board)), tohost_stored, bare);
}

static bool add_htif(struct bare *bare, struct error *err)
{
    const char *file = bare->options->program ? bare->options->program : bare->options->bios;
    uint64_t tohost, fromhost = 0;
    if (!image_symbol(file, "tohost", &tohost))
        return true;
    (void)image_symbol(file, "fromhost", &fromhost);
    if (tohost % 8 != 0)
        return error_set(err,
                         "%s: symbol tohost is at 0x%" PRIx64
                         "; it must be at a multiple of 8 (.balign 8), since its 8 bytes are stored at once",
                         file, tohost);
    if (!board_add_htif(bare->board, tohost, fromhost, err))
        return error_prefix(err, "%s", file);
    watch_tohost(bare);
    return true;
}

static bool restore(struct bare *bare, struct error *err)
{
    const struct bare_state state = state_of(bare);
    if (!bare_read_snapshot(&state, bare->options->restore, err))
        return false;
    if (board_htif(bare->board))
        watch_tohost(bare);
    return true;
}

/* Makes what the harts start with: the snapshot's state, or that of the files out of reset. */
static bool load(struct bare *bare, struct error *err)
{
    if (bare->options->restore)
        return add_semihosting(bare, err) && restore(bare, err);
    if (!add_htif(bare, err) || !load_images(bare, err) || !add_semihosting(bare, err))
        return false;
    for (unsigned i = 0; i < bare->system.count; i++)
        bare->system.harts[i].pc = bare->start;
    return true;
}

/* Makes the accelerators that take tasks. Each has its own interrupt line to the host. */
static bool add_tasks(struct bare *bare, struct error *err)
{
    const struct machine_config *machine = bare->options->machine;
    const struct instance *part = tasks_part(machine->tree);
    struct irq_line done[CROFT_HARTS_MAX];
    unsigned count = tasks_count(machine->tree, bare->options->firmware);
    for (unsigned i = 0; i < count; i++) {
        uint64_t number = ((const struct tasks_kind *)part->kind->tasks)->interrupt(machine->tree) + i;
        if (!board_connect(bare->board, part->path, number, &done[i], err))
            return error_prefix(err, "%s.irq", part->path);
    }
    const struct tasks_options options = {.tree = machine->tree,
                                          .firmware = bare->options->firmware,
                                          .load = elf_load_firmware,
                                          .memory = &bare->all,
                                          .harts = bare->system.harts,
                                          .count = bare->system.count,
                                          .bus = &bare->system.bus,
                                          .done = done};
    bare->tasks = tasks_new(&options, err);
    return bare->tasks || count == 0;
}

static void set_up_hart(const struct bare *bare, struct hart *hart)
{
    hart->hardware_ad = bare->options->machine->mmu->ad == MMU_AD_HARDWARE;
    trap_loop_init(hart, bare->options->trap_loops, bare->system.count > 1);
}

static bool set_up(struct bare *bare, struct error *err)
{
    const struct bare_options *o = bare->options;
    const struct machine_config *machine = o->machine;
    if (!phys_init(&bare->all, machine->memory->base, machine->memory->size, err))
        return false;
    if (o->max_memory && !memory_limit_init(&bare->limit, &bare->all, o->max_memory, err))
        return false;
    bare->memory = tasks_program_memory(machine->tree, o->firmware, &bare->all);
    bare->decoder = decoder_new_for(machine->isa);
    if (!system_init(&bare->system, (unsigned)machine->harts, machine->quantum, &bare->all, bare->decoder,
                     err))
        return false;
    bare->system.max_insns = o->save_at && o->save_at < o->max_insns ? o->save_at : o->max_insns;
    if (bare->limit.memory)
        system_limit_memory(&bare->system, &bare->limit);
    for (unsigned i = 0; i < bare->system.count; i++)
        set_up_hart(bare, &bare->system.harts[i]);
    const struct console_options console = {.input = STDIN_FILENO,
                                            .output = STDOUT_FILENO,
                                            .live = o->debugged,
                                            .patience = machine_timed(machine) ? PATIENCE_TIMED : PATIENCE,
                                            .record = o->record,
                                            .replay = o->replay,
                                            .moment = host_moment,
                                            .writes = host_writes,
                                            .stops = host_stops,
                                            .context = bare};
    bare->console = console_new(&console, err);
    if (!bare->console)
        return false;
    const struct board_host host = {.ticks = host_ticks,
                                    .moved = host_moved,
                                    .interrupt = host_interrupt,
                                    .exit = host_exit,
                                    .tohost = host_tohost,
                                    .reset = host_reset,
                                    .context = bare};
    bare->board = board_new(machine, &bare->system.bus, &host, bare->console, err);
    return bare->board && load(bare, err) && add_tasks(bare, err);
}

struct bare *bare_new(const struct bare_options *options, struct error *err)
{
    struct bare *bare = alloc(1, sizeof *bare);
    bare->options = options;
    bare->regions = (struct marker_regions){.stats = options->stats, .command = "croft run"};
    if (!set_up(bare, err)) {
        struct error ignored;
        (void)bare_free(bare, &ignored);
        return NULL;
    }
    bare->system.hooks = (struct system_hooks){.run = options->log ? hook_run : NULL,
                                               .update = hook_update,
                                               .next_event = hook_next_event,
                                               .wait = hook_wait,
                                               .marker = hook_marker,
                                               .semihosting = hook_semihosting,
                                               .flush = hook_flush,
                                               .context = bare};
    return bare;
}

bool bare_free(struct bare *bare, struct error *err)
{
    if (!bare)
        return true;
    free(bare->input.bytes);
    semihosting_free(bare->semihosting);
    board_free(bare->board);
    bool closed = console_close(bare->console, err);
    system_free(&bare->system);
    tasks_free(bare->tasks);
    decoder_free(bare->decoder);
    memory_limit_free(&bare->limit);
    phys_free(&bare->all);
    free(bare);
    return closed;
}

struct system *bare_system(struct bare *bare)
{
    return &bare->system;
}

struct tasks *bare_tasks(const struct bare *bare)
{
    return bare->tasks;
}

bool bare_restart(void *context, struct error *err)
{
    struct bare *bare = context;
    const struct bare_options *o = bare->options;
    if (o->restore && !o->program && !o->bios)
        return error_set(
            err,
            "the program restarts the machine, for which the snapshot has no files; give croft run those "
            "that it was booted from, beside --restore");
    board_reset(bare->board);
    system_restart(&bare->system, bare->start);
    return load_images(bare, err) && tasks_restart(bare->tasks, err);
}

/* Returns whether the run has come to the place at which the snapshot is wanted; *goes_on: the run continues behind it. */
static bool save_due(struct bare *bare, enum system_stop stop, bool *goes_on)
{
    const struct bare_options *o = bare->options;
    bool early = o->save_at && o->save_at < o->max_insns && stop == SYSTEM_LIMIT;
    bool marked = bare->save_now && stop == SYSTEM_WATCHED && !signal_number(bare);
    bool quits = bare->quit && !bare->failed && stop == SYSTEM_EXIT;
    bool ends = stop == SYSTEM_LIMIT || stop == SYSTEM_WATCHED || stop == SYSTEM_STUCK || quits;
    *goes_on = early || marked;
    return *goes_on || (ends && !o->save_at && !o->save_at_region) || (o->save_at && stop == SYSTEM_LIMIT);
}

bool bare_save(void *context, enum system_stop stop, bool *goes_on, struct error *err)
{
    struct bare *bare = context;
    const struct bare_options *o = bare->options;
    const struct bare_state state = state_of(bare);
    *goes_on = false;
    if (!o->save || bare->saved)
        return true;
    console_flush(bare->console);
    if (!save_due(bare, stop, goes_on))
        return error_set(err, "--save: the run has ended, and its snapshot was not taken%s",
                         o->save_at_region ? ": the program has begun no region of interest (croft/roi.h)"
                         : o->save_at      ? ": it did not come to the instruction of --save-at"
                                           : "; --max-insns or --save-at says when");
    bare->saved = true;
    bare->system.max_insns = o->max_insns;
    return bare_write_snapshot(&state, o->save, err);
}

static void tell_positions(const struct bare *bare)
{
    for (unsigned i = 0; i < bare->system.count; i++)
        fprintf(stderr, "  hart %u: pc 0x%016" PRIx64 ", %" PRIu64 " instructions\n", i,
                bare->system.harts[i].pc, bare->system.harts[i].instret);
}

int bare_finish(struct bare *bare, enum system_stop stop, struct error *err)
{
    char time[QUANTITY_TEXT], size[QUANTITY_TEXT];
    console_flush(bare->console); /* output of the program precedes the messages below */
    if (bare->failed) {
        *err = bare->failure;
        return -1;
    }
    if (!bare_write_signature(bare->options, &(struct bytes){&bare->memory, &bare->system.bus.holders}, err))
        return -1;
    switch (stop) {
    case SYSTEM_LIMIT:
        say("stopped after %" PRIu64 " instructions (--max-insns)", system_instructions(&bare->system));
        tell_positions(bare);
        return STATUS_LIMIT;
    case SYSTEM_EXPIRED:
        quantity_format(QUANTITY_TIME, system_time(&bare->system) * SYSTEM_TICK_NS * 1000000, time);
        say("stopped after %s of simulated time (%s)", time, system_time_limit(&bare->system));
        tell_positions(bare);
        return STATUS_LIMIT;
    case SYSTEM_FULL:
        quantity_format(QUANTITY_SIZE, bare->limit.most, size);
        say("stopped with more than %s of memory in use (--max-memory), by a store to 0x%" PRIx64, size,
            bare->limit.address);
        tell_positions(bare);
        return STATUS_LIMIT;
    case SYSTEM_WATCHED:
        say("stopped by SIG%s", sigabbrev_np(signal_number(bare)));
        tell_positions(bare);
        return 128 + signal_number(bare);
    case SYSTEM_TRAP:
        return bare_fault_report(&bare->fault, &bare->system.harts[bare->system.current], bare->options);
    case SYSTEM_STUCK:
        say("all harts wait for an interrupt, and nothing will ever raise one");
        tell_positions(bare);
        return 1;
    default: break;
    }
    if (bare->test_failed)
        say("test %" PRIu64 " failed (tohost)", bare->test_failed);
    return bare->system.status;
}
