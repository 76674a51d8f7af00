/* The hosts: harts on which the kernel runs threads of the program, one thread each.
 *
 * The program makes a thread by Linux's call clone, with an address space that is shared (CLONE_VM and CLONE_THREAD);
 * a host that runs no thread takes it, and if there is none, the call fails with EAGAIN. Threads stay on their hosts. exit ends a
 * thread, and with the last one the program; exit_group ends the program. Threads wait for each other by futex.
 *
 * The kernel's lock. One host at a time executes the kernel: it takes the lock when the program traps and releases it
 * before the program continues, and while it waits. Hosts get it in the order in which they ask. A host that waits for another
 * one sleeps (wfi) until a software interrupt, or asks for the lock again and again.
 *
 * Translations. The program has one page table: the hosts' first-level tables are equal except for the entry of the accelerators' registers,
 * which each host maps for its own calls of tasks (device.h). After a mapping or a permission has been removed, hosts that
 * execute the program are interrupted and flush their translations; those in the kernel do so before they leave it. */
#ifndef HOST_KERNEL_HOSTS_H
#define HOST_KERNEL_HOSTS_H

#include "host/kernel/kernel.h"
#include "host/kernel/memory/table.h"

/* A host. tp points to it while the host executes the kernel. */
struct host {
    struct kernel_frame frame;  /* the state of its thread at a trap; first, for trap.S */
    struct kernel_frame region; /* of a task whose call is served */
    uint64_t number;
    table_entry *table;        /* its first-level page table */
    bool started;              /* it has left machine mode */
    bool runs;                 /* it has a thread, */
    uint64_t thread;           /* with this number, */
    uint64_t clear;            /* for which this word becomes 0 at its end, unless it is 0 itself */
    uint64_t awaits;           /* the word for whose change the thread waits; 0: none */
    uint64_t since;            /* the order in which threads began to wait */
    volatile uint64_t inside;  /* it executes the kernel */
    volatile uint64_t flushed; /* number of the last removal after which it has flushed its translations */
    uint64_t floats[33];       /* floating-point registers and fcsr of a new thread */
};

/* By number; NULL beyond hosts_count, which is 1 unless other hosts can run threads. */
extern struct host *hosts_each[KERNEL_HOSTS];
extern unsigned hosts_count;

static inline struct host *host_self(void)
{
    struct host *self;
    __asm__("mv %0, tp" : "=r"(self));
    return self;
}

/* Makes the first host, which calls it and runs the program's first thread. Call it before anything else of the kernel. */
void hosts_begin(void);

/* Makes the other hosts, after memory_init(). Returns false when out of memory. */
bool hosts_init(const struct kernel_boot *boot);

/* A new host's first C function: returns the frame to start with. */
struct kernel_frame *hosts_join(void);

/* Enclose the service of a trap: take and release the lock. */
void hosts_enter(void);
void hosts_leave(void);

/* Serves the interrupt of another host, without the lock. */
void hosts_interrupted(void);

/* Release and take the lock, for work that does not need it. */
void hosts_unlock(void);
void hosts_lock(void);

/* For loops that wait for something: lets hosts that have asked for the lock have it. hosts_sleep() waits for any interrupt meanwhile. */
void hosts_pause(void);
void hosts_sleep(void);

/* waits.c. hosts_rest() is hosts_sleep() for waits of any length: it also serves the threads of multiprocessors that this host
 * has launched. hosts_listen() lets multiprocessors interrupt this host. */
void hosts_rest(void);
void hosts_listen(void);

/* Flushes translations on all hosts, after mappings or permissions have been removed. */
void hosts_synchronize(void);

/* Serves clone, exit, futex, set_tid_address and gettid. Returns false for any other call, and for all on a machine whose
 * threads stay on one host. The frame is this host's; the caller advances its pc, unless another thread has taken its
 * place. */
bool hosts_serve(struct kernel_frame *frame);

#endif
