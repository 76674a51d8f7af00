/* The files of /proc that programs read, made of what the process is. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/env/linux/state.h"
#include "emu/env/linux/time.h"
#include "emu/env/loader/stack.h"
#include "isa/decoder/set.h"

static void print_maps(struct process *process, FILE *to)
{
    const struct space *space = &process->space;
    for (size_t i = 0; i < space->count; i++) {
        const struct space_map *map = &space->maps[i];
        const char *name = map->file               ? map->file->name
                           : map->end == SPACE_END ? "[stack]"
                           : map->first >= space->break_start && map->first < space->break_end ? "[heap]"
                                                                                               : "";
        fprintf(to, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " 00:00 %d%s%s\n", map->first, map->end,
                map->protection & SPACE_READ ? 'r' : '-', map->protection & SPACE_WRITE ? 'w' : '-',
                map->protection & SPACE_EXECUTE ? 'x' : '-', map->shared ? 's' : 'p', map->offset,
                map->file ? 1 : 0, name[0] ? "                   " : "", name);
    }
}

static void print_auxiliary(struct process *process, FILE *to)
{
    uint64_t word;
    for (uint64_t done = 0; done < process->auxiliary_size; done += 8)
        if (address_space_read(&process->space, process->auxiliary + done, &word, 8))
            (void)fwrite(&word, 8, 1, to);
}

static void print_command(struct process *process, FILE *to)
{
    const struct user_options *o = process->options->user;
    for (size_t i = 0; i < o->argument_count; i++)
        (void)fwrite(o->arguments[i], strlen(o->arguments[i]) + 1, 1, to);
}

static void print_processors(struct process *process, FILE *to)
{
    char isa[ISA_STRING];
    isa_string(decoder_extensions(process->decoder), isa);
    for (unsigned i = 0; i < process->hosts; i++)
        fprintf(to, "processor\t: %u\nhart\t\t: %u\nisa\t\t: %s\nmmu\t\t: sv39\n\n", i, i, isa);
}

static void print_online(struct process *process, FILE *to)
{
    if (process->hosts > 1)
        fprintf(to, "0-%u\n", process->hosts - 1);
    else
        fprintf(to, "0\n");
}

static void print_memory(struct process *process, FILE *to)
{
    fprintf(to,
            "MemTotal:       %8" PRIu64 " kB\nMemFree:        %8" PRIu64 " kB\nMemAvailable:   %8" PRIu64
            " kB\n",
            process->memory.size / 1024, frames_left(&process->space.frames) / 1024,
            frames_left(&process->space.frames) / 1024);
}

/* C libraries ask for it before they give memory back. */
static void print_overcommit(struct process *process, FILE *to)
{
    (void)process;
    fprintf(to, "0\n");
}

static void print_environment(struct process *process, FILE *to)
{
    const struct user_options *o = process->options->user;
    for (size_t i = 0; i < o->environment_count; i++)
        (void)fwrite(o->environment[i], strlen(o->environment[i]) + 1, 1, to);
}

static void print_sizes(struct process *process, FILE *to)
{
    uint64_t size, resident;
    address_space_measure(&process->space, &size, &resident);
    fprintf(to, "%" PRIu64 " %" PRIu64 " 0 0 0 %" PRIu64 " 0\n", size / FRAME, resident / FRAME,
            resident / FRAME);
}

/* Time of threads is counted in 1/100 s. */
static uint64_t ticks(uint64_t ns)
{
    return ns / 10000000;
}

/* The fields of proc(5), of which those that nothing here has are 0. */
static void print_stat(struct process *process, FILE *to)
{
    uint64_t size, resident;
    address_space_measure(&process->space, &size, &resident);
    fprintf(to,
            "%d (%s) R 0 %d %d 0 -1 4194304 0 0 0 0 %" PRIu64 " 0 0 0 20 0 %u 0 0 %" PRIu64 " %" PRIu64
            " 18446744073709551615 0 0 %" PRIu64 " 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 %" PRIu64 " %" PRIu64
            " %" PRIu64 " 0 0 0\n",
            GUEST_PROCESS_ID, process->threads->name, GUEST_PROCESS_ID, GUEST_PROCESS_ID,
            ticks(threads_ran(process)), process->thread_count, size, resident / FRAME, SPACE_END,
            process->space.break_start, process->arguments, process->arguments_end);
}

static void print_status(struct process *process, FILE *to)
{
    uint64_t size, resident;
    address_space_measure(&process->space, &size, &resident);
    fprintf(to,
            "Name:\t%s\nUmask:\t%04o\nState:\tR (running)\nTgid:\t%d\nPid:\t%d\nPPid:\t0\nTracerPid:\t0\n",
            process->threads->name, process->umask, GUEST_PROCESS_ID, GUEST_PROCESS_ID);
    for (const char *const *kind = (const char *const[]){"Uid", "Gid", NULL}; *kind; kind++)
        fprintf(to, "%s:\t%d\t%d\t%d\t%d\n", *kind, GUEST_USER_ID, GUEST_USER_ID, GUEST_USER_ID,
                GUEST_USER_ID);
    fprintf(to,
            "Groups:\t\nVmPeak:\t%8" PRIu64 " kB\nVmSize:\t%8" PRIu64 " kB\nVmHWM:\t%8" PRIu64
            " kB\nVmRSS:\t%8" PRIu64 " kB\nThreads:\t%u\n",
            size / 1024, size / 1024, resident / 1024, resident / 1024, process->thread_count);
}

/* Processors have run as long as the program's threads. */
static void print_times(struct process *process, FILE *to)
{
    const uint64_t ran = ticks(threads_ran(process));
    fprintf(to, "cpu  %" PRIu64 " 0 0 0 0 0 0 0 0 0\n", ran);
    for (unsigned i = 0; i < process->hosts; i++)
        fprintf(to, "cpu%u %" PRIu64 " 0 0 0 0 0 0 0 0 0\n", i, ran / process->hosts);
    fprintf(to, "btime %" PRIu64 "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n", TIME_EPOCH / SECOND);
}

static void print_uptime(struct process *process, FILE *to)
{
    const uint64_t now = linux_now(process);
    fprintf(to, "%" PRIu64 ".%02" PRIu64 " 0.00\n", now / SECOND, now % SECOND / 10000000);
}

/* Files whose text is always the same. */
static const struct {
    const char *path, *text;
} constant_files[] = {
    {"/proc/version", "Linux version 5.10.0 #1\n"},
    {"/proc/loadavg", "0.00 0.00 0.00 1/1 1\n"},
    {"/proc/filesystems", "nodev\tproc\n\text4\n"},
    {"/proc/mounts", "root / ext4 rw 0 0\nproc /proc proc rw 0 0\n"},
    {"/proc/self/mounts", "root / ext4 rw 0 0\nproc /proc proc rw 0 0\n"},
    {"/proc/self/mountinfo", "1 0 0:1 / / rw - ext4 root rw\n2 1 0:2 / /proc rw - proc proc rw\n"},
    {"/proc/self/cgroup", "0::/\n"},
    {"/proc/sys/kernel/osrelease", "5.10.0\n"},
    {"/proc/sys/kernel/ostype", "Linux\n"},
    {"/proc/sys/kernel/pid_max", "32768\n"},
    {"/proc/sys/kernel/threads-max", "4096\n"},
    {"/proc/sys/kernel/random/boot_id", "00000000-0000-4000-8000-000000000001\n"},
    {"/proc/sys/vm/max_map_count", "65530\n"},
};

bool proc_link(const struct process *process, const struct thread *thread, const char *path,
               char link[PATH_MAX])
{
    link[0] = '\0';
    if (strcmp(path, "/proc/self/exe") == 0)
        (void)snprintf(link, PATH_MAX, "%s", process->executable);
    else if (strcmp(path, "/proc/self") == 0)
        (void)snprintf(link, PATH_MAX, "%d", GUEST_PROCESS_ID);
    else if (strcmp(path, "/proc/thread-self") == 0)
        (void)snprintf(link, PATH_MAX, "%d/task/%d", GUEST_PROCESS_ID, thread->id);
    return link[0] != '\0';
}

struct thread *proc_named(const struct process *process, const char *path)
{
    static const char task[] = "/proc/self/task/";
    char *end;
    if (strcmp(path, "/proc/self/comm") == 0)
        return process->threads;
    if (strncmp(path, task, sizeof task - 1) != 0)
        return NULL;
    const long id = strtol(path + sizeof task - 1, &end, 10);
    return strcmp(end, "/comm") == 0 && id > 0 && id <= INT32_MAX ? thread_find(process, (int32_t)id) : NULL;
}

/* Opens a memory file for text; its writer is *to. Returns it or -ENOENT. */
static int open_text(struct process *process, const char *path, FILE **to)
{
    int host = own_file_make_constant(process, path), copy = host < 0 ? -1 : fcntl(host, F_DUPFD_CLOEXEC, 0);
    *to = copy < 0 ? NULL : fdopen(copy, "w");
    return *to ? host : -ENOENT;
}

int proc_open(struct process *process, const char *path)
{
    static const struct {
        const char *path;
        void (*print)(struct process *process, FILE *to);
    } files[] = {
        {"/proc/self/maps", print_maps},
        {"/proc/self/auxv", print_auxiliary},
        {"/proc/self/cmdline", print_command},
        {"/proc/self/environ", print_environment},
        {"/proc/self/stat", print_stat},
        {"/proc/self/statm", print_sizes},
        {"/proc/self/status", print_status},
        {"/proc/cpuinfo", print_processors},
        {"/proc/meminfo", print_memory},
        {"/proc/stat", print_times},
        {"/proc/uptime", print_uptime},
        {"/proc/sys/vm/overcommit_memory", print_overcommit},
        {"/sys/devices/system/cpu/online", print_online},
        {"/sys/devices/system/cpu/possible", print_online},
        {"/sys/devices/system/cpu/present", print_online},
    };
    FILE *to = NULL;
    int host = -ENOENT;
    if (strcmp(path, "/proc/self/exe") == 0)
        return open(process->executable, O_RDONLY | O_CLOEXEC);
    const struct thread *named = proc_named(process, path);
    if (named && (host = open_text(process, path, &to)) >= 0)
        fprintf(to, "%s\n", named->name);
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !to; i++)
        if (strcmp(path, files[i].path) == 0 && (host = open_text(process, path, &to)) >= 0)
            files[i].print(process, to);
    for (size_t i = 0; i < sizeof constant_files / sizeof constant_files[0] && !to; i++)
        if (strcmp(path, constant_files[i].path) == 0 && (host = open_text(process, path, &to)) >= 0)
            (void)fputs(constant_files[i].text, to);
    if (!to)
        return -ENOENT;
    (void)fclose(to);
    (void)lseek(host, 0, SEEK_SET);
    return host;
}
