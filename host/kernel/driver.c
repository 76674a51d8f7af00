#include "host/kernel/driver.h"

#include <croft/firmware/map.h>

#include "host/kernel/blocks.h"
#include "host/kernel/device.h"
#include "host/kernel/memory.h"
#include "host/kernel/operands.h"
#include "host/kernel/ranges.h"
#include "isa/csr.h"

/* scause of a call and of page faults (privileged specification, table 4.2) */
enum { CAUSE_CALL = 8, CAUSE_FETCH_PAGE = 12, CAUSE_LOAD_PAGE = 13, CAUSE_STORE_PAGE = 15 };

enum { JOBS = 64 };

/* A task of the current call. */
struct job {
    struct operands operands;
    uint64_t number;   /* number among its device's tasks, from 1 */
    uint64_t deadline; /* in ticks of `time` */
    unsigned device, lines;
    bool complete;
};

struct unit {
    uint64_t sent, done;
    unsigned lines; /* lines of its queue that tasks in flight may occupy */
    uint64_t since; /* when it was last seen to have completed a task, in ticks of `time` */
};

static struct {
    struct kernel_driver *boot;
    bool open;       /* a call has begun and not ended */
    uint64_t mapped; /* set of mapped devices */
    struct unit units[DEVICES];
    struct job jobs[JOBS];
    unsigned jobs_used;
} driver;

void driver_init(struct kernel_driver *boot)
{
    driver.boot = boot;
}

static uint64_t read_cycle(void)
{
    uint64_t cycles;
    __asm__ volatile("rdcycle %0" : "=r"(cycles));
    return cycles;
}

static uint64_t read_time(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}

/* The devices' pages are user pages. */
static void open_user_pages(bool open)
{
    enum { SUM = 1 << 18 };
    if (open)
        __asm__ volatile("csrs sstatus, %0" : : "r"((uint64_t)SUM) : "memory");
    else
        __asm__ volatile("csrc sstatus, %0" : : "r"((uint64_t)SUM) : "memory");
}

/* Spends the time of operating-system work that a full kernel does: file descriptors, locks, device
 * bookkeeping, mmap. */
static void operating_system_work(void)
{
    uint64_t start = read_cycle();
    while (read_cycle() - start < driver.boot->os_clocks)
        continue;
    driver.boot->counters.os_clocks += read_cycle() - start;
}

/* Serves a task's page fault. Returns true if the task may access the address; its memory is then present. */
static bool answer(struct kernel_frame *frame, uint64_t cause, uint64_t address)
{
    uint32_t permission = cause == CAUSE_FETCH_PAGE   ? CROFT_RANGE_EXECUTE
                          : cause == CAUSE_LOAD_PAGE  ? CROFT_RANGE_READ
                          : cause == CAUSE_STORE_PAGE ? CROFT_RANGE_WRITE
                                                      : 0;
    enum memory_result result = permission ? memory_fault(address, permission) : MEMORY_DENIED;
    if (result == MEMORY_READY && memory_present(address, address + 1) != MEMORY_READY)
        result = MEMORY_FULL; /* no contiguous memory */
    if (result == MEMORY_FULL) {
        frame->value = address;
        kernel_give_up(DOOR_FULL, frame);
    }
    if (result != MEMORY_READY)
        return false;
    blocks_apply(BLOCKS_CLEAN, page_down(address), page_down(address) + PAGE);
    blocks_clean_ranges();
    blocks_order();
    return true;
}

/* Serves the fault at which the device's oldest task has stopped. */
static void serve_fault(struct kernel_frame *frame, const struct job *job)
{
    volatile struct task_unit_host *device = device_at(job->device);
    uint64_t cause = device->cause, value = device->value;
    device->control = TASK_UNIT_ACKNOWLEDGE;
    if (!answer(frame, cause, value)) {
        frame->cause = cause;
        frame->value = value;
        frame->pc = job->operands.begin - 4;
        frame->accelerator = job->device + 1;
        frame->task_pc = job->operands.begin + device->offset;
        kernel_give_up(DOOR_FAULT, frame);
    }
    driver.boot->counters.faults++;
    device->control = TASK_UNIT_RESUME;
}

/* Updates the state of a device's tasks; serves a fault of its oldest one. */
static void poll(struct kernel_frame *frame, unsigned number)
{
    volatile struct task_unit_host *device = device_at(number);
    struct unit *unit = &driver.units[number];
    uint64_t done = device->done;
    bool faulted = done == unit->done && (device->status & TASK_UNIT_STATE_MASK) == TASK_UNIT_FAULTED;
    if (done != unit->done) {
        unit->since = read_time();
        uint64_t flags = device->fflags;
        device->fflags = flags;
        __asm__ volatile("csrs fflags, %0" : : "r"(flags));
    }
    unit->done = done;
    for (unsigned i = 0; i < driver.jobs_used; i++) {
        struct job *job = &driver.jobs[i];
        if (job->complete || job->device != number)
            continue;
        if (faulted && job->number == done + 1)
            serve_fault(frame, job);
        if (job->number > done)
            continue;
        job->complete = true;
        unit->lines -= job->lines;
    }
}

/* Returns whether the task should have ended by now. The time that it spent behind older tasks does not count. */
static bool is_late(const struct job *job)
{
    uint64_t now = read_time();
    return now > job->deadline && now > driver.units[job->device].since + driver.boot->timeout;
}

static void await(struct kernel_frame *frame, const struct job *job)
{
    uint64_t start = read_cycle();
    while (!job->complete) {
        poll(frame, job->device);
        if (!job->complete && is_late(job)) {
            frame->pc = job->operands.begin - 4;
            frame->value = job->device;
            kernel_give_up(DOOR_TIMEOUT, frame);
        }
    }
    driver.boot->counters.wait_clocks += read_cycle() - start;
}

static void apply(enum blocks_operation operation, const struct operands_range list[], unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        blocks_apply(operation, list[i].first, list[i].end);
}

/* Waits for all tasks and makes their output visible to the program. */
static void collect(struct kernel_frame *frame)
{
    for (unsigned i = 0; i < driver.jobs_used; i++)
        if (!driver.jobs[i].complete)
            await(frame, &driver.jobs[i]);
    uint64_t start = read_cycle();
    for (unsigned i = 0; i < driver.jobs_used; i++)
        apply(BLOCKS_INVAL, driver.jobs[i].operands.out, driver.jobs[i].operands.outs);
    blocks_order();
    driver.boot->counters.clean_clocks += read_cycle() - start;
    driver.jobs_used = 0;
}

static void end_call(struct kernel_frame *frame)
{
    collect(frame);
    device_unmap(driver.mapped);
    driver.mapped = 0;
    driver.open = false;
}

static void begin_call(struct kernel_frame *frame)
{
    end_call(frame); /* ends a call whose end mark the program did not reach */
    driver.open = true;
    driver.boot->counters.calls++;
}

/* Makes the memory present that the task's operands name. Returns the worst result. */
static enum memory_result make_present(const struct operands *operands)
{
    enum memory_result worst = memory_present(operands->begin, operands->end);
    for (unsigned i = 0; i < operands->ins + operands->outs; i++) {
        const struct operands_range *range =
            i < operands->ins ? &operands->in[i] : &operands->out[i - operands->ins];
        enum memory_result result = memory_present(range->first, range->end);
        worst = result > worst ? result : worst;
    }
    return worst;
}

static void wait_for_older(struct kernel_frame *frame, const struct operands *operands)
{
    bool waits = false;
    for (unsigned i = 0; i < driver.jobs_used; i++) {
        const struct job *older = &driver.jobs[i];
        if (older->complete || !operands_conflict(&older->operands, operands))
            continue;
        waits = true;
        await(frame, older);
    }
    driver.boot->counters.waits += waits;
}

/* Returns the device with the fewest tasks that has room, or DEVICES if none has. */
static unsigned choose(unsigned lines)
{
    unsigned best = DEVICES;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < driver.boot->units; i++) {
        const struct unit *unit = &driver.units[i];
        uint64_t tasks = unit->sent - unit->done;
        if (unit->lines + lines <= driver.boot->lines && tasks < least) {
            best = i;
            least = tasks;
        }
    }
    return best;
}

static unsigned find_device(struct kernel_frame *frame, unsigned lines)
{
    unsigned device = choose(lines);
    for (unsigned i = 0; device == DEVICES; i++) {
        driver.boot->counters.waits += i == 0;
        if (!driver.jobs[i].complete)
            await(frame, &driver.jobs[i]);
        device = choose(lines);
    }
    return device;
}

static bool map(unsigned number)
{
    if (driver.mapped >> number & 1)
        return true;
    if (!device_map(number, driver.boot->base + number * driver.boot->size))
        return false;
    if (!driver.mapped)
        operating_system_work();
    driver.mapped |= UINT64_C(1) << number;
    driver.boot->counters.maps++;
    return true;
}

static bool is_output(const struct operands *operands, const struct operands_range *range)
{
    for (unsigned i = 0; i < operands->outs; i++)
        if (operands->out[i].first <= range->first && range->end <= operands->out[i].end)
            return true;
    return false;
}

/* Returns true if the range lies within an input of an earlier task of the call: it is clean, because the
 * program does not store to it between tasks of a call. */
static bool is_clean(const struct operands_range *range)
{
    for (unsigned i = 0; i < driver.jobs_used; i++) {
        const struct operands *earlier = &driver.jobs[i].operands;
        for (unsigned k = 0; k < earlier->ins; k++)
            if (earlier->in[k].first <= range->first && range->end <= earlier->in[k].end)
                return true;
    }
    return false;
}

static void prepare_memory(const struct operands *operands)
{
    uint64_t start = read_cycle();
    for (unsigned i = 0; i < operands->ins; i++)
        if (!is_output(operands, &operands->in[i]) && !is_clean(&operands->in[i]))
            apply(BLOCKS_CLEAN, &operands->in[i], 1);
    apply(BLOCKS_FLUSH, operands->out, operands->outs);
    blocks_clean_ranges();
    blocks_order();
    driver.boot->counters.clean_clocks += read_cycle() - start;
}

static struct job *send(struct kernel_frame *frame, const struct operands *operands)
{
    uint64_t words[OPERANDS_WORDS], frm;
    struct job *job = &driver.jobs[driver.jobs_used];
    __asm__ volatile("csrr %0, frm" : "=r"(frm));
    unsigned count =
        operands_packet(operands, frame, (unsigned)frm, (uint16_t)driver.boot->counters.tasks, words);
    unsigned lines = (count + 7) / 8, device = find_device(frame, lines);
    if (!map(device)) {
        frame->value = DEVICES_AT;
        kernel_give_up(DOOR_FULL, frame);
    }
    prepare_memory(operands);
    struct unit *unit = &driver.units[device];
    *job = (struct job){*operands, ++unit->sent, read_time() + driver.boot->timeout, device, lines, false};
    unit->lines += lines;
    driver.jobs_used++;
    driver.boot->counters.tasks++;
    device_send(device, words, count);
    return job;
}

/* Makes the host execute the region itself; that requires the results of older tasks. */
static void refuse(struct kernel_frame *frame)
{
    collect(frame);
    frame->pc += 4;
}

static void serve_task(struct kernel_frame *frame)
{
    struct operands operands;
    enum operands_cause cause =
        operands_read(frame, (uint32_t)frame->value, (uint8_t)driver.boot->capabilities, &operands);
    if (cause != OPERANDS_WELL_FORMED) {
        frame->value = cause;
        kernel_report(DOOR_MALFORMED, frame);
        refuse(frame);
        return;
    }
    enum memory_result result = make_present(&operands);
    if (result != MEMORY_READY) {
        refuse(frame); /* accelerators cannot reach this memory */
        return;
    }
    bool alone = !driver.open;
    if (alone)
        begin_call(frame);
    if (driver.jobs_used == JOBS)
        collect(frame);
    wait_for_older(frame, &operands);
    const struct job *job = send(frame, &operands);
    frame->pc = operands.end;
    if (operands.result) {
        await(frame, job);
        frame->x[operands.result] = device_at(job->device)->result;
    }
    if (alone)
        end_call(frame);
}

void driver_trap(struct kernel_frame *frame)
{
    uint64_t start = read_cycle(), xn = frame->x[frame->value >> 15 & 31];
    open_user_pages(true);
    if (xn >> 32 != CROFT_NUCD_MARK_SIGNATURE) {
        serve_task(frame);
    } else {
        if (xn & CROFT_NUCD_MARK_END)
            end_call(frame);
        else
            begin_call(frame);
        frame->pc += 4;
    }
    open_user_pages(false);
    driver.boot->counters.clocks += read_cycle() - start;
}

void driver_settle(struct kernel_frame *frame)
{
    if (driver.jobs_used == 0)
        return;
    uint64_t start = read_cycle();
    open_user_pages(true);
    collect(frame);
    open_user_pages(false);
    driver.boot->counters.clocks += read_cycle() - start;
}

void driver_region_fault(struct kernel_frame *frame)
{
    uint64_t cause, value;
    __asm__ volatile("csrr %0, %1" : "=r"(cause) : "i"(CSR_nucdcause));
    __asm__ volatile("csrr %0, %1" : "=r"(value) : "i"(CSR_nucdval));
    if (cause == CAUSE_CALL ? kernel_serve_region(frame) : answer(frame, cause, value))
        return;
    /* The frozen task ends with the program. */
    frame->cause = cause;
    frame->value = value;
    kernel_give_up(DOOR_FAULT, frame);
}
