/* errno, messages and the identity of threads in programs of Linux. */
#include <platform.h>
#include <string.h>

#include "host/calls/call.h"
#include "host/simt/simt.h"

register uintptr_t simt_tp __asm__("tp");

/* tp of the program's thread that executes a thread of a grid; 0: none does. simt_scalar_switch() sets it (entry.S), while the
 * launching thread holds scalar.c's lock. */
uintptr_t simt_owner;

int *__errno_location(void);
int *__errno(void);

/* newlib's headers call this for errno. The numbers that the runtime uses are the same in Linux. */
int *__errno(void)
{
    return __errno_location();
}

long call_result(long result)
{
    if (result >= 0)
        return result;
    if (simt_tp != UINT64_C(5) << 44) /* threads of multiprocessors have no errno */
        *__errno_location() = (int)-result;
    return -1;
}

bool simt_thread_launched(void)
{
    return __atomic_load_n(&simt_owner, __ATOMIC_RELAXED) == simt_tp;
}

static void print(const char *text, size_t length)
{
    (void)call_raw(CALL_WRITE, 2, (long)text, (long)length, 0, 0);
}

void simt_fail(uint64_t thread, const char *what)
{
    char digits[20], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + thread % 10);
    while ((thread /= 10) > 0);
    print("simt: thread ", sizeof "simt: thread " - 1);
    print(first, (size_t)(digits + sizeof digits - first));
    print(": ", 2);
    print(what, strlen(what));
    print("\n", 1);
    abort();
}
