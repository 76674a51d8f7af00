#include "emu/env/guest/guest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/guest/kernel_pages.h"
#include "emu/machine/timed.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"
#include "emu/simt/warp_memory.h"

#define NS UINT64_C(1000000) /* fs */

/* A copy of bytes that a call uses. */
struct guest_copy {
    struct guest_copy *next;
    uint64_t address, length;
    bool write;
    uint8_t bytes[];
};

struct user *guest_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                       struct error *err)
{
    struct user *user = alloc(1, sizeof *user);
    user->hart = hart;
    user->host_harts = hart;
    user->host_count = 1;
    user->memory = memory;
    user->options = options;
    user->tasks = options->tasks;
    user->sandbox.root = -1;
    user->symbols = symbols_new(options->program);
    if (asprintf(&user->speaker, "croft: %s", options->program) < 0)
        alloc_failed();
    user->regions = (struct marker_regions){.stats = options->stats, .command = user->speaker};
    files_init(&user->files);
    if (sandbox_open(&user->sandbox, options->dir, err))
        return user;
    guest_free(user);
    return NULL;
}

void guest_free(struct user *user)
{
    for (unsigned i = 0; i < user->refused_count; i++)
        free(user->refused_paths[i]);
    files_free(&user->files);
    heap_free(&user->heap);
    sandbox_close(&user->sandbox);
    symbols_free(user->symbols);
    free(user->cpu);
    free(user->speaker);
    free(user);
}

bool guest_leaves_reserved(const struct user_options *options, uint64_t program_end, uint64_t stack,
                           struct error *err)
{
    if (options->reserved_end == 0 || (program_end <= options->reserved && options->reserved_end <= stack))
        return true;
    return error_set(err,
                     "%s: ends at 0x%" PRIx64 " and its stack begins at 0x%" PRIx64
                     ", but accelerator memory is at 0x%" PRIx64 "-0x%" PRIx64
                     " and must lie between them; change %s.offset or %s.size, or enlarge memory.size",
                     options->program, program_end, stack, options->reserved, options->reserved_end,
                     options->reserved_by, options->reserved_by);
}

/* Makes a copy of bytes that do not lie wholly in memory. If `write` is set, it also writes them back
 * unchanged, so that a holder that refuses the write does so before the call has effects. */
static void *view_elsewhere(struct user *user, uint64_t address, uint64_t length, bool write)
{
    const struct bytes bytes = {user->memory, user->hart->holders};
    if (bytes_reach(&bytes, address, length, true) < length)
        return NULL;
    struct guest_copy *copy = alloc(1, sizeof *copy + length);
    *copy = (struct guest_copy){NULL, address, length, write};
    if (bytes_read(&bytes, address, copy->bytes, length) < length ||
        (write && bytes_write(&bytes, address, copy->bytes, length) < length)) {
        free(copy);
        return NULL;
    }
    struct guest_copy **last = &user->copies;
    while (*last)
        last = &(*last)->next;
    *last = copy;
    return copy->bytes;
}

/* Makes a copy of bytes of stacks or of the scratchpad. NULL: some do not exist, or no thread is calling. */
static void *view_lane(struct user *user, uint64_t address, uint64_t length, bool write)
{
    const struct guest_lane *lane = user->lane;
    if (!lane || length > lane->memory->stack_size + lane->pad->size)
        return NULL;
    struct guest_copy *copy = alloc(1, sizeof *copy + length);
    *copy = (struct guest_copy){user->lane_copies, address, length, write};
    if (!warp_memory_load(lane->memory, lane->pad, address, copy->bytes, length)) {
        free(copy);
        return NULL;
    }
    user->lane_copies = copy;
    return copy->bytes;
}

static void settle_lane(struct user *user)
{
    const struct guest_lane *lane = user->lane;
    for (struct guest_copy *copy = user->lane_copies, *next; copy; copy = next) {
        next = copy->next;
        if (copy->write)
            (void)warp_memory_store(lane->memory, lane->pad, copy->address, copy->bytes, copy->length);
        free(copy);
    }
    user->lane_copies = NULL;
}

static bool is_on_region_stack(const struct user *user, uint64_t address, uint64_t length)
{
    return user->region_stack.size > 0 && phys_at(&user->region_stack, address, length);
}

/* Returns whether the kernel's page tables translate the address. */
static bool is_paged(const struct user *user, uint64_t address, uint64_t length)
{
    return user->pages && !(user->threads && address >= WARP_STACK_WINDOW) &&
           !is_on_region_stack(user, address, length);
}

static void *view(struct user *user, uint64_t address, uint64_t length, bool write)
{
    if (user->threads && address >= WARP_STACK_WINDOW)
        return view_lane(user, address, length, write);
    if (is_on_region_stack(user, address, length))
        return phys_at(&user->region_stack, address, length);
    if (user->pages)
        return kernel_pages_view(user->pages, address, length, write);
    if (write && address < user->write_first)
        return NULL;
    void *at = phys_at(user->memory, address, length);
    if (at && write)
        phys_note_store(user->memory, address, length);
    return at ? at : view_elsewhere(user, address, length, write);
}

const void *guest_readable(struct user *user, uint64_t address, uint64_t length)
{
    return length == 0 ? user->memory->bytes : view(user, address, length, false);
}

void *guest_writable(struct user *user, uint64_t address, uint64_t length)
{
    return length == 0 ? user->memory->bytes : view(user, address, length, true);
}

bool guest_reaches(struct user *user, uint64_t address, uint64_t length, bool write)
{
    if (length == 0)
        return true;
    if (is_paged(user, address, length))
        return kernel_pages_reach(user->pages, address, length, write);
    return view(user, address, length, write);
}

void guest_release(struct user *user)
{
    if (user->pages)
        (void)kernel_pages_settle(user->pages, true);
}

void guest_settle(struct user *user)
{
    const struct bytes bytes = {user->memory, user->hart->holders};
    for (struct guest_copy *copy = user->copies, *next; copy; copy = next) {
        next = copy->next;
        if (copy->write)
            (void)bytes_write(&bytes, copy->address, copy->bytes, copy->length);
        free(copy);
    }
    user->copies = NULL;
    settle_lane(user);
}

int64_t guest_string(struct user *user, uint64_t address, char *text, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        const char *at = guest_readable(user, address + i, 1);
        if (!at)
            return -EFAULT;
        text[i] = *at;
        if (*at == '\0')
            return 0;
    }
    return -ENAMETOOLONG;
}

int64_t guest_put(struct user *user, uint64_t address, const void *bytes, uint64_t length)
{
    void *to = guest_writable(user, address, length);
    if (!to)
        return -EFAULT;
    memcpy(to, bytes, length);
    return 0;
}

uint64_t guest_nanoseconds(const struct user *user)
{
    return user->options->timed ? timed_now(user->options->timed) / NS : user->hart->instret + user->slept;
}

void guest_cpu_init(struct user *user)
{
    if (user->host_count < 2)
        return;
    user->cpu = alloc(user->host_count, sizeof *user->cpu);
    user->cpu[0].runs = true;
}

/* Returns the CPU time of a host's thread. */
static uint64_t cpu_time(const struct user *user, unsigned host)
{
    const struct guest_cpu *cpu = &user->cpu[host];
    const uint64_t now = guest_nanoseconds(user);
    return cpu->ran + (cpu->runs && now > cpu->since ? now - cpu->since : 0);
}

void guest_cpu_run(struct user *user, unsigned host)
{
    if (!user->cpu || user->cpu[host].runs)
        return;
    user->cpu[host].runs = true;
    user->cpu[host].since = guest_nanoseconds(user);
}

void guest_cpu_pause(struct user *user, unsigned host)
{
    if (!user->cpu)
        return;
    user->cpu[host].ran = cpu_time(user, host);
    user->cpu[host].runs = false;
}

void guest_cpu_end(struct user *user, unsigned host)
{
    if (!user->cpu)
        return;
    user->cpu_ended += cpu_time(user, host);
    user->cpu[host] = (struct guest_cpu){0};
}

static unsigned host_of(const struct user *user)
{
    return (unsigned)(user->hart - user->host_harts);
}

uint64_t guest_process_nanoseconds(const struct user *user)
{
    uint64_t sum = user->cpu_ended;
    if (user->options->timed && !user->cpu)
        return guest_nanoseconds(user) - user->slept;
    for (unsigned i = 0; i < user->host_count; i++) /* without a clock, an instruction takes 1 ns */
        sum += user->options->timed ? cpu_time(user, i) : user->host_harts[i].instret;
    return sum;
}

uint64_t guest_thread_nanoseconds(const struct user *user)
{
    if (user->options->timed)
        return user->cpu ? cpu_time(user, host_of(user)) : guest_process_nanoseconds(user);
    return user->hart->instret;
}

void guest_sleep(struct user *user, uint64_t nanoseconds)
{
    if (user->cpu) {
        struct guest_cpu *cpu = &user->cpu[host_of(user)];
        guest_cpu_pause(user, host_of(user));
        cpu->runs = true;
        cpu->since = guest_nanoseconds(user) + nanoseconds;
    }
    user->slept += nanoseconds;
    if (user->options->system)
        system_sleep(user->options->system, nanoseconds);
}

int guest_interrupted(const struct user *user)
{
    const volatile sig_atomic_t *signal = user->options->signal;
    return signal ? *signal : 0;
}

void guest_warn(const struct user *user, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(say_stream(), "croft: %s: warning: %s\n", user->options->program, text);
}

void guest_end(struct user *user, int status)
{
    user->ended = true;
    user->status = status & 0xff;
    if (user->options->system)
        system_exit(user->options->system, user->status);
}
