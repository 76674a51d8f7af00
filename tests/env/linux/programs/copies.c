/* Calls that move bytes from one file to another. */
#include "calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

enum { MUCH = 300000 };

static int file, copy, empty[2], pipes[2], more[2];

static int make(const char *name, const char *text)
{
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    (void)!write(fd, text, strlen(text));
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void show_text(int fd)
{
    char text[64] = "";
    const ssize_t length = pread(fd, text, sizeof text - 1, 0);
    printf("%zd bytes: ", length);
    for (ssize_t i = 0; i < length; i++)
        putchar(text[i] ? text[i] : '-');
    printf(", at %ld\n", (long)lseek(fd, 0, SEEK_CUR));
}

static void read_pipe(int fd)
{
    char text[64] = "";
    SHOW(read, fd, text, sizeof text - 1);
    printf("  '%s'\n", text);
}

static void send_files(void)
{
    off_t at = 2, wrong = -1;
    const int only_reads = open("file", O_RDONLY), only_writes = open("file", O_WRONLY),
              folder = open(".", O_RDONLY), appends = open("copy", O_WRONLY | O_APPEND);
    SHOW(sendfile, copy, file, &at, 5);
    printf("at %ld\n", (long)at);
    SHOW(sendfile, copy, file, NULL, 4);
    SHOW(sendfile, copy, file, NULL, 100);
    SHOW(sendfile, copy, file, NULL, 100);
    show_text(copy);
    show_text(file);
    at = 8;
    SHOW(sendfile, pipes[1], file, &at, 100);
    printf("at %ld\n", (long)at);
    read_pipe(pipes[0]);
    SHOW(sendfile, copy, file, &at, 0);
    SHOW(sendfile, copy, file, &wrong, 1);
    SHOW(sendfile, copy, file, NOWHERE, 1);
    SHOW(sendfile, copy, 99, NULL, 1);
    SHOW(sendfile, 99, file, NULL, 1);
    SHOW(sendfile, copy, only_writes, NULL, 1);
    SHOW(sendfile, only_reads, file, NULL, 1);
    SHOW(sendfile, copy, folder, NULL, 1);
    SHOW(sendfile, appends, file, NULL, 1);
    close(only_reads);
    close(only_writes);
    close(folder);
    close(appends);
}

static void copy_ranges(void)
{
    loff_t from = 1, to = 20, wrong = -5;
    const int only_reads = open("copy", O_RDONLY), folder = open(".", O_RDONLY),
              appends = open("copy", O_WRONLY | O_APPEND);
    ftruncate(copy, 0);
    lseek(copy, 0, SEEK_SET);
    lseek(file, 3, SEEK_SET);
    SHOW(copy_file_range, file, &from, copy, &to, 4, 0);
    printf("at %ld and %ld\n", (long)from, (long)to);
    SHOW(copy_file_range, file, NULL, copy, NULL, 5, 0);
    show_text(copy);
    show_text(file);
    SHOW(copy_file_range, file, NULL, copy, NULL, 100, 0);
    SHOW(copy_file_range, file, NULL, copy, NULL, 100, 0);
    SHOW(copy_file_range, file, NULL, copy, NULL, 0, 0);
    SHOW(copy_file_range, file, NULL, copy, NULL, 1, 1);
    SHOW(copy_file_range, file, &wrong, copy, NULL, 1, 0);
    SHOW(copy_file_range, file, NOWHERE, copy, NULL, 1, 0);
    SHOW(copy_file_range, 99, NULL, copy, NULL, 1, 0);
    SHOW(copy_file_range, file, NULL, 99, NULL, 1, 0);
    SHOW(copy_file_range, file, NULL, only_reads, NULL, 1, 0);
    SHOW(copy_file_range, file, NULL, appends, NULL, 1, 0);
    SHOW(copy_file_range, folder, NULL, copy, NULL, 1, 0);
    SHOW(copy_file_range, pipes[0], NULL, copy, NULL, 1, 0);
    from = 0, to = 2;
    SHOW(copy_file_range, file, &from, file, &to, 4, 0);
    to = 4;
    SHOW(copy_file_range, file, &from, file, &to, 4, 0);
    show_text(file);
    close(only_reads);
    close(folder);
    close(appends);
}

static void splices(void)
{
    loff_t at = 1;
    char text[] = "vector", others[] = " and another";
    struct iovec vectors[2] = {{text, 6}, {others, 12}};
    ftruncate(copy, 0);
    lseek(copy, 0, SEEK_SET);
    lseek(file, 0, SEEK_SET);
    SHOW(splice, file, &at, pipes[1], NULL, 4, 0);
    printf("at %ld\n", (long)at);
    SHOW(splice, file, NULL, pipes[1], NULL, 3, 0);
    SHOW(tee, pipes[0], more[1], 5, 0);
    read_pipe(more[0]);
    SHOW(splice, pipes[0], NULL, more[1], NULL, 2, 0);
    read_pipe(more[0]);
    at = 10;
    SHOW(splice, pipes[0], NULL, copy, &at, 100, 0);
    printf("at %ld\n", (long)at);
    show_text(copy);
    SHOW(splice, pipes[0], NULL, copy, NULL, 1, SPLICE_F_NONBLOCK);
    SHOW(tee, pipes[0], more[1], 1, SPLICE_F_NONBLOCK);
    SHOW(splice, pipes[0], NULL, copy, NULL, 0, 0);
    SHOW(splice, pipes[0], &at, copy, NULL, 1, 0);
    SHOW(splice, file, NULL, copy, NULL, 1, 0);
    SHOW(splice, pipes[0], NULL, pipes[1], NULL, 1, 0);
    SHOW(splice, pipes[1], NULL, copy, NULL, 1, 0);
    SHOW(splice, pipes[0], NULL, 99, NULL, 1, 0);
    SHOW(splice, 99, NULL, pipes[1], NULL, 1, 0);
    SHOW(splice, pipes[0], NULL, copy, NULL, 1, 64);
    SHOW(tee, pipes[0], copy, 1, 0);
    SHOW(tee, pipes[0], pipes[1], 1, 0);
    SHOW(tee, 99, pipes[1], 1, 0);
    SHOW(tee, pipes[0], more[1], 0, 0);
    SHOW(vmsplice, pipes[1], vectors, 2, 0);
    read_pipe(pipes[0]);
    SHOW(write, pipes[1], "text", 4);
    SHOW(vmsplice, pipes[0], vectors, 1, 0);
    printf("  '%s'\n", text);
    SHOW(vmsplice, copy, vectors, 1, 0);
    SHOW(vmsplice, 99, vectors, 1, 0);
    SHOW(vmsplice, pipes[1], vectors, 1, 64);
}

/* A pipe has room for a number of pages, or of parts of them. */
static void vectors(void)
{
    static char pages[32][4096] __attribute__((aligned(4096)));
    static char text[sizeof pages];
    struct iovec two[2] = {{pages[0], 65536}, {pages[16], 65536}},
                 parts[2] = {{pages[0] + 100, 70000}, {pages[20], 100}},
                 beyond[2] = {{pages[3], 4096}, {NOWHERE, 10}}, nothing = {pages[0], 0};
    int own[2];
    if (pipe(own) != 0)
        return;
    for (int i = 0; i < 32; i++)
        memset(pages[i], 'a' + i, sizeof pages[i]);
    SHOW(vmsplice, own[0], two, 1, SPLICE_F_NONBLOCK);
    SHOW(vmsplice, own[1], two, 2, 0);
    SHOW(vmsplice, own[1], two, 2, SPLICE_F_NONBLOCK);
    SHOW(read, own[0], text, sizeof text);
    printf("as it was %d\n", memcmp(text, pages, 65536) == 0);
    SHOW(vmsplice, own[1], parts, 2, 0);
    SHOW(read, own[0], text, sizeof text);
    printf("as it was %d\n", memcmp(text, pages[0] + 100, 65436) == 0);
    SHOW(vmsplice, own[1], beyond, 2, 0);
    SHOW(vmsplice, own[0], parts, 2, SPLICE_F_NONBLOCK);
    printf("%c %c\n", pages[0][99], pages[0][100]);
    SHOW(vmsplice, own[0], parts, 2, SPLICE_F_NONBLOCK);
    SHOW(vmsplice, own[1], beyond + 1, 1, 0);
    SHOW(vmsplice, own[1], two, 0, 0);
    SHOW(vmsplice, own[1], &nothing, 1, 0);
    SHOW(vmsplice, own[1], two, 1025, 0);
    SHOW(vmsplice, file, two, 0, 0);
    close(own[0]);
    close(own[1]);
}

/* Places and lengths that no file has. */
static void limits(void)
{
    const int own = make("own", "0123456789"), zero = open("/dev/zero", O_RDWR), folder = open(".", O_RDONLY);
    loff_t from = 0, to = 10;
    ftruncate(copy, 0);
    lseek(copy, 0, SEEK_SET);
    SHOW(copy_file_range, own, &from, own, &to, 1 << 20, 0);
    printf("at %ld and %ld\n", (long)from, (long)to);
    show_text(own);
    static const loff_t places[][3] = {
        {0, 5, 6},
        {0, 5, 5},
        {INT64_MAX, 0, 10},
        {INT64_MAX - 5, 0, 3},
        {INT64_MAX - 5, 0, 100},
        {0, INT64_MAX, 10},
        {0, INT64_MAX, 0},
        {30, INT64_MAX, 1},
        {0, INT64_MAX - 5, 3},
        {0, INT64_MAX - 5, 100},
        {-1, 0, 10},
        {-5, 0, 1},
        {0, -1, 10},
        {0, -5, 1},
        {30, 0, 10},
        {3, 40, -1},
        {0, 0, -1},
        {0, 0, 0},
        {0, 0, 5},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        from = places[i][0], to = places[i][1];
        printf("%zu: ", i);
        SHOW(copy_file_range, own, &from, own, &to, places[i][2], 0);
        printf("at %ld and %ld\n", (long)from, (long)to);
        from = to = places[i][0];
        if (from + 5 != INT64_MAX || places[i][2] > 5) /* else it depends on the file system */
            SHOW(sendfile, copy, own, &from, places[i][2]);
        SHOW(splice, own, &to, more[1], NULL, places[i][2], SPLICE_F_NONBLOCK);
        printf("at %ld and %ld\n", (long)from, (long)to);
        from = places[i][1];
        SHOW(splice, more[0], NULL, copy, &from, places[i][2], SPLICE_F_NONBLOCK);
    }
    show_text(own);
    from = -1, to = 0;
    SHOW(copy_file_range, folder, &from, own, &to, 10, 0);
    SHOW(splice, pipes[0], NULL, more[1], NULL, -1, SPLICE_F_NONBLOCK);
    SHOW(sendfile, copy, pipes[0], &to, 10);
    SHOW(sendfile, copy, pipes[0], NULL, 10);
    from = 5;
    SHOW(sendfile, copy, zero, &from, 1000);
    SHOW(sendfile, pipes[1], zero, NULL, 8);
    printf("at %ld\n", (long)from);
    read_pipe(pipes[0]);
    const loff_t *only_read = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    lseek(copy, 0, SEEK_SET);
    SHOW(copy_file_range, own, only_read, copy, NULL, 10, 0);
    printf("at %ld\n", (long)lseek(copy, 0, SEEK_CUR));
    close(own);
    close(zero);
    close(folder);
}

static int drained;

/* Reads all of a pipe, slowly at first. */
static void *drain(void *from)
{
    const struct timespec little = {0, 2000000};
    char bytes[5000];
    long sum = 0, step;
    nanosleep(&little, NULL);
    while (sum < MUCH && (step = read((int)(intptr_t)from, bytes, sizeof bytes)) > 0)
        sum += step;
    drained = (int)sum;
    return NULL;
}

static void *write_later(void *unused)
{
    const struct timespec little = {0, 2000000};
    nanosleep(&little, NULL);
    (void)!write(pipes[1], "late", 4);
    return unused;
}

/* More than a pipe or socket holds: the call waits for who reads. */
static void waits(void)
{
    static char much[MUCH], aligned[8192] __attribute__((aligned(4096)));
    pthread_t thread;
    off_t at = 0;
    int pair[2];
    const int large = open("large", O_RDWR | O_CREAT | O_TRUNC, 0644);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    memset(much, 'm', MUCH);
    (void)!write(large, much, MUCH);
    for (int i = 0; i < 2; i++) {
        at = 0;
        pthread_create(&thread, NULL, drain, (void *)(intptr_t)(i == 0 ? pipes[0] : pair[0]));
        while (at < MUCH && syscall(SYS_sendfile, i == 0 ? pipes[1] : pair[1], large, &at, MUCH - at) > 0)
            ;
        pthread_join(thread, NULL);
        printf("read %d, at %ld\n", drained, (long)at);
    }
    pthread_create(&thread, NULL, write_later, NULL);
    SHOW(splice, pipes[0], NULL, copy, NULL, 4, 0);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, write_later, NULL);
    SHOW(tee, pipes[0], more[1], 4, 0);
    pthread_join(thread, NULL);
    read_pipe(pipes[0]);
    read_pipe(more[0]);
    struct iovec page = {aligned, 8192};
    int small[2];
    if (pipe(small) != 0 || fcntl(small[1], F_SETPIPE_SZ, 4096) != 4096 ||
        write(small[1], aligned, 4096) != 4096)
        return;
    fcntl(small[1], F_SETFL, O_NONBLOCK); /* which vmsplice does not ask for */
    pthread_create(&thread, NULL, drain, (void *)(intptr_t)small[0]);
    SHOW(vmsplice, small[1], &page, 1, 0);
    close(small[1]);
    pthread_join(thread, NULL);
    printf("read %d\n", drained);
    fcntl(pipes[1], F_SETFL, O_NONBLOCK);
    at = 0;
    printf("some %d\n", syscall(SYS_sendfile, pipes[1], large, &at, MUCH) == at && at > 0 && at < MUCH);
    SHOW(sendfile, pipes[1], large, &at, MUCH);
    close(large);
    close(pair[0]);
    close(pair[1]);
}

static void note(int number)
{
    printf("signal %d\n", number);
}

/* Shared mappings and files agree. */
static void mappings(void)
{
    off_t at = 0;
    ftruncate(copy, 4096);
    lseek(copy, 0, SEEK_SET);
    ftruncate(file, 4096);
    char *from = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
         *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0);
    memcpy(from, "stored", 6);
    SHOW(sendfile, copy, file, &at, 6);
    printf("mapped %.6s\n", to);
    memcpy(from, "STORED", 6);
    lseek(copy, 0, SEEK_SET);
    SHOW(copy_file_range, file, &(loff_t){0}, copy, NULL, 6, 0);
    printf("mapped %.6s\n", to);
    memcpy(from, "pieces", 6);
    SHOW(splice, file, &(loff_t){0}, more[1], NULL, 6, 0);
    SHOW(splice, more[0], NULL, copy, &(loff_t){0}, 6, 0);
    printf("mapped %.6s\n", to);
    munmap(from, 4096);
    munmap(to, 4096);
}

int main(void)
{
    file = make("file", "0123456789");
    copy = make("copy", "");
    if (pipe(pipes) != 0 || pipe(more) != 0 || pipe(empty) != 0)
        return 1;
    send_files();
    copy_ranges();
    splices();
    vectors();
    limits();
    waits();
    mappings();
    signal(SIGPIPE, note);
    close(empty[0]);
    SHOW(sendfile, empty[1], file, &(off_t){0}, 4);
    SHOW(splice, file, &(loff_t){0}, empty[1], NULL, 4, 0);
    SHOW(vmsplice, empty[1], &(struct iovec){"text", 4}, 1, 0);
    return 0;
}
