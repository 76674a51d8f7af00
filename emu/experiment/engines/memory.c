#include "emu/experiment/engines/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads a file that holds one number. Returns false if it does not, as with "max". */
static bool number_in(const char *path, uint64_t *number)
{
    FILE *file = fopen(path, "re");
    bool good = file && fscanf(file, "%" SCNu64, number) == 1;
    if (file)
        (void)fclose(file);
    return good;
}

/* Finds the folder of this process's control group (version 2). */
static bool group_folder(char folder[PATH_MAX])
{
    char line[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0;
    }
    if (file)
        (void)fclose(file);
    return found && snprintf(folder, PATH_MAX, "/sys/fs/cgroup%s", line + 3) < PATH_MAX;
}

/* Returns the bytes that the control group and the groups above it leave. */
static uint64_t group_available(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    uint64_t least = UINT64_MAX, most, used;
    if (!group_folder(folder))
        return least;
    for (char *slash = folder; slash && strlen(folder) >= strlen("/sys/fs/cgroup");) {
        (void)snprintf(path, sizeof path, "%s/memory.max", folder);
        if (number_in(path, &most)) {
            (void)snprintf(path, sizeof path, "%s/memory.current", folder);
            if (number_in(path, &used) && (used > most ? 0 : most - used) < least)
                least = used > most ? 0 : most - used;
        }
        slash = strrchr(folder, '/');
        if (slash)
            *slash = '\0';
    }
    return least;
}

uint64_t memory_available(void)
{
    char line[256];
    uint64_t kib, least = group_available();
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1 && kib * 1024 < least)
            least = kib * 1024;
    if (file)
        (void)fclose(file);
    return least;
}

uint64_t memory_resident(pid_t process)
{
    char path[64];
    uint64_t pages = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/statm", (long)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %" SCNu64, &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
