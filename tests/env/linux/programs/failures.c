/* Errors of calls that other programs here only see succeed. */
#include "calls.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void files(void)
{
    char text[4] = "abc";
    struct stat st;
    int pipes[2];
    const int reads = open("file", O_RDONLY | O_CREAT, 0600), writes = open("file", O_RDWR);
    if (pipe(pipes) != 0)
        exit(1);
    SHOW(pwrite64, writes, text, 3L, 0L);
    SHOW(pwrite64, -1, text, 3L, 0L);
    SHOW(pwrite64, reads, text, 3L, 0L);
    SHOW(pwrite64, writes, text, 3L, -1L);
    SHOW(pwrite64, writes, NOWHERE, 3L, 0L);
    SHOW(pwrite64, pipes[1], text, 3L, 0L);
    SHOW(fstat, -1, &st);
    SHOW(fstat, writes, NOWHERE);
    SHOW(fsync, -1);
    SHOW(fsync, pipes[0]);
    SHOW(fdatasync, -1);
    SHOW(fdatasync, writes);
    SHOW(fdatasync, pipes[0]);
    SHOW(syncfs, -1);
    SHOW(syncfs, writes);
    SHOW(getcwd, text, 1L);
    SHOW(getdents64, -1, text, 3L);
    SHOW(getdents64, writes, text, 3L);
    unlink("file");
}

static void process(void)
{
    char text[16];
    SHOW(sched_get_priority_max, 99);
    SHOW(sched_get_priority_max, -1);
    SHOW(sched_get_priority_min, 99);
    SHOW(setreuid, -1, -1);
    SHOW(setregid, -1, -1);
    SHOW(setresuid, -1, -1, -1);
    SHOW(setresgid, -1, -1, -1);
    SHOW(setgid, getgid());
    SHOW(getresuid, NOWHERE, NOWHERE, NOWHERE);
    SHOW(getresgid, NOWHERE, NOWHERE, NOWHERE);
    SHOW(times, NOWHERE);
    struct {
        unsigned version;
        int thread;
    } capabilities = {0, 0};
    unsigned sets[6];
    SHOW(capget, NOWHERE, sets);
    SHOW(capget, &capabilities, sets);
    printf("version %x\n", capabilities.version);
    SHOW(capget, &capabilities, NULL);
    SHOW(capget, &capabilities, NOWHERE);
    SHOW(capget, &capabilities, sets);
    capabilities.thread = -1;
    SHOW(capget, &capabilities, sets);
    capabilities.thread = 99999;
    SHOW(capget, &capabilities, sets);
    SHOW(uname, NOWHERE);
    SHOW(getrlimit, 99, text);
    SHOW(getrlimit, RLIMIT_NOFILE, NOWHERE);
    SHOW(sysinfo, NOWHERE);
    SHOW(getcpu, NOWHERE, NULL, NULL);
    SHOW(riscv_flush_icache, 0L, 0L, 2L);
    SHOW(riscv_flush_icache, 0L, 0L, 1L);
    SHOW(clock_getres, 99, NULL);
    SHOW(umask, 01777);
    SHOW(umask, 022);
}

static void signals(void)
{
    char text[16];
    SHOW(rt_sigpending, text, 16L);
    SHOW(rt_sigpending, NOWHERE, 8L);
    SHOW(rt_sigaction, 99, NULL, NULL, 8L);
    SHOW(rt_sigaction, SIGKILL, text, NULL, 8L);
    SHOW(rt_sigaction, SIGUSR1, NULL, NULL, 4L);
    SHOW(rt_sigaction, SIGUSR1, NOWHERE, NULL, 8L);
    SHOW(rt_sigaction, SIGUSR1, NULL, NULL, 8L);
    SHOW(rt_sigqueueinfo, getpid(), SIGUSR1, NOWHERE);
    SHOW(timer_getoverrun, 50);
}

int main(void)
{
    files();
    process();
    signals();
    return 0;
}
