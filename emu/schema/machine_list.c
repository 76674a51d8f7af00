#include "emu/schema/machine_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".yaml";

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length >= sizeof suffix &&
           strcmp(entry->d_name + length - (sizeof suffix - 1), suffix) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

bool machine_list(struct machine_list *list, const char *shipped_dir, struct error *err)
{
    struct dirent **entries = NULL;
    *list = (struct machine_list){0};
    int count = scandir(shipped_dir, &entries, is_description, by_name);
    if (count < 0)
        (void)error_set(err, "%s: cannot list the shipped machines: %s", shipped_dir, strerror(errno));
    else
        list->names = calloc((size_t)count + 1, sizeof *list->names);
    for (int i = 0; i < count; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - (sizeof suffix - 1)] = '\0';
        if (list->names && (list->names[list->count] = strdup(entries[i]->d_name)))
            list->count++;
        free(entries[i]);
    }
    free(entries);
    return count >= 0;
}

void machine_list_free(struct machine_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct machine_list){0};
}
