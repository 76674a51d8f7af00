/* Descriptors that read signals (signalfd). On the host each is an event counter, which is not 0 while a signal of its set waits for
 * the thread that asks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "emu/env/linux/calls/descriptor.h"
#include "emu/env/linux/served.h"

enum { SET_SIZE = 8 };
#define NEVER_BLOCKED (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1))

/* The kernel's struct signalfd_siginfo. */
struct signal_record {
    uint32_t number;
    int32_t error, code;
    uint32_t sender, user;
    int32_t descriptor;
    uint32_t timer, band, overrun, trap;
    int32_t status, integer;
    uint64_t value;
    uint8_t unused[72];
};

_Static_assert(sizeof(struct signal_record) == 128, "as the kernel's");

/* a[]: descriptor or -1, set, its size, flags. */
int64_t linux_signalfd4(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t set;
    (void)thread;
    if (a[2] != SET_SIZE)
        return -EINVAL;
    const void *from = guest_readable(process->user, a[1], SET_SIZE);
    if (!from)
        return -EFAULT;
    memcpy(&set, from, SET_SIZE);
    set &= ~NEVER_BLOCKED;
    if (a[3] & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK))
        return -EINVAL;
    process->reads_signals = true;
    if ((int32_t)a[0] == -1) {
        int host = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        return host < 0 ? -errno : descriptor_add_own(process, host, a[3], FILE_SIGNALS, set);
    }
    struct file *file = files_get(&process->user->files, (uint32_t)a[0]);
    if (!file || file->kind != FILE_SIGNALS)
        return file ? -EINVAL : -EBADF;
    file->own = set;
    threads_repeat(process);
    return (int32_t)a[0];
}

void descriptor_show_signals(const struct process *process, const struct thread *thread)
{
    const uint64_t pending = thread->signals.pending | process->signals.pending;
    for (uint64_t i = 0; process->reads_signals && i < FILES_MAX; i++) {
        const struct file *file = files_get(&process->user->files, i);
        if (!file || file->kind != FILE_SIGNALS)
            continue;
        struct pollfd shown = {.fd = file->host, .events = POLLIN};
        uint64_t one = 1;
        bool shows = poll(&shown, 1, 0) > 0, waits = file->own & pending;
        if (waits && !shows)
            (void)!write(file->host, &one, sizeof one);
        else if (shows && !waits)
            (void)!read(file->host, &one, sizeof one);
    }
}

static struct signal_record record_of(const struct queued_signal *signal)
{
    struct signal_record record = {.number = (uint32_t)signal->number,
                                   .code = signal->code,
                                   .integer = (int32_t)signal->value,
                                   .value = signal->value};
    if (signal->code == LINUX_SIGNAL_TIMER) {
        record.timer = (uint32_t)signal->sender;
        record.overrun = (uint32_t)signal->user;
    } else {
        record.sender = (uint32_t)signal->sender;
        record.user = (uint32_t)signal->user;
    }
    return record;
}

/* Reads signals to one buffer. Returns their bytes or -errno. */
static int64_t read_buffer(struct process *process, struct thread *thread, const struct file *file,
                           uint64_t address, uint64_t length)
{
    enum { MOST = LINUX_QUEUED * 2 };
    struct queued_signal signal;
    const uint64_t room = length / sizeof(struct signal_record), most = room < MOST ? room : MOST;
    uint64_t count = 0;
    if (most == 0)
        return -EINVAL;
    uint8_t *to = guest_writable(process->user, address, most * sizeof(struct signal_record));
    if (!to)
        return -EFAULT;
    while (count < most && signal_take(process, thread, file->own, &signal)) {
        const struct signal_record record = record_of(&signal);
        memcpy(to + count++ * sizeof record, &record, sizeof record);
    }
    return count ? (int64_t)(count * sizeof(struct signal_record)) : -EAGAIN;
}

int64_t descriptor_read_signals(struct process *process, struct thread *thread, const struct file *file,
                                const uint64_t a[6], bool vectors)
{
    int64_t sum = 0;
    if (!vectors)
        return read_buffer(process, thread, file, a[1], a[2]);
    for (uint64_t i = 0; i < a[2]; i++) { /* each buffer is read by itself */
        uint64_t buffer[2];
        const void *from = guest_readable(process->user, a[1] + i * sizeof buffer, sizeof buffer);
        if (!from)
            return sum ? sum : -EFAULT;
        memcpy(buffer, from, sizeof buffer);
        const int64_t got = buffer[1] ? read_buffer(process, thread, file, buffer[0], buffer[1]) : 0;
        if (got < 0)
            return sum ? sum : got;
        sum += got;
    }
    return sum;
}
