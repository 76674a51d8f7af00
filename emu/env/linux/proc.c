/* The files of /proc that programs read, made of what the process is. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/env/linux/state.h"
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

int proc_open(struct process *process, const char *path)
{
    static const struct {
        const char *path;
        void (*print)(struct process *process, FILE *to);
    } files[] = {
        {"/proc/self/maps", print_maps},
        {"/proc/self/auxv", print_auxiliary},
        {"/proc/self/cmdline", print_command},
        {"/proc/cpuinfo", print_processors},
        {"/proc/meminfo", print_memory},
        {"/proc/sys/vm/overcommit_memory", print_overcommit},
        {"/sys/devices/system/cpu/online", print_online},
        {"/sys/devices/system/cpu/possible", print_online},
    };
    if (strcmp(path, "/proc/self/exe") == 0)
        return open(process->executable, O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(path, files[i].path) != 0)
            continue;
        int host = memfd_create(path, MFD_CLOEXEC), copy = host < 0 ? -1 : fcntl(host, F_DUPFD_CLOEXEC, 0);
        FILE *to = copy < 0 ? NULL : fdopen(copy, "w");
        if (!to)
            return -ENOENT;
        files[i].print(process, to);
        (void)fclose(to);
        (void)lseek(host, 0, SEEK_SET);
        return host;
    }
    return -ENOENT;
}
