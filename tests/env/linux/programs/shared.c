/* Memory that has a name: shm_open(), sem_open(), and the files of /dev/shm behind them. */
#include "calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096 };

/* Returns a path in a folder that other programs do not use. */
static const char *in(const char *folder, const char *name)
{
    static char paths[4][64];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/croft.%d.%s", folder, getpid(), name);
    return path;
}

#define FILE_OF(name)   in("/dev/shm", name)
#define OBJECT_OF(name) in("", name)

static void files(void)
{
    struct stat st;
    const int inside = open("inside", O_RDWR | O_CREAT, 0600);
    SHOW(openat, AT_FDCWD, FILE_OF("one"), O_RDWR, 0600);
    const int one = (int)SHOW_OK(openat, AT_FDCWD, FILE_OF("one"), O_RDWR | O_CREAT | O_EXCL, 0640);
    SHOW(openat, AT_FDCWD, FILE_OF("one"), O_RDWR | O_CREAT | O_EXCL, 0600);
    SHOW(openat, AT_FDCWD, FILE_OF("one"), O_RDONLY | O_DIRECTORY, 0600);
    SHOW(write, one, "text", 4);
    SHOW(fstat, one, &st);
    printf("size %ld mode %o\n", (long)st.st_size, st.st_mode);
    const int again = (int)SHOW_OK(openat, AT_FDCWD, FILE_OF("one"), O_RDONLY);
    char text[8] = "";
    SHOW(read, again, text, sizeof text);
    printf("read %s\n", text);
    SHOW(write, again, "x", 1);
    SHOW(newfstatat, AT_FDCWD, FILE_OF("one"), &st, 0);
    printf("size %ld\n", (long)st.st_size);
    SHOW(newfstatat, AT_FDCWD, "/dev/shm", &st, 0);
    printf("folder %d\n", S_ISDIR(st.st_mode));
    SHOW(faccessat, AT_FDCWD, FILE_OF("one"), W_OK);
    SHOW(faccessat, AT_FDCWD, FILE_OF("none"), F_OK);
    SHOW(linkat, AT_FDCWD, FILE_OF("one"), AT_FDCWD, FILE_OF("two"), 0);
    SHOW(linkat, AT_FDCWD, FILE_OF("one"), AT_FDCWD, FILE_OF("two"), 0);
    SHOW(linkat, AT_FDCWD, FILE_OF("none"), AT_FDCWD, FILE_OF("four"), 0);
    SHOW(unlinkat, AT_FDCWD, FILE_OF("one"), 0);
    SHOW(unlinkat, AT_FDCWD, FILE_OF("one"), 0);
    SHOW(unlinkat, AT_FDCWD, FILE_OF("two"), AT_REMOVEDIR);
    SHOW(renameat2, AT_FDCWD, FILE_OF("two"), AT_FDCWD, FILE_OF("three"), 1);
    SHOW(renameat2, AT_FDCWD, FILE_OF("two"), AT_FDCWD, FILE_OF("three"), 0);
    const int three = (int)SHOW_OK(openat, AT_FDCWD, FILE_OF("three"), O_RDWR | O_TRUNC);
    SHOW(pread64, again, text, sizeof text, 0);
    SHOW(renameat2, AT_FDCWD, FILE_OF("three"), AT_FDCWD, FILE_OF("three"), 0);
    SHOW(unlinkat, AT_FDCWD, FILE_OF("three"), 0);
    SHOW(openat, AT_FDCWD, FILE_OF("three"), O_RDONLY);
    SHOW(write, three, "still there", 11);
    SHOW(pread64, again, text, sizeof text - 1, 0);
    printf("read %s\n", text);
    close(one);
    close(again);
    close(three);
    close(inside);
}

/* Whether a folder of that path has an entry. */
static int lists(const char *path, const char *name)
{
    int found = 0;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        found += strcmp(entry->d_name, name) == 0;
    if (folder)
        closedir(folder);
    return found;
}

/* By their paths, whoever runs the emulator. */
static void paths(void)
{
    const struct timespec times[2] = {{50, 0}, {60, 0}};
    struct stat st;
    char text[8];
    const int made = (int)SHOW_OK(openat, AT_FDCWD, FILE_OF("one"), O_RDWR | O_CREAT | O_EXCL, 0);
    SHOW(write, made, "text", 4);
    SHOW(fchmodat, AT_FDCWD, FILE_OF("one"), 0604);
    SHOW(truncate, FILE_OF("one"), 100);
    SHOW(utimensat, AT_FDCWD, FILE_OF("one"), times, 0);
    SHOW(newfstatat, AT_FDCWD, in("/dev/shm/.//.", "one"), &st, 0);
    printf("size %ld mode %o time %ld links %ld\n", (long)st.st_size, st.st_mode, (long)st.st_mtim.tv_sec,
           (long)st.st_nlink);
    SHOW(faccessat, AT_FDCWD, in("//dev/shm", "one"), R_OK | W_OK);
    SHOW(faccessat, AT_FDCWD, FILE_OF("one"), X_OK);
    SHOW(faccessat, AT_FDCWD, FILE_OF("one/"), F_OK);
    SHOW(faccessat, AT_FDCWD, "/dev/shm", R_OK | W_OK | X_OK);
    SHOW(faccessat, AT_FDCWD, "/dev/shm/", W_OK);
    SHOW(readlinkat, AT_FDCWD, FILE_OF("one"), text, sizeof text);
    SHOW(readlinkat, AT_FDCWD, FILE_OF("none"), text, sizeof text);
    SHOW(openat, AT_FDCWD, FILE_OF("one/"), O_RDWR);
    SHOW(openat, AT_FDCWD, FILE_OF("one/."), O_RDWR);
    SHOW(openat, AT_FDCWD, FILE_OF("one/more"), O_RDWR);
    SHOW(openat, AT_FDCWD, FILE_OF("none/more"), O_RDWR | O_CREAT, 0600);
    SHOW(openat, AT_FDCWD, "/dev/shm", O_RDWR);
    SHOW(mkdirat, AT_FDCWD, FILE_OF("one"), 0700);
    SHOW(mkdirat, AT_FDCWD, "/dev/shm", 0700);
    SHOW(symlinkat, "text", AT_FDCWD, FILE_OF("one"));
    SHOW(unlinkat, AT_FDCWD, FILE_OF("one"), AT_REMOVEDIR);
    SHOW(unlinkat, AT_FDCWD, FILE_OF("none"), AT_REMOVEDIR);
    SHOW(unlinkat, AT_FDCWD, FILE_OF("one/"), 0);
    SHOW(renameat2, AT_FDCWD, FILE_OF("one"), AT_FDCWD, FILE_OF("none/more"), 0);
    SHOW(renameat2, AT_FDCWD, FILE_OF("one/"), AT_FDCWD, FILE_OF("two"), 0);
    const int folder = (int)SHOW_OK(openat, AT_FDCWD, "/dev/shm", O_RDONLY | O_DIRECTORY);
    SHOW(newfstatat, folder, FILE_OF("one") + strlen("/dev/shm/"), &st, 0);
    printf("lists %d %d %d %d\n", lists("/dev/shm", FILE_OF("one") + strlen("/dev/shm/")),
           lists("/dev/shm/", "."), lists("/dev/shm/.", ".."), lists("/dev/shm", "none"));
    SHOW(unlinkat, folder, FILE_OF("one") + strlen("/dev/shm/"), 0);
    printf("lists %d\n", lists("/dev/shm", FILE_OF("one") + strlen("/dev/shm/")));
    SHOW(fstat, made, &st);
    printf("size %ld links %ld\n", (long)st.st_size, (long)st.st_nlink);
    close(made);
    close(folder);
}

static sem_t *gate, *answer;
static int *memory;

static void *work(void *unused)
{
    const int fd = shm_open(OBJECT_OF("memory"), O_RDWR, 0);
    int *mine = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    for (int i = 0; i < 5; i++) {
        sem_wait(gate);
        mine[1] = mine[0] * 2;
        sem_post(answer);
    }
    munmap(mine, PAGE);
    return unused;
}

/* Two mappings of a name, and threads that wait for semaphores with names. */
static void objects(void)
{
    pthread_t thread;
    printf("none %d\n", shm_open(OBJECT_OF("none"), O_RDWR, 0));
    const int fd = shm_open(OBJECT_OF("memory"), O_RDWR | O_CREAT | O_EXCL, 0600);
    SHOW(ftruncate, fd, PAGE);
    memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    gate = sem_open(OBJECT_OF("gate"), O_CREAT | O_EXCL, 0600, 0);
    answer = sem_open(OBJECT_OF("answer"), O_CREAT, 0600, 0);
    printf("twice %d\n", sem_open(OBJECT_OF("gate"), O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED);
    printf("same %d\n", sem_open(OBJECT_OF("gate"), 0) == gate);
    pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < 5; i++) {
        memory[0] = i + 10;
        sem_post(gate);
        sem_wait(answer);
        printf("%d\n", memory[1]);
    }
    pthread_join(thread, NULL);
    printf("%d %d %d\n", shm_unlink(OBJECT_OF("memory")), sem_unlink(OBJECT_OF("gate")),
           sem_unlink(OBJECT_OF("answer")));
    printf("%d\n", shm_unlink(OBJECT_OF("memory")));
    memory[2] = 5;
    munmap(memory, PAGE);
}

int main(void)
{
    files();
    paths();
    objects();
    return 0;
}
