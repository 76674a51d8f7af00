/* Folders: create, list in order, nested paths, change into, remove; and what stat says. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* The order of a folder's entries is the file system's own: sort them. */
static void list(const char *path)
{
    char names[64][32];
    size_t count = 0;
    DIR *folder = opendir(path);
    if (!folder) {
        printf("opendir %s: %s\n", path, strerror(errno));
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) && count < 64;)
        snprintf(names[count++], sizeof *names, "%.31s", entry->d_name);
    closedir(folder);
    qsort(names, count, sizeof *names, compare_names);
    printf("%s has %zu entries:", path, count);
    for (size_t i = 0; i < count; i++)
        printf(" %s", names[i]);
    printf("\n");
}

static void describe(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        printf("stat %s: error %d\n", path, errno);
    else
        printf("stat %s: %s, %ld bytes\n", path, S_ISDIR(status.st_mode) ? "folder" : "file",
               S_ISDIR(status.st_mode) ? 0L : (long)status.st_size);
}

int main(void)
{
    printf("mkdir %d\n", mkdir("outer", 0755));
    printf("mkdir %d\n", mkdir("outer/inner", 0755));
    for (int i = 0; i < 40; i++) {
        char name[40];
        snprintf(name, sizeof name, "outer/file-%02d.txt", i * 7 % 40);
        FILE *file = fopen(name, "w");
        fprintf(file, "%0*d\n", i + 1, i);
        fclose(file);
    }
    list("outer");
    list("outer/inner");
    list("nowhere");
    describe("outer");
    describe("outer/file-14.txt");
    describe("outer/file-99.txt");
    describe("outer/inner/../file-07.txt");
    printf("chdir %d\n", chdir("outer"));
    describe("file-00.txt");
    char here[512];
    const char *slash = getcwd(here, sizeof here) ? strrchr(here, '/') : NULL;
    printf("now in %s\n", slash ? slash + 1 : "?");
    for (int i = 0; i < 40; i += 2) {
        char name[40];
        snprintf(name, sizeof name, "file-%02d.txt", i);
        if (remove(name) != 0)
            printf("remove %s: %d\n", name, errno);
    }
    list(".");
    printf("rmdir inner %d\n", rmdir("inner"));
    printf("rmdir again %d", rmdir("inner"));
    printf(" errno %d\n", errno);
    printf("chdir back %d\n", chdir(".."));
    list("outer");
    return 0;
}
