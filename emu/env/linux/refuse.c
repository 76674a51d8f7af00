/* Warns of calls that are not served. */
#include <errno.h>
#include <inttypes.h>

#include "emu/env/linux/state.h"

static const struct {
    uint16_t number;
    const char *name;
} names[] = {
#define LINUX_MISSING(number, name)   {number, ", " #name ","},
#define LINUX_CALL(number, name, ...) {number, ", " #name ","},
#include "emu/env/linux/calls.def"
#include "emu/env/linux/missing.def"
#undef LINUX_CALL
#undef LINUX_MISSING
};

/* Returns ", NAME," of a call, or "". */
static const char *name_of(uint64_t number)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == number)
            return names[i].name;
    return "";
}

int64_t call_refuse(struct process *process, uint64_t number, const char *how)
{
    struct user *user = process->user;
    char place[SYMBOLS_TEXT];
    bool *told = &process->told[number < LINUX_CALLS_MOST ? number : LINUX_CALLS_MOST - 1];
    if (!*told)
        guest_warn(user, "system call %" PRIu64 "%s at 0x%" PRIx64 ", %s, %s: it returns -ENOSYS", number,
                   name_of(number), user->hart->pc,
                   symbols_describe(user->symbols, user->hart->pc, place, sizeof place), how);
    *told = true;
    return -ENOSYS;
}
