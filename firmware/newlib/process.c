/* newlib's process functions in machine mode: exit, signals to itself, and the heap. */
#include <croft/firmware/exit.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "host/newlib/calls.h"

/* linker/bare.ld */
extern char _end[], __heap_end[];

enum { PROCESS_ID = 1 };

void _exit(int status)
{
    machine_exit(status);
}

int _getpid(void)
{
    return PROCESS_ID;
}

/* newlib calls installed handlers before this function, so only the default action is left. Signals up to 15
 * that programs send to themselves have Linux's numbers, except SIGBUS and SIGSYS. */
int _kill(int process, int number)
{
    if (process != PROCESS_ID) {
        errno = ESRCH;
        return -1;
    }
    if (number != 0)
        machine_exit(128 + (number == SIGBUS ? 7 : number == SIGSYS ? 31 : number));
    return 0;
}

void *_sbrk(ptrdiff_t increment)
{
    static uintptr_t heap_end;
    if (heap_end == 0)
        heap_end = (uintptr_t)_end;
    uintptr_t before = heap_end, room = (uintptr_t)__heap_end - before;
    if (increment > 0 ? (uintptr_t)increment > room : -(uintptr_t)increment > before - (uintptr_t)_end) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap_end = before + (uintptr_t)increment;
    return (void *)before;
}

#include "host/newlib/children.h"
