/* Threads of a program on several hosts: on a machine whose host.count is above 1, and on Linux. With accelerators that take tasks,
 * and without a clock, they need `croft run --env kernel`. */
#ifndef CROFT_THREADS_H
#define CROFT_THREADS_H

/* Each thread has a host of its own, until it ends. All share memory, open files and accelerators; each has errno, thread-local
 * variables, and a stack of CROFT_THREAD_STACK bytes in the heap, whose end nothing guards. The C library's functions may
 * be called in all threads, and regions (croft/nucd.h) may be called in all: tasks of different threads are not ordered, so
 * threads order them as they order accesses. All may launch kernels and wait for them (croft/simt.h). */
enum { CROFT_THREAD_STACK = 256 * 1024 };

struct croft_thread {
    unsigned alive; /* 0: it has ended */
    void *memory;   /* its stack and thread-local storage */
};

/* Starts run(argument) in a new thread; *thread must stay until croft_thread_join(). Returns 0, or -1 with errno EAGAIN if all hosts have
 * threads (a program that wants to run everywhere then calls `run` itself), or ENOMEM. */
int croft_thread_start(struct croft_thread *thread, void (*run)(void *argument), void *argument);

/* Waits until the thread has ended, and releases its memory. Returns at once if it could not be started. */
void croft_thread_join(struct croft_thread *thread);

#endif
