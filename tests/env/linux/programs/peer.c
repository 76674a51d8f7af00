/* One of two programs that talk to each other: peer serve|ask internet|file. The server's port, or its socket, is the file `server`. The
 * server answers five times while another thread counts, and so does who asks. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { QUESTIONS = 5 };

static union {
    struct sockaddr head;
    struct sockaddr_in internet;
    struct sockaddr_un file;
} name;
static socklen_t size;

static void fail(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    exit(1);
}

/* Makes the server known when it listens. */
static void tell_port(void)
{
    FILE *file = fopen("server.new", "w");
    if (!file || getsockname(3, &name.head, &size) != 0)
        fail("the port");
    fprintf(file, "%d\n", ntohs(name.internet.sin_port));
    fclose(file);
    rename("server.new", "server");
}

static void find_port(void)
{
    FILE *file = fopen("server", "r");
    int port = 0;
    if (!file || fscanf(file, "%d", &port) != 1)
        fail("the port");
    fclose(file);
    name.internet.sin_port = htons((uint16_t)port);
}

static void serve(int fd, int internet)
{
    char text[64];
    if (bind(fd, &name.head, size) != 0 || listen(fd, 5) != 0)
        fail("server");
    if (internet)
        tell_port();
    int connection = accept(fd, NULL, NULL);
    for (int i = 0; i < QUESTIONS; i++) {
        struct pollfd wait = {.fd = connection, .events = POLLIN};
        if (i % 2 && poll(&wait, 1, -1) != 1)
            fail("poll");
        ssize_t got = read(connection, text, sizeof text);
        if (got <= 0)
            fail("read");
        printf("%.*s\n", (int)got, text);
        if (write(connection, "answer", 6) != 6)
            fail("write");
    }
    printf("end %zd\n", read(connection, text, sizeof text));
}

static void ask(int fd)
{
    char text[64];
    while (connect(fd, &name.head, size) != 0) { /* it may not listen yet */
        if (errno != ECONNREFUSED)
            fail("connect");
        usleep(1000);
    }
    for (int i = 0; i < QUESTIONS; i++) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        const struct timespec time = {0, 100000000};
        nanosleep(&time, NULL);
        snprintf(text, sizeof text, "question %d", i);
        if (write(fd, text, strlen(text)) < 0 || (i % 2 && poll(&wait, 1, 100000) != 1) ||
            read(fd, text, sizeof text) != 6)
            fail("question");
        printf("%.6s\n", text);
    }
}

/* Sleeps, as long as the other thread waits. */
static void *sleep_beside(void *unused)
{
    const struct timespec time = {100, 0};
    nanosleep(&time, NULL);
    puts("the time of the other thread is over");
    exit(1);
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    if (count != 3)
        return 99;
    const int internet = strcmp(arguments[2], "internet") == 0, serves = strcmp(arguments[1], "serve") == 0;
    int fd = socket(internet ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    dup2(fd, 3);
    name.head.sa_family = internet ? AF_INET : AF_UNIX;
    size = internet ? sizeof name.internet : sizeof name.file;
    if (internet)
        name.internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        strcpy(name.file.sun_path, "server");
    if (internet && !serves)
        find_port();
    pthread_create(&thread, NULL, sleep_beside, NULL);
    if (serves)
        serve(fd, internet);
    else
        ask(fd);
    return 0;
}
