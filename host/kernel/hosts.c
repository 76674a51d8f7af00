#include "host/kernel/hosts.h"

#include <croft/firmware/map.h>

#include "host/kernel/driver/driver.h"
#include "host/kernel/hosts_layout.h"
#include "host/kernel/memory/memory.h"
#include "host/kernel/memory/pages.h"

/* Linux's error numbers, and numbers of calls. */
enum { AGAIN = 11, BAD_ADDRESS = 14, INVALID = 22, NO_CALL = 38 };
enum { N_EXIT = 93, N_SET_TID_ADDRESS = 96, N_FUTEX = 98, N_GETTID = 178, N_CLONE = 220 };
enum { SP = 2, TP = 4, A0 = 10, A7 = 17 };
enum { STACK = 2 * PAGE, SSIP = 2 };

/* What start.S needs in machine mode, at physical addresses. */
struct machine_host {
    uint64_t kept;  /* t1, while an interrupt is passed on */
    uint64_t msip;  /* this hart's register of the CLINT */
    uint64_t table; /* the first-level page table to begin with */
    uint64_t unused;
};
_Static_assert(sizeof(struct machine_host) == 1 << MACHINE_HOST_SHIFT &&
                   offsetof(struct machine_host, kept) == MACHINE_HOST_KEPT &&
                   offsetof(struct machine_host, msip) == MACHINE_HOST_MSIP &&
                   offsetof(struct machine_host, table) == MACHINE_HOST_TABLE,
               "start.S finds the fields");

struct machine_host machine_hosts[KERNEL_HOSTS];
struct host hosts_first;
struct host *hosts_each[KERNEL_HOSTS];
unsigned hosts_count;

/* trap.S */
void floats_save(uint64_t to[33]);
void floats_load(const uint64_t from[33]);

static struct {
    unsigned next, serving;      /* tickets of the lock */
    uint64_t removals;           /* counts hosts_synchronize() */
    uint64_t threads;            /* number of the youngest thread */
    uint64_t waits;              /* number of times that threads have begun to wait */
    volatile uint32_t *software; /* the CLINT's registers of software interrupts */
} hosts;

void hosts_lock(void)
{
    if (hosts_count == 1)
        return;
    unsigned ticket = __atomic_fetch_add(&hosts.next, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&hosts.serving, __ATOMIC_ACQUIRE) != ticket)
        continue;
}

void hosts_unlock(void)
{
    if (hosts_count > 1)
        __atomic_store_n(&hosts.serving, hosts.serving + 1, __ATOMIC_RELEASE);
}

void hosts_pause(void)
{
    hosts_unlock();
    hosts_lock();
}

static void clear_interrupt(void)
{
    __asm__ volatile("csrc sip, %0" : : "r"((uint64_t)SSIP) : "memory");
}

void hosts_sleep(void)
{
    hosts_unlock();
    __asm__ volatile("wfi" : : : "memory");
    if (hosts_count > 1)
        clear_interrupt();
    hosts_lock();
}

void hosts_enter(void)
{
    if (hosts_count == 1)
        return;
    host_self()->inside = 1;
    hosts_lock();
}

/* Lets the program continue on this host: whoever removes mappings from now on interrupts it. */
static void leave(struct host *self)
{
    self->inside = 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint64_t removals = __atomic_load_n(&hosts.removals, __ATOMIC_ACQUIRE);
    if (self->flushed == removals)
        return;
    __asm__ volatile("sfence.vma; fence.i" : : : "memory");
    self->flushed = removals;
}

void hosts_leave(void)
{
    if (hosts_count == 1)
        return;
    hosts_unlock();
    leave(host_self());
}

void hosts_interrupted(void)
{
    struct host *self = host_self();
    self->inside = 1;
    clear_interrupt();
    leave(self);
}

static void interrupt(const struct host *host)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    hosts.software[host->number] = 1;
}

void hosts_synchronize(void)
{
    table_synchronize();
    if (hosts_count == 1)
        return;
    struct host *self = host_self();
    __atomic_store_n(&hosts.removals, hosts.removals + 1, __ATOMIC_SEQ_CST);
    self->flushed = hosts.removals;
    for (unsigned i = 0; i < hosts_count; i++) {
        const struct host *other = hosts_each[i];
        if (other == self || !other->started || other->inside)
            continue;
        interrupt(other);
        while (!other->inside && other->flushed != hosts.removals)
            continue;
    }
}

/* Makes host `number`: its record and stack in one piece of memory, and its first-level page table. */
static bool add_host(unsigned number, uint64_t clint)
{
    const uint64_t size = page_up(sizeof(struct host)) + STACK;
    uint64_t record = pages_take(size / PAGE), table = pages_take(1);
    if (!record || !table)
        return false;
    for (uint64_t at = 0; at < size; at += PAGE)
        pages_zero(record + at);
    struct host *host = pages_at(record);
    host->number = number;
    host->table = pages_at(table);
    host->frame.stack = (uint64_t)host + size;
    host->inside = 1;
    table_add_root(host->table);
    machine_hosts[number] = (struct machine_host){.msip = clint + 4 * number, .table = table};
    hosts_each[number] = host;
    return driver_add_host(host);
}

static void enable_interrupts(void)
{
    __asm__ volatile("csrs sie, %0" : : "r"((uint64_t)SSIP));
}

void hosts_begin(void)
{
    hosts_each[0] = &hosts_first;
    hosts_count = 1;
    hosts_first.table = table_root;
    hosts_first.started = hosts_first.runs = true;
    hosts_first.thread = hosts.threads = 1;
    hosts_first.inside = 1;
}

bool hosts_init(const struct kernel_boot *boot)
{
    if (!driver_add_host(&hosts_first))
        return false;
    if (boot->hosts < 2)
        return true;
    hosts.software = (volatile uint32_t *)table_map_devices(boot->clint);
    machine_hosts[0].msip = boot->clint;
    for (unsigned number = 1; number < boot->hosts; number++)
        if (!add_host(number, boot->clint))
            return false;
    hosts_count = (unsigned)boot->hosts;
    hosts_lock();
    enable_interrupts();
    return true;
}

struct kernel_frame *hosts_join(void)
{
    struct host *self = host_self();
    enable_interrupts();
    hosts_listen();
    floats_load(self->floats);
    hosts_lock();
    hosts_leave();
    return &self->frame;
}

/* Returns the program's aligned word of 4 bytes at an address, or NULL if the program may not access it. */
static uint32_t *word_at(uint64_t address, uint32_t permission)
{
    if (address % sizeof(uint32_t) != 0 ||
        memory_touch(address, sizeof(uint32_t), permission) != MEMORY_READY)
        return NULL;
    return (uint32_t *)((char *)pages_at(table_page(*table_slot(address, false))) + address % PAGE);
}

static bool set_word(uint64_t address, uint64_t value)
{
    uint32_t *word = word_at(address, CROFT_RANGE_WRITE);
    if (word)
        __atomic_store_n(word, (uint32_t)value, __ATOMIC_SEQ_CST);
    return word != NULL;
}

/* Wakes at most `most` threads that wait for a word, those that have waited longest first. Returns their number. */
static uint64_t wake(uint64_t address, uint64_t most)
{
    uint64_t woken = 0;
    for (struct host *first; woken < most; woken++) {
        first = NULL;
        for (unsigned i = 0; i < hosts_count; i++)
            if (hosts_each[i]->awaits == address && (!first || hosts_each[i]->since < first->since))
                first = hosts_each[i];
        if (!first)
            break;
        first->awaits = 0;
        interrupt(first);
    }
    return woken;
}

/* FUTEX_WAIT without a time limit, and FUTEX_WAKE, with or without FUTEX_PRIVATE_FLAG. */
static int64_t serve_futex(struct host *self, const uint64_t a[6])
{
    enum { WAIT = 0, WAKE = 1, PRIVATE = 128 };
    uint64_t operation = (uint32_t)a[1] & ~(uint64_t)PRIVATE;
    if (a[0] == 0 || a[0] % sizeof(uint32_t) != 0)
        return -INVALID;
    if (operation == WAKE)
        return (int64_t)wake(a[0], (int32_t)a[2] > 0 ? (uint32_t)a[2] : 0);
    if (operation != WAIT || a[3] != 0)
        return -NO_CALL;
    const uint32_t *word = word_at(a[0], CROFT_RANGE_READ);
    if (!word)
        return -BAD_ADDRESS;
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != (uint32_t)a[2])
        return -AGAIN;
    self->awaits = a[0];
    self->since = ++hosts.waits;
    while (self->awaits)
        hosts_rest();
    return 0;
}

static struct host *idle_host(void)
{
    for (unsigned i = 0; i < hosts_count; i++)
        if (!hosts_each[i]->runs)
            return hosts_each[i];
    return NULL;
}

/* Starts a thread on another host: clone(flags, stack, parent's word, tls, child's word). */
static int64_t serve_clone(const struct kernel_frame *frame, const uint64_t a[6])
{
    enum {
        VM = 0x100,
        THREAD = 0x10000,
        SETTLS = 0x80000,
        PARENT_SETTID = 0x100000,
        CHILD_CLEARTID = 0x200000,
        CHILD_SETTID = 0x1000000
    };
    enum {
        KNOWN = VM | THREAD | SETTLS | PARENT_SETTID | CHILD_CLEARTID | CHILD_SETTID | 0x200 | 0x400 | 0x800 |
                0x40000
    }; /* also CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_SYSVSEM */
    if ((a[0] & ~(uint64_t)KNOWN) || !(a[0] & VM) || !(a[0] & THREAD) || a[1] == 0)
        return -INVALID;
    struct host *host = idle_host();
    if (!host)
        return -AGAIN;
    uint64_t thread = hosts.threads + 1, stack = host->frame.stack;
    if (((a[0] & PARENT_SETTID) && !set_word(a[2], thread)) ||
        ((a[0] & CHILD_SETTID) && !set_word(a[4], thread)))
        return -BAD_ADDRESS;
    host->thread = hosts.threads = thread;
    host->clear = a[0] & CHILD_CLEARTID ? a[4] : 0;
    memcpy(&host->frame, frame, sizeof *frame);
    host->frame.stack = stack;
    host->frame.pc += 4;
    host->frame.x[A0] = 0;
    host->frame.x[SP] = a[1];
    if (a[0] & SETTLS)
        host->frame.x[TP] = a[3];
    floats_save(host->floats);
    host->runs = host->started = true;
    interrupt(host);
    return (int64_t)thread;
}

static bool is_last(void)
{
    unsigned running = 0;
    for (unsigned i = 0; i < hosts_count; i++)
        running += hosts_each[i]->runs;
    return running == 1;
}

/* Ends this host's thread, and waits for another one. */
static void end_thread(struct host *self)
{
    driver_close();
    if (self->clear && set_word(self->clear, 0))
        (void)wake(self->clear, 1);
    self->runs = false;
    while (!self->runs)
        hosts_rest();
    floats_load(self->floats);
    self->frame.pc -= 4; /* the caller adds them */
}

bool hosts_serve(struct kernel_frame *frame)
{
    struct host *self = host_self();
    uint64_t *a = &frame->x[A0];
    if (hosts_count == 1)
        return false;
    switch (frame->x[A7]) {
    case N_CLONE: a[0] = (uint64_t)serve_clone(frame, a); return true;
    case N_FUTEX: a[0] = (uint64_t)serve_futex(self, a); return true;
    case N_SET_TID_ADDRESS:
        self->clear = a[0];
        a[0] = self->thread;
        return true;
    case N_GETTID: a[0] = self->thread; return true;
    case N_EXIT:
        if (is_last())
            return false;
        end_thread(self);
        return true;
    default: return false;
    }
}
