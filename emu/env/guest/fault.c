#include "emu/env/guest/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/core/tasks.h"
#include "emu/debug/backtrace.h"
#include "emu/debug/core_dump.h"
#include "emu/env/guest/fault_print.h"
#include "emu/env/guest/kernel_pages.h"
#include "emu/env/guest/region.h"
#include "emu/hart/probe.h"
#include "emu/io/output.h"
#include "emu/machine/timed.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"
#include "emu/simt/warp_memory.h"
#include "isa/decoder/set.h"
#include "isa/disasm.h"
#include "isa/include/croft/stash_check.h"

enum { SP = 2 };

static void print_memory(const struct user *user, uint64_t first)
{
    fprintf(say_stream(), "0x%" PRIx64 "-0x%" PRIx64, first, user->memory->base + user->memory->size - 1);
}

/* If the address is in the window of a block's scratchpad, prints that the scratchpad has no byte there and
 * returns true. */
static bool print_window(uint64_t address)
{
    if (address - WARP_SHARED_WINDOW > UINT32_MAX)
        return false;
    fprintf(say_stream(), "beyond the end of the block's scratchpad, whose window begins at 0x%" PRIx64,
            WARP_SHARED_WINDOW);
    return true;
}

/* If a thread of a kernel has used thread-local storage in a program of Linux (host/simt/linux/entry.S), says so and returns true. */
static bool print_thread_local(const struct user *user, uint64_t address)
{
    enum { REACH = 1 << 20 };
    const uint64_t base = UINT64_C(5) << 44;
    if (!user->launched || address - (base - REACH) >= 2 * REACH)
        return false;
    fprintf(say_stream(), "in thread-local storage, which threads of kernels in programs of Linux do not "
                          "have: kernels cannot use errno, "
                          "stdio or malloc()");
    return true;
}

static void print_store(const struct user *user, const struct fault_place *place, uint64_t address)
{
    fault_print_access(place, insn_table[place->insn.id].iclass == CLASS_AMO ? "atomic access" : "store",
                       "to", address);
    fprintf(say_stream(), ", ");
    if (print_window(address) || print_thread_local(user, address))
        return;
    if (user->pages) {
        fprintf(say_stream(), "%s", kernel_pages_refusal(user->pages, address, CROFT_RANGE_WRITE));
        return;
    }
    if (phys_at(user->memory, address, fault_access_size(place)))
        fprintf(say_stream(), "which is read-only; stores are allowed at ");
    else
        fprintf(say_stream(), "outside of the memory; stores are allowed at ");
    print_memory(user, user->write_first);
}

static void print_jump(const struct user *user, uint64_t address)
{
    fprintf(say_stream(), "jump to 0x%" PRIx64 ", ", address);
    if (user->pages) {
        fprintf(say_stream(), "%s", kernel_pages_refusal(user->pages, address, CROFT_RANGE_EXECUTE));
        return;
    }
    fprintf(say_stream(), "outside of the memory ");
    print_memory(user, user->memory->base);
}

static void print_load(const struct user *user, const struct fault_place *place, uint64_t address)
{
    fault_print_access(place, "load", "from", address);
    fprintf(say_stream(), ", ");
    if (print_window(address) || print_thread_local(user, address))
        return;
    if (user->pages) {
        fprintf(say_stream(), "%s", kernel_pages_refusal(user->pages, address, CROFT_RANGE_READ));
        return;
    }
    fprintf(say_stream(), "outside of the memory ");
    print_memory(user, user->memory->base);
}

static void print_misaligned(const struct fault_place *place, uint64_t address)
{
    bool custom = insn_table[place->insn.id].iclass == CLASS_CUSTOM;
    fault_print_access(place, custom ? "misaligned access" : "misaligned atomic access", "to", address);
}

/* Returns whether library functions have the named function execute their order point. */
static bool serves_library(const char *name)
{
    return name && (strcmp(name, "__getreent") == 0 || strcmp(name, "__errno") == 0 ||
                    strncmp(name, "__retarget_lock", strlen("__retarget_lock")) == 0);
}

/* Prints which function has executed an order point, and where the region calls it. */
static void print_order(const struct user *user, unsigned accelerator, uint64_t pc)
{
    uint64_t frames[BACKTRACE_MAX], offset;
    char text[SYMBOLS_TEXT];
    size_t count = region_walk(user, accelerator, pc, frames, BACKTRACE_MAX), i = 0;
    const char *name = symbols_name(user->symbols, pc, &offset);
    while (i + 1 < count && serves_library(name))
        name = symbols_name(user->symbols, frames[++i] - 1, &offset);
    fprintf(say_stream(), "library call in a region of CROFT_FOR_TASKS: %s",
            name ? name : "an unnamed function");
    if (i + 1 < count)
        fprintf(say_stream(), ", called at 0x%" PRIx64 ", %s", frames[i + 1],
                symbols_describe_return(user->symbols, frames[i + 1], text, sizeof text));
    fprintf(say_stream(), "; the driver does not order tasks: move the call out of the region");
}

/* Prints where a region was left, which its accelerator has noticed a few instructions later. */
static void print_left(const struct user *user, uint64_t from)
{
    const struct fault_place place = fault_look_at(user->hart, from);
    char text[SYMBOLS_TEXT];
    fprintf(say_stream(),
            "the region was not left by its end, at the call depth at which it began, but at 0x%" PRIx64
            ", %s: %s",
            from, symbols_describe(user->symbols, from, text, sizeof text), place.text);
}

/* Returns whether an instruction is of the vector extension: arithmetic, or a load or store with one of its widths. */
static bool is_vector(uint32_t bits)
{
    enum { LOADS = 0x07, STORES = 0x27, ARITHMETIC = 0x57, OPCODE = 0x7f, WIDTH = 7, WIDTH_SHIFT = 12 };
    const uint32_t opcode = bits & OPCODE, width = bits >> WIDTH_SHIFT & WIDTH;
    return opcode == ARITHMETIC || ((opcode == LOADS || opcode == STORES) && (width == 0 || width > 4));
}

/* Names an instruction that the chosen extensions, or all machines, leave out. */
static void print_lacking(const struct user *user, const struct fault_place *place)
{
    if (place->insn.id == INSN_illegal && is_vector(place->insn.bits))
        fprintf(say_stream(),
                ", of the vector extension V, which no machine has: build the program and its libraries "
                "with -march=rv64gc");
    struct decoder *all = decoder_new();
    const struct insn insn = decode(all, place->insn.bits);
    char text[128], isa[ISA_STRING];
    decoder_free(all);
    if (insn.id == INSN_illegal || place->insn.id != INSN_illegal)
        return;
    disasm(&insn, user->hart->pc, text, sizeof text);
    text[strcspn(text, "\t")] = '\0';
    isa_string(decoder_extensions(user->hart->decoder), isa);
    fprintf(say_stream(), ", which is %s: the harts are %s", text, isa);
}

/* Prints the rule that a stash instruction, or an access to mapped local memory, has broken. */
static void print_stash(uint64_t trap)
{
    enum { D, X, P };
    static const struct {
        const char *subject, *rule;
        int format;
    } errors[] = {
#define CROFT_STASH_ERROR(number, name, subject, format, rule) [number] = {subject, rule, format},
#include "isa/include/croft/stash_error.def"
    };
    const uint64_t number = trap & ((1 << CROFT_STASH_NUMBER_BITS) - 1);
    /* the value's upper bits are cut; only 2^64 - 1, an end that does not exist, has them */
    const uint64_t cut = trap >> CROFT_STASH_NUMBER_BITS;
    const uint64_t value = cut == UINT64_MAX >> CROFT_STASH_NUMBER_BITS ? UINT64_MAX : cut;
    if (number == 0 || number >= sizeof errors / sizeof *errors)
        fprintf(say_stream(), "exception %d, value 0x%" PRIx64, CROFT_STASH_CAUSE, trap);
    else
        fprintf(say_stream(),
                errors[number].format == X ? "%s is 0x%" PRIx64 "%s%s: %s" : "%s is %" PRIu64 "%s%s: %s",
                errors[number].subject, value, errors[number].format == P ? ", " : "",
                errors[number].format == P ? croft_stash_parameter(value) : "", errors[number].rule);
}

/* Prints the cause in one line and returns the signal that Linux would send. accelerator: NULL if the host
 * trapped; pc: of the trap. */
static int print_cause(const struct user *user, const struct fault_place *place, const unsigned *accelerator,
                       uint64_t pc)
{
    const struct trap *trap = &user->hart->trap;
    char text[TASKS_TEXT];
    if (accelerator && user->tasks->ops->overflow(user->tasks, *accelerator, trap, text)) {
        fprintf(say_stream(), "%s", text);
        return SIGSEGV;
    }
    if ((int)trap->cause == CROFT_STASH_CAUSE) {
        print_stash(trap->value);
        return SIGSEGV;
    }
    switch (trap->cause) {
    case TRAP_ILLEGAL_INSTRUCTION:
        fprintf(say_stream(), "illegal instruction 0x%0*" PRIx32, place->insn.length == 2 ? 4 : 8,
                place->insn.bits);
        print_lacking(user, place);
        return SIGILL;
    case TRAP_ECALL_USER:
        fprintf(say_stream(), "system call in a region: the host does not serve it");
        return SIGSYS;
    case TRAP_NUCD_ORDER:
        if (accelerator)
            print_order(user, *accelerator, pc);
        return SIGSYS;
    case TRAP_NUCD_LEFT: print_left(user, trap->value); return SIGILL;
    case TRAP_BREAKPOINT: fprintf(say_stream(), "breakpoint (ebreak)"); return SIGTRAP;
    case TRAP_FETCH_ACCESS:
    case TRAP_FETCH_MISALIGNED:
    case TRAP_FETCH_PAGE: print_jump(user, trap->value); return SIGSEGV;
    case TRAP_STORE_ACCESS:
    case TRAP_STORE_PAGE: print_store(user, place, trap->value); return SIGSEGV;
    case TRAP_LOAD_MISALIGNED:
    case TRAP_STORE_MISALIGNED: print_misaligned(place, trap->value); return SIGBUS;
    default: print_load(user, place, trap->value); return SIGSEGV;
    }
}

/* Prints the place of the trap. If accelerator is not NULL, the trap was in a task, and the hart's pc is at
 * the instruction that began it. */
static void print_place(const struct user *user, const struct fault_place *place, uint64_t pc,
                        const unsigned *accelerator)
{
    char text[SYMBOLS_TEXT];
    fault_print_place(user->symbols, place, pc);
    if (user->hart->hartid > 0 && !user->launched)
        fprintf(say_stream(), "  in the thread on host %" PRIu32 "\n", user->hart->hartid);
    if (accelerator)
        fprintf(say_stream(), "  on accelerator %u, in the task of the %s at 0x%" PRIx64 ", %s\n",
                *accelerator, user->tasks->instruction, user->hart->pc,
                symbols_describe(user->symbols, user->hart->pc, text, sizeof text));
}

static void print_registers(const struct user *user, const struct fault_place *place)
{
    const uint64_t *x = user->hart->x;
    fault_print_registers(x, place);
    bool other_stack = (user->hosts && user->hart->hartid > 0) ||
                       (user->pages && kernel_pages_allow(user->pages, x[SP], CROFT_RANGE_WRITE));
    if (x[SP] < user->stack_first && x[SP] >= user->memory->base && !other_stack)
        fprintf(say_stream(),
                "  sp is below 0x%" PRIx64 ", the end of the stack's %" PRIu64
                " KiB: endless recursion, or is user_stack.size too small?\n",
                user->stack_first, user->options->stack_size / 1024);
}

/* Prints registers and frames of the region that has stopped at the accelerator, if its registers are known. */
static void print_region(const struct user *user, const struct fault_place *place, unsigned accelerator,
                         uint64_t pc)
{
    uint64_t frames[BACKTRACE_MAX];
    struct tasks_region region;
    if (!tasks_region(user->tasks, accelerator, &region))
        return;
    fault_print_registers(region.x, place);
    size_t count = region_walk(user, accelerator, pc, frames, BACKTRACE_MAX);
    fprintf(say_stream(), "  backtrace of the region:\n");
    fault_print_frames(user->symbols, frames, count);
}

/* Reads a page for the core file. The firmware's memory, which holds the regions' stacks, is at its physical
 * addresses, everything else at the program's addresses. */
static bool read_page(void *context, uint64_t address, uint8_t bytes[CORE_DUMP_PAGE])
{
    const struct user *user = context;
    const struct tasks *tasks = user->tasks;
    const uint8_t *at = tasks ? phys_at(&tasks->memory, address, CORE_DUMP_PAGE) : NULL;
    if (!at)
        return hart_memory_read(user->hart, address, bytes, CORE_DUMP_PAGE);
    memcpy(bytes, at, CORE_DUMP_PAGE);
    return true;
}

static struct core_thread thread_of(unsigned number, const struct hart *hart)
{
    return (struct core_thread){number, hart->pc, hart->x, hart->f,
                                (uint32_t)(hart->frm << 5 | hart->fflags)};
}

/* Makes the threads of a core file. As in the gdb server, host h is thread h + 1, and the accelerators come after the hosts. The one that
 * has trapped is first: the host, or if a task has trapped, its accelerator with the region's registers. Others may be in firmware or
 * kernel. */
static struct core_thread *make_threads(const struct user *user, const unsigned *accelerator, uint64_t pc,
                                        struct tasks_region *region, size_t *count)
{
    const struct tasks *tasks = user->tasks;
    const unsigned hosts = user->host_count, accelerators = tasks ? tasks->count : 0;
    struct core_thread *threads = alloc(hosts + accelerators, sizeof *threads);
    unsigned first = (unsigned)(user->hart - user->host_harts);
    for (unsigned i = 0; i < hosts; i++)
        threads[i] = thread_of(i + 1, &user->host_harts[i]);
    for (unsigned i = 0; i < accelerators; i++)
        threads[hosts + i] = thread_of(hosts + i + 1, &tasks->harts[i]);
    if (accelerator && tasks_region(tasks, *accelerator, region)) {
        first = hosts + *accelerator;
        threads[first].pc = pc;
        threads[first].x = region->x;
    }
    const struct core_thread trapped = threads[first];
    threads[first] = threads[0];
    threads[0] = trapped;
    *count = hosts + accelerators;
    return threads;
}

static bool write_core(struct user *user, int number, const unsigned *accelerator, uint64_t pc,
                       struct error *err)
{
    const struct tasks *tasks = user->tasks;
    struct tasks_region region;
    size_t count;
    struct core_thread *threads = make_threads(user, accelerator, pc, &region, &count);
    struct core_range ranges[2] = {{user->memory->base, user->memory->base + user->memory->size}};
    if (tasks)
        ranges[1] = (struct core_range){tasks->memory.base, tasks->memory.base + tasks->memory.size};
    const struct core_dump core = {.signal = number,
                                   .threads = threads,
                                   .thread_count = count,
                                   .ranges = ranges,
                                   .range_count = tasks ? 2 : 1,
                                   .read = read_page,
                                   .context = user};
    struct output *file = output_open(user->options->core, err);
    bool written = file && core_dump_write(output_stream(file), &core);
    free(threads);
    if (!file || written)
        return file && output_keep(file, err);
    (void)error_set(err, "cannot write '%s': %s", user->options->core,
                    errno == ESPIPE ? "it is no regular file" : strerror(errno));
    output_drop(file);
    return false;
}

/* Writes the core file if the user asked for one. */
static void dump(struct user *user, int number, const unsigned *accelerator, uint64_t pc)
{
    struct error err;
    if (user->options->core && !write_core(user, number, accelerator, pc, &err))
        fprintf(say_stream(), "croft: --core: %s\n", err.text);
}

/* Reports a trap at pc: on that accelerator if `accelerator` is not NULL, else on the host. */
static int report(struct user *user, const unsigned *accelerator, uint64_t pc)
{
    struct fault_place place = fault_look_at(user->hart, pc);
    fprintf(say_stream(), "croft: %s: ", user->options->program);
    int number = print_cause(user, &place, accelerator, pc);
    fprintf(say_stream(), "\n");
    print_place(user, &place, pc, accelerator);
    if (accelerator)
        print_region(user, &place, *accelerator, pc);
    else
        print_registers(user, &place);
    fault_print_backtrace(user->symbols, user->hart);
    dump(user, number, accelerator, pc);
    return 128 + number;
}

int fault_report_task(struct user *user, unsigned accelerator, uint64_t pc)
{
    return report(user, &accelerator, pc);
}

int fault_report(struct user *user)
{
    unsigned accelerator;
    uint64_t pc = user->hart->pc;
    bool task = tasks_fault(user->tasks, user->hart, &accelerator, &pc);
    return report(user, task ? &accelerator : NULL, pc);
}

int fault_signal(struct user *user, int number)
{
    const char *name = sigabbrev_np(number);
    fprintf(say_stream(), "croft: %s: ended itself by signal %d%s%s\n", user->options->program, number,
            name ? ", SIG" : "", name ? name : "");
    fault_print_backtrace(user->symbols, user->hart);
    dump(user, number, NULL, 0);
    return 128 + number;
}

int fault_interrupt(struct user *user)
{
    char text[SYMBOLS_TEXT];
    int number = guest_interrupted(user);
    fprintf(say_stream(), "croft: %s: stopped by SIG%s at 0x%" PRIx64 ", %s\n", user->options->program,
            sigabbrev_np(number), user->hart->pc,
            symbols_describe(user->symbols, user->hart->pc, text, sizeof text));
    return 128 + number;
}

int fault_asleep(struct user *user, bool several)
{
    if (several) {
        fprintf(
            say_stream(),
            "croft: %s: all threads sleep forever: they wait for each other, or for a time after the end of "
            "simulated time\n",
            user->options->program);
        return 1;
    }
    fprintf(say_stream(), "croft: %s: sleeps forever: it would wake up after the end of simulated time\n",
            user->options->program);
    return 1;
}

static int stopped_after(struct user *user, const char *count, const char *what)
{
    char text[SYMBOLS_TEXT];
    fprintf(say_stream(), "croft: %s: stopped after %s %s at 0x%" PRIx64 ", %s\n", user->options->program,
            count, what, user->hart->pc, symbols_describe(user->symbols, user->hart->pc, text, sizeof text));
    return USER_STATUS_LIMIT;
}

int fault_memory(struct user *user, uint64_t pc)
{
    char text[SYMBOLS_TEXT], size[QUANTITY_TEXT];
    quantity_format(QUANTITY_SIZE, user->options->max_memory, size);
    if (user->hart->instret == 0) {
        fprintf(say_stream(),
                "croft: %s: stopped before it began: what is loaded takes more than %s of memory "
                "(--max-memory)\n",
                user->options->program, size);
        return USER_STATUS_LIMIT;
    }
    fprintf(say_stream(),
            "croft: %s: stopped with more than %s of memory in use (--max-memory) at 0x%" PRIx64 ", %s\n",
            user->options->program, size, pc, symbols_describe(user->symbols, pc, text, sizeof text));
    return USER_STATUS_LIMIT;
}

int fault_limit(struct user *user)
{
    char count[QUANTITY_TEXT];
    quantity_format(QUANTITY_COUNT, user->options->max_insns, count);
    return stopped_after(user, count, "instructions (--max-insns)");
}

int fault_time(struct user *user)
{
    const struct timed *timed = user->options->timed;
    char time[QUANTITY_TEXT];
    quantity_format(QUANTITY_TIME, timed_now(timed) / 1000000 * 1000000, time);
    char what[64];
    (void)snprintf(what, sizeof what, "of simulated time (%s)", timed_limit(timed));
    return stopped_after(user, time, what);
}
