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
static _Noreturn void fail(const char *instruction, const struct croft_stash_site *site, const char *text)
{
    static atomic_flag failed = ATOMIC_FLAG_INIT;
    char line[1024];
    while (atomic_flag_test_and_set(&failed))
        simt_pause();
    const int length =
        snprintf(line, sizeof line, "croft: %s in kernel %s, %s:%u, thread %llu of block %llu: %s\n",
                 instruction, site->kernel, site->file, (unsigned)site->line,
                 (unsigned long long)(thread_id() % block_size()), (unsigned long long)block_id(), text);
    (void)write(STDERR_FILENO, line, (size_t)length < sizeof line ? (size_t)length : sizeof line);
    _exit(FAIL_STATUS);
}

void stash_fail(const char *instruction, const struct croft_stash_site *site, struct croft_stash_fault fault)
{
    enum { D, X };
    static const struct {
        const char *subject, *rule;
        int format;
    } texts[] = {
#define CROFT_STASH_ERROR(number, name, subject, format, rule) [number] = {subject, rule, format},
#include <croft/stash_error.def>
    };
    char text[512];
    (void)snprintf(text, sizeof text, texts[fault.error].format == X ? "%s is 0x%llx: %s" : "%s is %llu: %s",
                   texts[fault.error].subject, (unsigned long long)fault.value, texts[fault.error].rule);
    fail(instruction, site, text);
}

void stash_fail_memory(const char *instruction, const struct croft_stash_site *site, uint64_t bytes)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "no memory for %llu bytes; without a stash, the runtime keeps a copy of each map",
                   (unsigned long long)bytes);
    fail(instruction, site, text);
}

void stash_check(const char *instruction, const struct croft_stash_site *site,
                 const struct croft_stash_map *map)
{
    const struct croft_stash_limits limits = {
        .local = simt_shared_size(),
        .global_end = croft_simt.hardware ? CROFT_STASH_GLOBAL_END : UINT64_MAX,
    };
    struct croft_stash_fault fault = {CROFT_STASH_ERROR_DESCRIPTOR, (uintptr_t)map};
    if ((uintptr_t)map % sizeof(uint64_t) == 0)
        fault = croft_stash_check(map, &limits);
    if (fault.error != CROFT_STASH_OK)
        stash_fail(instruction, site, fault);
}
