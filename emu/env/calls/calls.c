#include "emu/env/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "emu/env/calls/state.h"
#include "emu/env/loader/stack.h"

enum { A0 = 10, A7 = 17 };

/* Calls that return a constant. */
#define CONSTANT(name, value)                                                                                \
    static int64_t call_##name(struct user *user, const uint64_t a[6])                                       \
    {                                                                                                        \
        (void)user;                                                                                          \
        (void)a;                                                                                             \
        return (value);                                                                                      \
    }
CONSTANT(nothing, 0)
CONSTANT(process_id, GUEST_PROCESS_ID)
CONSTANT(parent_id, 0)
CONSTANT(user_id, GUEST_USER_ID)
CONSTANT(umask, 022)
CONSTANT(absent, -ENOSYS)

/* Linux's numbers for riscv64 (include/uapi/asm-generic/unistd.h). Numbers from 1024 on are used by libgloss
 * only. */
static const struct {
    uint16_t number;
    int64_t (*serve)(struct user *user, const uint64_t a[6]);
} table[] = {
    {17, call_getcwd},         {23, call_dup},
    {24, call_dup3},           {25, call_fcntl},
    {29, call_ioctl},          {34, call_mkdirat},
    {35, call_unlinkat},       {37, call_linkat},
    {38, call_renameat},       {46, call_ftruncate},
    {48, call_faccessat},      {49, call_chdir},
    {50, call_fchdir},         {56, call_openat},
    {57, call_close},          {61, call_getdents64},
    {62, call_lseek},          {63, call_read},
    {64, call_write},          {65, call_readv},
    {66, call_writev},         {67, call_pread},
    {68, call_pwrite},         {78, call_readlinkat},
    {79, call_fstatat},        {80, call_fstat},
    {82, call_fsync},          {83, call_fsync}, /* fdatasync */
    {93, call_exit},           {94, call_exit},  /* exit_group */
    {96, call_process_id},                       /* set_tid_address */
    {98, call_absent},                           /* futex: the kernel's, if threads run on several hosts */
    {99, call_nothing},                          /* set_robust_list */
    {101, call_nanosleep},     {113, call_clock_gettime},
    {114, call_clock_getres},  {115, call_clock_nanosleep},
    {124, call_nothing},                            /* sched_yield */
    {129, call_kill},          {130, call_kill},    /* tkill */
    {131, call_tgkill},        {132, call_nothing}, /* sigaltstack: handlers never run */
    {134, call_rt_sigaction},  {135, call_rt_sigprocmask},
    {153, call_times},         {160, call_uname},
    {166, call_umask},         {169, call_gettimeofday},
    {172, call_process_id},    {173, call_parent_id},
    {174, call_user_id}, /* getuid, geteuid, getgid, getegid */
    {175, call_user_id},       {176, call_user_id},
    {177, call_user_id},       {178, call_process_id}, /* gettid */
    {214, call_brk},           {220, call_clone},
    {215, call_munmap},        {216, call_mremap},
    {222, call_mmap},          {226, call_nothing}, /* mprotect: single pages have no protection */
    {233, call_nothing},                            /* madvise */
    {258, call_absent},                             /* riscv_hwprobe: programs then use AT_HWCAP */
    {259, call_flush_icache},  {261, call_prlimit},
    {276, call_renameat2},     {278, call_getrandom},
    {293, call_absent}, /* rseq: C libraries work without it */
    {403, call_clock_gettime}, {1024, call_open},
    {1025, call_link},         {1026, call_unlink},
    {1030, call_mkdir},        {1033, call_access},
    {1038, call_stat},         {1039, call_lstat},
    {1062, call_time},
};

static void warn_unknown(struct user *user, uint64_t number)
{
    for (unsigned i = 0; i < user->unknown_count; i++) {
        if (user->unknown_calls[i] == number)
            return;
    }
    if (user->unknown_count == GUEST_CALLS_NOTED)
        return;
    user->unknown_calls[user->unknown_count++] = number;
    char place[SYMBOLS_TEXT];
    guest_warn(user, "system call %" PRIu64 " at 0x%" PRIx64 ", %s, is unknown: it returns -ENOSYS", number,
               user->hart->pc, symbols_describe(user->symbols, user->hart->pc, place, sizeof place));
    if (user->unknown_count == GUEST_CALLS_NOTED)
        guest_warn(user, "further unknown system calls are not reported");
}

int64_t calls_serve(struct user *user)
{
    uint64_t number = user->hart->x[A7];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].number == number)
            return table[i].serve(user, &user->hart->x[A0]);
    }
    warn_unknown(user, number);
    return -ENOSYS;
}
