/* Chooses the server of a call. */
#include <errno.h>
#include <stddef.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/served.h"
#include "emu/env/loader/stack.h"

typedef int64_t own_server(struct process *process, struct thread *thread, const uint64_t a[6]);
typedef int64_t user_server(struct user *user, const uint64_t a[6]);

/* One of the servers is not NULL, or the call returns `value`. */
struct row {
    uint16_t number;
    own_server *own;
    user_server *user;
    int64_t value;
};

#define OWN(name)                                        linux_##name, NULL, 0
#define USER(name)                                       NULL, call_##name, 0
#define GIVES(value)                                     NULL, NULL, value
#define LINUX_CALL(number, name, state, server, meaning) {number, server},
static const struct row rows[] = {
#include "emu/env/linux/calls.def"
};
#undef LINUX_CALL

static const struct row *find(uint64_t number)
{
    size_t low = 0, high = sizeof rows / sizeof rows[0];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle].number == number)
            return &rows[middle];
        if (rows[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

int64_t linux_call(struct process *process, struct thread *thread, struct hart *hart)
{
    const uint64_t number = hart->x[X_A7], *a = &hart->x[X_A0];
    const struct row *row = find(number);
    process->caller = thread->id;
    if (!row)
        return call_refuse(process, number, "is missing");
    if (row->own)
        return row->own(process, thread, a);
    return row->user ? row->user(process->user, a) : row->value;
}
