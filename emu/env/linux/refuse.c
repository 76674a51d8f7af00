/* Warns of calls that are not served. */
#include <errno.h>
#include <inttypes.h>

#include "emu/env/linux/state.h"

int64_t call_refuse(struct process *process, uint64_t number, const char *how)
{
    struct user *user = process->user;
    char place[SYMBOLS_TEXT];
    bool *told = &process->told[number < LINUX_CALLS_MOST ? number : LINUX_CALLS_MOST - 1];
    if (!*told)
        guest_warn(user, "system call %" PRIu64 " at 0x%" PRIx64 ", %s, %s: it returns -ENOSYS", number,
                   user->hart->pc, symbols_describe(user->symbols, user->hart->pc, place, sizeof place), how);
    *told = true;
    return -ENOSYS;
}
