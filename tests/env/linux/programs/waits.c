/* Threads that wait for input while others wait for something else: waits worker|watchdog|many|server|ask. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { INPUTS = 4, THREADS = 3, ENTRIES = 400 };

static sem_t inputs;
static const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "server"};

static void nap(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void *read_bytes(void *unused)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char byte;
    while (poll(&input, 1, -1) == 1 && read(0, &byte, 1) == 1)
        sem_post(&inputs);
    return unused;
}

static void *watch(void *unused)
{
    nap(1000000000);
    puts("the watchdog");
    exit(1);
    return unused;
}

/* One thread hands its input to another; with `watched`, a third one sleeps meanwhile. */
static void work(int watched)
{
    pthread_t thread;
    if (watched)
        pthread_create(&thread, NULL, watch, NULL);
    pthread_create(&thread, NULL, read_bytes, NULL);
    puts("waits");
    for (int i = 0; i < INPUTS; i++) {
        sem_wait(&inputs);
        printf("input %d\n", i);
    }
}

static void *poll_many(void *unused)
{
    struct pollfd entries[ENTRIES];
    for (int i = 0; i < ENTRIES; i++)
        entries[i] = (struct pollfd){.fd = 0, .events = POLLIN};
    printf("poll %d\n", poll(entries, ENTRIES, -1));
    return unused;
}

/* More entries together than a process may have files open. */
static void many(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, poll_many, NULL);
    nap(20);
    puts("waits");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *await_client(void *socket)
{
    printf("accept %d\n", accept(*(int *)socket, NULL, NULL) < 0);
    exit(0);
}

/* One thread waits for a socket; who waits last, for standard input. */
static void serve(int fd)
{
    pthread_t thread;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    if (bind(fd, (const struct sockaddr *)&name, sizeof name) != 0 || listen(fd, 1) != 0)
        exit(1);
    pthread_create(&thread, NULL, await_client, &fd);
    nap(20);
    puts("waits");
    printf("poll %d\n", poll(&input, 1, -1));
}

int main(int count, char **words)
{
    const char *mode = count > 1 ? words[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0); /* the test answers it */
    if (!strcmp(mode, "many"))
        many();
    else if (!strcmp(mode, "server"))
        serve(socket(AF_UNIX, SOCK_STREAM, 0));
    else if (!strcmp(mode, "ask"))
        return connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr *)&name, sizeof name) != 0;
    else
        work(!strcmp(mode, "watchdog"));
    return 0;
}
