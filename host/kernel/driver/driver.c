#include "host/kernel/driver/driver.h"

#include <croft/firmware/map.h>

#include "host/kernel/driver/device.h"
#include "host/kernel/driver/operands.h"
#include "host/kernel/hosts.h"
#include "host/kernel/memory/blocks.h"
#include "host/kernel/memory/memory.h"
#include "host/kernel/memory/pages.h"
#include "host/kernel/memory/ranges.h"
#include "host/kernel/units.h"
#include "isa/csr.h"

/* scause of a call and of page faults (privileged specification, table 4.2) */
enum { CAUSE_CALL = 8, CAUSE_FETCH_PAGE = 12, CAUSE_LOAD_PAGE = 13, CAUSE_STORE_PAGE = 15 };

enum { JOBS = 64 };

/* A task of a host's current call. */
struct job {
    struct operands operands;
    uint64_t number;   /* number among its device's tasks, from 1 */
    uint64_t deadline; /* in ticks of `time` */
    uint64_t result;   /* if it is complete and returns one */
    unsigned device, lines;
    bool complete;
};

struct unit {
    uint64_t sent, done;
    unsigned lines; /* lines of its queue that tasks in flight may occupy */
    unsigned owner; /* host whose tasks it has, or had last */
    uint64_t since; /* when it was last seen to have completed a task, in ticks of `time` */
};

/* What a host has offloaded. */
struct call {
    bool open;       /* a call has begun and not ended */
    uint64_t mapped; /* set of mapped devices */
    uint64_t fflags; /* exceptions that another host has found when it looked at this one's tasks */
    struct job jobs[JOBS];
    unsigned jobs_used;
    struct operands_range ins, outs; /* around all ranges of the jobs; empty if `end` is 0 */
};

static struct call first_call;

static struct {
    struct kernel_driver *boot;
    struct unit units[DEVICES];
    struct call *calls[KERNEL_HOSTS]; /* by host */
    uint64_t tickets, turn;           /* hosts that wait for a device: numbers turn to tickets - 1 */
} driver;

static struct call *own_call(void)
{
    return driver.calls[host_self()->number];
}

static struct kernel_driver_counters *own_counters(void)
{
    return &driver.boot->counters[host_self()->number];
}

void driver_init(struct kernel_driver *boot)
{
    driver.boot = boot;
    driver.calls[0] = &first_call;
}

bool driver_add_host(struct host *host)
{
    const uint64_t count = page_up(sizeof(struct call)) / PAGE;
    if (driver.boot->units == 0)
        return true;
    if (!device_prepare(host))
        return false;
    if (host->number == 0)
        return true;
    uint64_t physical = pages_take(count);
    for (uint64_t i = 0; physical && i < count; i++)
        pages_zero(physical + i * PAGE);
    driver.calls[host->number] = physical ? pages_at(physical) : NULL;
    return physical != 0;
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

/* Spends the time of operating-system work that a full kernel does: file descriptors, locks, device
 * bookkeeping, mmap. */
static void operating_system_work(void)
{
    uint64_t start = read_cycle();
    hosts_unlock();
    while (read_cycle() - start < driver.boot->os_clocks)
        continue;
    own_counters()->os_clocks += read_cycle() - start;
    hosts_lock();
}

/* Serves the page fault of a task of the frame's host. Returns true if the task may access the address; its memory is then present. */
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

/* Serves the fault at which the device's oldest task has stopped, which may be another host's. */
static void serve_fault(const struct job *job)
{
    volatile struct task_unit_host *device = units_registers(job->device);
    unsigned owner = driver.units[job->device].owner;
    struct kernel_frame *frame = &hosts_each[owner]->frame;
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
    driver.boot->counters[owner].faults++;
    device->control = TASK_UNIT_RESUME;
}

/* Takes the exceptions that the device's tasks have raised since it was last asked. */
static void take_fflags(volatile struct task_unit_host *device, struct call *call)
{
    uint64_t flags = device->fflags;
    if (flags == 0)
        return;
    device->fflags = flags;
    if (call == own_call())
        __asm__ volatile("csrs fflags, %0" : : "r"(flags));
    else
        call->fflags |= flags;
}

/* Ends the program if the task should have ended by now. The time that it spent behind older tasks does not count. */
static void check_time(const struct job *job)
{
    const struct unit *unit = &driver.units[job->device];
    uint64_t now = read_time();
    if (now <= job->deadline || now <= unit->since + driver.boot->timeout)
        return;
    struct kernel_frame *frame = &hosts_each[unit->owner]->frame;
    frame->pc = job->operands.begin - 4;
    frame->value = job->device;
    kernel_give_up(DOOR_TIMEOUT, frame);
}

/* Updates the state of a device's tasks; serves a fault of its oldest one, or ends the program if that is endless. */
static void poll(unsigned number)
{
    volatile struct task_unit_host *device = units_registers(number);
    struct unit *unit = &driver.units[number];
    struct call *call = driver.calls[unit->owner];
    uint64_t done = device->done;
    bool faulted = done == unit->done && (device->status & TASK_UNIT_STATE_MASK) == TASK_UNIT_FAULTED;
    if (done != unit->done) {
        unit->since = read_time();
        take_fflags(device, call);
    }
    unit->done = done;
    for (unsigned i = 0; i < call->jobs_used; i++) {
        struct job *job = &call->jobs[i];
        if (job->complete || job->device != number)
            continue;
        if (faulted && job->number == done + 1)
            serve_fault(job);
        if (job->number > done) {
            check_time(job);
            continue;
        }
        job->complete = true;
        unit->lines -= job->lines;
        if (job->operands.result)
            job->result = device->result; /* the host waits for it, so it is the device's last task */
    }
}

static void await(const struct job *job)
{
    uint64_t start = read_cycle();
    while (!job->complete) {
        poll(job->device);
        hosts_pause();
    }
    own_counters()->wait_clocks += read_cycle() - start;
}

static void apply(enum blocks_operation operation, const struct operands_range list[], unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        blocks_apply(operation, list[i].first, list[i].end);
}

/* Waits for all tasks of this host and makes their output visible to the program. */
static void collect(void)
{
    struct call *call = own_call();
    for (unsigned i = 0; i < call->jobs_used; i++)
        if (!call->jobs[i].complete)
            await(&call->jobs[i]);
    uint64_t start = read_cycle();
    for (unsigned i = 0; i < call->jobs_used; i++)
        apply(BLOCKS_INVAL, call->jobs[i].operands.out, call->jobs[i].operands.outs);
    blocks_order();
    if (call->fflags)
        __asm__ volatile("csrs fflags, %0" : : "r"(call->fflags));
    call->fflags = 0;
    own_counters()->clean_clocks += read_cycle() - start;
    call->jobs_used = 0;
    call->ins = call->outs = (struct operands_range){0};
}

static void end_call(void)
{
    struct call *call = own_call();
    collect();
    device_unmap(call->mapped);
    call->mapped = 0;
    call->open = false;
}

static void begin_call(void)
{
    end_call(); /* ends a call whose end mark the program did not reach */
    own_call()->open = true;
    own_counters()->calls++;
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

static bool meet(const struct operands_range list[], unsigned count, const struct operands_range *hull)
{
    for (unsigned i = 0; i < count; i++)
        if (list[i].first < hull->end && hull->first < list[i].end)
            return true;
    return false;
}

/* Returns false if no earlier task of the call can conflict with this one. */
static bool may_conflict(const struct call *call, const struct operands *operands)
{
    return meet(operands->out, operands->outs, &call->ins) ||
           meet(operands->out, operands->outs, &call->outs) || meet(operands->in, operands->ins, &call->outs);
}

static void widen(struct operands_range *hull, const struct operands_range list[], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hull->first = hull->end && hull->first < list[i].first ? hull->first : list[i].first;
        hull->end = hull->end > list[i].end ? hull->end : list[i].end;
    }
}

static void wait_for_older(const struct operands *operands)
{
    struct call *call = own_call();
    bool waits = false;
    if (!may_conflict(call, operands))
        return;
    for (unsigned i = 0; i < call->jobs_used; i++) {
        const struct job *older = &call->jobs[i];
        if (older->complete || !operands_conflict(&older->operands, operands))
            continue;
        waits = true;
        await(older);
    }
    own_counters()->waits += waits;
}

/* Returns the device with the fewest tasks that has room, or DEVICES if none has. A device has the tasks of one host at a
 * time; behind its own tasks, a host sends more only if no other host waits. */
static unsigned choose(unsigned lines, bool others_wait)
{
    unsigned best = DEVICES;
    uint64_t least = UINT64_MAX;
    const uint64_t self = host_self()->number;
    for (unsigned i = 0; i < driver.boot->units; i++) {
        const struct unit *unit = &driver.units[i];
        uint64_t tasks = unit->sent - unit->done;
        if (tasks > 0 && (others_wait || unit->owner != self))
            continue;
        if (unit->lines + lines <= driver.boot->lines && tasks < least) {
            best = i;
            least = tasks;
        }
    }
    return best;
}

/* Waits for a device that has no task, or room behind this host's own. Hosts get one in the order in which they begin to
 * wait. */
static unsigned await_device(unsigned lines)
{
    uint64_t start = read_cycle(), ticket = driver.tickets++;
    unsigned device = DEVICES;
    for (unsigned i = 0; device == DEVICES; i = i + 1 < driver.boot->units ? i + 1 : 0) {
        if (driver.units[i].sent != driver.units[i].done)
            poll(i);
        if (driver.turn == ticket)
            device = choose(lines, driver.tickets - driver.turn > 1);
        if (device == DEVICES)
            hosts_pause();
    }
    driver.turn++;
    own_counters()->turn_clocks += read_cycle() - start;
    return device;
}

static unsigned find_device(unsigned lines)
{
    const struct call *call = own_call();
    unsigned device = driver.tickets == driver.turn ? choose(lines, false) : DEVICES;
    for (unsigned i = 0; device == DEVICES; i++) {
        own_counters()->waits += i == 0;
        if (hosts_count > 1)
            return await_device(lines);
        if (!call->jobs[i].complete)
            await(&call->jobs[i]);
        device = choose(lines, false);
    }
    return device;
}

static bool map(unsigned number)
{
    struct call *call = own_call();
    if (call->mapped >> number & 1)
        return true;
    if (!device_map(number, driver.boot->base + number * driver.boot->size))
        return false;
    if (!call->mapped)
        operating_system_work();
    call->mapped |= UINT64_C(1) << number;
    own_counters()->maps++;
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
    const struct call *call = own_call();
    if (range->first < call->ins.first || range->end > call->ins.end)
        return false;
    for (unsigned i = call->jobs_used; i-- > 0;) {
        const struct operands *earlier = &call->jobs[i].operands;
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
    own_counters()->clean_clocks += read_cycle() - start;
}

static struct job *send(struct kernel_frame *frame, const struct operands *operands)
{
    uint64_t words[OPERANDS_WORDS], frm;
    struct call *call = own_call();
    struct job *job = &call->jobs[call->jobs_used];
    __asm__ volatile("csrr %0, frm" : "=r"(frm));
    unsigned count = operands_packet(operands, frame, (unsigned)frm, (uint16_t)own_counters()->tasks, words);
    unsigned lines = (count + 7) / 8, device = find_device(lines);
    struct unit *unit = &driver.units[device];
    *job = (struct job){.operands = *operands, .number = ++unit->sent, .device = device, .lines = lines};
    unit->owner = (unsigned)host_self()->number;
    unit->lines += lines;
    if (!map(device)) {
        frame->value = DEVICES_AT;
        kernel_give_up(DOOR_FULL, frame);
    }
    prepare_memory(operands);
    job->deadline = read_time() + driver.boot->timeout;
    call->jobs_used++;
    widen(&call->ins, operands->in, operands->ins);
    widen(&call->outs, operands->out, operands->outs);
    own_counters()->tasks++;
    device_send(units_registers(device), words, count);
    return job;
}

/* Makes the host execute the region itself; that requires the results of older tasks. */
static void refuse(struct kernel_frame *frame)
{
    collect();
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
    struct call *call = own_call();
    bool alone = !call->open;
    operands.ordered = !alone; /* tasks of a call run in any order */
    if (alone)
        begin_call();
    if (call->jobs_used == JOBS)
        collect();
    wait_for_older(&operands);
    const struct job *job = send(frame, &operands);
    frame->pc = operands.end;
    if (operands.result) {
        await(job);
        frame->x[operands.result] = job->result;
    }
    if (alone)
        end_call();
}

void driver_trap(struct kernel_frame *frame)
{
    uint64_t start = read_cycle(), xn = frame->x[frame->value >> 15 & 31];
    if (xn >> 32 != CROFT_NUCD_MARK_SIGNATURE) {
        serve_task(frame);
    } else {
        if (xn & CROFT_NUCD_MARK_END)
            end_call();
        else
            begin_call();
        frame->pc += 4;
    }
    own_counters()->clocks += read_cycle() - start;
}

void driver_settle(void)
{
    if (driver.boot->units == 0 || own_call()->jobs_used == 0)
        return;
    uint64_t start = read_cycle();
    collect();
    own_counters()->clocks += read_cycle() - start;
}

void driver_close(void)
{
    if (driver.boot->units > 0)
        end_call();
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
