#include "emu/env/guest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/env/kernel_pages.h"
#include "emu/env/launch.h"
#include "emu/machine/timed.h"

#define NS UINT64_C(1000000) /* fs */

const void *guest_readable(const struct user *user, uint64_t address, uint64_t length)
{
    if (length == 0)
        return user->memory->bytes;
    if (user->launch && address >= WARP_STACK_WINDOW)
        return launch_view(user->launch, address, length, false);
    return user->pages ? kernel_pages_view(user->pages, address, length, false)
                       : phys_at(user->memory, address, length);
}

void *guest_writable(const struct user *user, uint64_t address, uint64_t length)
{
    if (length == 0)
        return user->memory->bytes;
    if (user->launch && address >= WARP_STACK_WINDOW)
        return launch_view(user->launch, address, length, true);
    if (user->pages)
        return kernel_pages_view(user->pages, address, length, true);
    return address < user->write_first ? NULL : phys_at(user->memory, address, length);
}

int64_t guest_string(const struct user *user, uint64_t address, char *text, uint64_t size)
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

int64_t guest_put(const struct user *user, uint64_t address, const void *bytes, uint64_t length)
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

uint64_t guest_process_nanoseconds(const struct user *user)
{
    return guest_nanoseconds(user) - user->slept;
}

void guest_sleep(struct user *user, uint64_t nanoseconds)
{
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
    fprintf(stderr, "croft: %s: warning: %s\n", user->options->program, text);
}

void guest_end(struct user *user, int status)
{
    user->ended = true;
    user->status = status & 0xff;
    if (user->options->system)
        system_exit(user->options->system, user->status);
}
