/* Calls on what a process may have and how it is treated: limits, prctl, personality. Most of it is kept and has no effect. */
#include <errno.h>
#include <string.h>

#include "emu/env/linux/served.h"

enum { LIMIT_STACK = 3, LIMIT_FILES = 7 };
enum { SLACK = 50000 }; /* ns, as Linux's */

void limits_init(struct process *process)
{
    for (unsigned i = 0; i < LINUX_LIMITS; i++)
        process->limits[i] = (struct limit){UINT64_MAX, UINT64_MAX};
    process->limits[LIMIT_STACK].soft = process->options->user->stack_size;
    process->limits[LIMIT_FILES] = (struct limit){FILES_MAX, FILES_MAX};
    process->timer_slack = SLACK;
    process->dumpable = true;
}

/* Hard limits can only be lowered. */
static int64_t set_limit(struct process *process, uint64_t resource, const struct limit *limit)
{
    if (limit->soft > limit->hard)
        return -EINVAL;
    if (limit->hard > process->limits[resource].hard)
        return -EPERM;
    process->limits[resource] = *limit;
    if (resource == LIMIT_FILES)
        process->user->files.limit = limit->soft;
    return 0;
}

/* a[]: process, resource, address of the new limit or 0, where the old one is stored or 0. */
int64_t linux_prlimit(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct limit limit;
    (void)thread;
    if (a[1] >= LINUX_LIMITS)
        return -EINVAL;
    if (a[0] && a[0] != GUEST_PROCESS_ID)
        return -ESRCH;
    const struct limit old = process->limits[a[1]];
    const void *from = a[2] ? guest_readable(process->user, a[2], sizeof limit) : NULL;
    if (a[2] && !from)
        return -EFAULT;
    if (from) {
        memcpy(&limit, from, sizeof limit);
        const int64_t failed = set_limit(process, a[1], &limit);
        if (failed)
            return failed;
    }
    return a[3] ? guest_put(process->user, a[3], &old, sizeof old) : 0;
}

int64_t linux_getrlimit(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t arguments[6] = {0, a[0], 0, a[1]};
    return a[1] ? linux_prlimit(process, thread, arguments) : -EFAULT;
}

int64_t linux_setrlimit(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t arguments[6] = {0, a[0], a[1], 0};
    return a[1] ? linux_prlimit(process, thread, arguments) : -EFAULT;
}

enum {
    SET_DEATH_SIGNAL = 1,
    GET_DEATH_SIGNAL = 2,
    GET_DUMPABLE = 3,
    SET_DUMPABLE = 4,
    GET_KEEP_CAPABILITIES = 7,
    SET_KEEP_CAPABILITIES = 8,
    GET_TIMING = 13,
    SET_TIMING = 14,
    SET_NAME = 15,
    GET_NAME = 16,
    READ_BOUNDING_SET = 23,
    DROP_BOUNDING_SET = 24,
    GET_SECURE_BITS = 27,
    SET_SECURE_BITS = 28,
    SET_TIMER_SLACK = 29,
    GET_TIMER_SLACK = 30,
    SET_SUBREAPER = 36,
    GET_SUBREAPER = 37,
    SET_NO_NEW_PRIVILEGES = 38,
    GET_NO_NEW_PRIVILEGES = 39,
    SET_HUGE_PAGES_OFF = 41,
    GET_HUGE_PAGES_OFF = 42,
    CAPABILITIES = 41,      /* of Linux 5.10 */
    KEEPS_CAPABILITIES = 4, /* among the secure bits */
};

static int64_t name_thread(struct process *process, struct thread *thread, uint64_t address)
{
    char name[sizeof thread->name] = "";
    const int64_t failed = guest_string(process->user, address, name, sizeof name);
    if (failed == -EFAULT)
        return failed;
    memcpy(thread->name, name, sizeof name - 1);
    return 0;
}

static int64_t put_number(struct process *process, uint64_t address, int32_t value)
{
    return guest_put(process->user, address, &value, sizeof value);
}

/* Those that set what other calls return. */
static int64_t set_option(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const bool more = a[2] || a[3] || a[4];
    switch (a[0]) {
    case SET_DEATH_SIGNAL: /* there is no parent */
        if (a[1] >= GUEST_SIGNALS)
            return -EINVAL;
        process->death_signal = (int32_t)a[1];
        return 0;
    case SET_DUMPABLE:
        if (a[1] > 1)
            return -EINVAL;
        process->dumpable = a[1];
        return 0;
    case SET_KEEP_CAPABILITIES:
        if (a[1] > 1)
            return -EINVAL;
        process->keeps_capabilities = a[1];
        return 0;
    case SET_TIMING: return a[1] ? -EINVAL : 0;
    case SET_NAME: return name_thread(process, thread, a[1]);
    case DROP_BOUNDING_SET:
    case SET_SECURE_BITS: return -EPERM;
    case SET_TIMER_SLACK: process->timer_slack = a[1] ? a[1] : SLACK; return 0;
    case SET_SUBREAPER: process->subreaper = a[1] != 0; return 0;
    case SET_NO_NEW_PRIVILEGES:
        if (a[1] != 1 || more)
            return -EINVAL;
        process->no_new_privileges = true;
        return 0;
    case SET_HUGE_PAGES_OFF:
        if (more)
            return -EINVAL;
        process->huge_pages_off = a[1] != 0;
        return 0;
    default: return -EINVAL;
    }
}

int64_t linux_prctl(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const bool arguments = a[1] || a[2] || a[3] || a[4];
    switch (a[0]) {
    case GET_DEATH_SIGNAL: return put_number(process, a[1], process->death_signal);
    case GET_DUMPABLE: return process->dumpable;
    case GET_KEEP_CAPABILITIES: return process->keeps_capabilities;
    case GET_TIMING: return 0;
    case GET_SECURE_BITS: return process->keeps_capabilities << KEEPS_CAPABILITIES;
    case GET_NAME: return guest_put(process->user, a[1], thread->name, sizeof thread->name);
    case READ_BOUNDING_SET: return a[1] >= CAPABILITIES ? -EINVAL : 0;
    case GET_TIMER_SLACK: return (int64_t)process->timer_slack;
    case GET_SUBREAPER: return put_number(process, a[1], process->subreaper);
    case GET_NO_NEW_PRIVILEGES: return arguments ? -EINVAL : process->no_new_privileges;
    case GET_HUGE_PAGES_OFF: return arguments ? -EINVAL : process->huge_pages_off;
    default: return set_option(process, thread, a);
    }
}

/* Any may be asked for: none changes what programs see. */
int64_t linux_personality(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint32_t asks = UINT32_MAX, old = process->personality;
    (void)thread;
    if ((uint32_t)a[0] != asks)
        process->personality = (uint32_t)a[0];
    return old;
}
