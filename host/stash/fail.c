/* Errors of descriptors: the texts of stash_error.def, with the place in the program. */
#include <croft/simt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "host/stash/stash.h"

enum { FAIL_STATUS = 128 + SIGSEGV }; /* as after the exception of the hardware */

/* Prints "croft: INSTRUCTION in kernel ...: " and the text, at once, and ends the program. Other threads that fail meanwhile
 * wait for the end. */
static _Noreturn void fail(const struct stash_request *request, const char *text)
{
    static atomic_flag failed = ATOMIC_FLAG_INIT;
    char line[1024];
    while (atomic_flag_test_and_set(&failed))
        simt_pause();
    const int length =
        snprintf(line, sizeof line, "croft: %s in kernel %s, %s:%u, thread %llu of block %llu: %s\n",
                 request->name, request->site->kernel, request->site->file, (unsigned)request->site->line,
                 (unsigned long long)(thread_id() % block_size()), (unsigned long long)block_id(), text);
    (void)write(STDERR_FILENO, line, (size_t)length < sizeof line ? (size_t)length : sizeof line);
    _exit(FAIL_STATUS);
}

void stash_fail(const struct stash_request *request, enum croft_stash_error error, uint64_t value)
{
    enum { D, X, P };
    static const struct {
        const char *subject, *rule;
        int format;
    } texts[] = {
#define CROFT_STASH_ERROR(number, name, subject, format, rule) [number] = {subject, rule, format},
#include <croft/stash_error.def>
    };
    char text[512];
    (void)snprintf(text, sizeof text,
                   texts[error].format == X ? "%s is 0x%llx%s%s: %s" : "%s is %llu%s%s: %s",
                   texts[error].subject, (unsigned long long)value, texts[error].format == P ? ", " : "",
                   texts[error].format == P ? croft_stash_parameter(value) : "", texts[error].rule);
    fail(request, text);
}

void stash_fail_memory(const struct stash_request *request, uint64_t bytes)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "no memory for %llu bytes; without a stash, the runtime keeps a copy of each map",
                   (unsigned long long)bytes);
    fail(request, text);
}

void stash_check(const struct stash_request *request)
{
    const struct croft_stash_limits limits = {
        .local = simt_shared_size(),
        /* on Linux, any address; UINT64_MAX stands for an end beyond all of them */
        .global_end = croft_simt.hardware ? CROFT_STASH_GLOBAL_END : UINT64_MAX - 1,
    };
    struct croft_stash_fault fault;
    if ((uintptr_t)request->map % sizeof(uint64_t))
        stash_fail(request, CROFT_STASH_ERROR_DESCRIPTOR, (uintptr_t)request->map);
    fault = croft_stash_check(request->map, &limits);
    if (fault.error != CROFT_STASH_OK)
        stash_fail(request, fault.error, fault.value);
}
