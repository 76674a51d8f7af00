/* Threads that wait for sockets, and what ends their waiting. */
#include "sockets.h"

enum { LARGE = 3000000 };

static char bytes[LARGE], taken[LARGE];

static union name served;

/* Echoes what comes by one connection, in capital letters. */
static void *echo(void *listens)
{
    char text[100];
    union name peer;
    socklen_t size = sizeof peer;
    int fd = accept(*(int *)listens, &peer.head, &size);
    for (ssize_t got; (got = read(fd, text, sizeof text)) > 0;) {
        for (ssize_t i = 0; i < got; i++)
            text[i] = (char)(text[i] - (text[i] >= 'a' && text[i] <= 'z' ? 32 : 0));
        if (write(fd, text, (size_t)got) != got)
            break;
    }
    close(fd);
    return NULL;
}

static void *ask(void *number)
{
    char text[100];
    int fd = socket(served.head.sa_family, SOCK_STREAM, 0);
    snprintf(text, sizeof text, "question %ld", (long)number);
    const size_t length = strlen(text);
    if (connect(fd, &served.head, size_of(&served)) != 0 || send(fd, text, length, 0) != (ssize_t)length ||
        recv(fd, text, length, MSG_WAITALL) != (ssize_t)length)
        printf("question %ld: %s\n", (long)number, strerrorname_np(errno));
    text[length] = '\0';
    close(fd);
    return strdup(text);
}

/* Several clients and as many servers, which wait for each other. */
static void threads(int family)
{
    enum { PAIRS = 5 };
    pthread_t servers[PAIRS], clients[PAIRS];
    int listens = server(family, SOCK_STREAM, &served);
    for (long i = 0; i < PAIRS; i++)
        pthread_create(&servers[i], NULL, echo, &listens);
    for (long i = 0; i < PAIRS; i++)
        pthread_create(&clients[i], NULL, ask, (void *)i);
    for (long i = 0; i < PAIRS; i++) {
        void *answer;
        pthread_join(clients[i], &answer);
        printf("%s\n", (char *)answer);
        free(answer);
    }
    for (long i = 0; i < PAIRS; i++)
        pthread_join(servers[i], NULL);
    close(listens);
}

static int ends[2];

static void *send_all(void *unused)
{
    (void)unused;
    return (void *)send(ends[1], bytes, LARGE, 0);
}

/* A call that sends more than fits returns when all is sent; one that waits for all, when all has come. */
static void whole(int family)
{
    pthread_t thread;
    void *sent;
    long sum = 0;
    for (int i = 0; i < LARGE; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    connection(family, ends);
    pthread_create(&thread, NULL, send_all, NULL);
    while (sum < LARGE)
        sum += read(ends[0], taken + sum, (size_t)(sum % 7777) + 1000);
    pthread_join(thread, &sent);
    printf("sent %ld, read %ld, right %d\n", (long)sent, sum, memcmp(bytes, taken, LARGE) == 0);
    memset(taken, 0, LARGE);
    pthread_create(&thread, NULL, send_all, NULL);
    sum = recv(ends[0], taken, LARGE, MSG_WAITALL);
    pthread_join(thread, &sent);
    printf("sent %ld, read %ld, right %d\n", (long)sent, sum, memcmp(bytes, taken, LARGE) == 0);
    close_both(ends);
}

static void *receive(void *fd)
{
    char text[10];
    const long got = recv(*(int *)fd, text, sizeof text, 0);
    return (void *)(got < 0 ? -errno : got);
}

static void *take(void *fd)
{
    const long got = accept(*(int *)fd, NULL, NULL);
    return (void *)(got < 0 ? -errno : got);
}

static void *send_much(void *fd)
{
    const long sent = send(*(int *)fd, bytes, LARGE, 0);
    return (void *)(sent < 0 ? -errno : sent);
}

/* What ends the waiting of other threads: signals, shutdown. */
static void interrupted(int family)
{
    pthread_t thread;
    const struct sigaction action = {.sa_handler = note},
                           again = {.sa_handler = note, .sa_flags = SA_RESTART};
    const struct timeval limit = {1000, 0};
    union name name;
    int listens = server(family, SOCK_STREAM, &name);
    connection(family, ends);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, receive, &ends[0]);
    nap(200);
    pthread_kill(thread, SIGUSR1);
    joined("interrupted receive", thread);
    pthread_create(&thread, NULL, take, &listens);
    nap(200);
    pthread_kill(thread, SIGUSR1);
    joined("interrupted accept", thread);
    sigaction(SIGUSR1, &again, NULL);
    pthread_create(&thread, NULL, receive, &ends[0]);
    nap(200);
    pthread_kill(thread, SIGUSR1);
    nap(200);
    SHOW(write, ends[1], "abc", 3L);
    joined("restarted receive", thread);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    pthread_create(&thread, NULL, receive, &ends[0]);
    nap(200);
    pthread_kill(thread, SIGUSR1);
    joined("receive with a limit", thread);
    pthread_create(&thread, NULL, receive, &ends[0]);
    nap(100);
    SHOW(shutdown, ends[0], SHUT_RD);
    joined("receive after shutdown", thread);
    pthread_create(&thread, NULL, take, &listens);
    nap(100);
    SHOW(shutdown, listens, SHUT_RD);
    joined("accept after shutdown", thread);
    close_both(ends);
    connection(family, ends);
    signal(SIGPIPE, note);
    pthread_create(&thread, NULL, send_much, &ends[0]);
    nap(200);
    pthread_kill(thread, SIGUSR1);
    void *sent;
    pthread_join(thread, &sent);
    printf("a part is sent: %d\n", (long)sent > 0 && (long)sent < LARGE);
    close_both(ends);
    close(listens);
}

static void *send_later(void *fd)
{
    nap(100);
    return (void *)send(*(int *)fd, "abc", 3, 0);
}

/* poll, select and epoll. */
static void polls(int family)
{
    pthread_t thread;
    fd_set in, out;
    union name name;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u64 = 77}, found[4];
    struct pollfd several[3];
    const int one = 1, none = 0;
    struct timeval limit = {0, 1000};
    int listens = server(family, SOCK_STREAM, &name), epoll = epoll_create1(0), outer = epoll_create1(0);
    struct pollfd only = {.fd = socket(family, SOCK_STREAM, 0), .events = POLLIN | POLLOUT};
    printf("poll of one without a connection %d", poll(&only, 1, -1));
    printf(": %x\n", only.revents);
    close(only.fd);
    connection(family, ends);
    several[0] = (struct pollfd){.fd = listens, .events = POLLIN};
    several[1] = (struct pollfd){.fd = ends[0], .events = POLLIN | POLLOUT};
    several[2] = (struct pollfd){.fd = ends[1], .events = POLLIN};
    printf("poll %d: %x %x %x\n", poll(several, 3, -1), several[0].revents, several[1].revents,
           several[2].revents);
    several[1].events = POLLIN;
    printf("poll %d\n", poll(several, 3, 20));
    pthread_create(&thread, NULL, send_later, &ends[0]);
    printf("poll %d: %x %x %x\n", poll(several, 3, -1), several[0].revents, several[1].revents,
           several[2].revents);
    joined("sent", thread);
    printf("read %zd\n", read(ends[1], taken, 10));
    pthread_create(&thread, NULL, send_later, &ends[0]);
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(ends[1], &in);
    FD_SET(listens, &in);
    printf("select %d", select(ends[1] + 20, &in, &out, NULL, NULL));
    printf(": %d %d\n", FD_ISSET(ends[1], &in), FD_ISSET(listens, &in));
    joined("sent", thread);
    printf("read %zd\n", read(ends[1], taken, 10));
    FD_ZERO(&in);
    FD_SET(ends[1], &in);
    printf("select %d\n", select(ends[1] + 1, &in, NULL, NULL, &limit));
    SHOW(epoll_ctl, epoll, EPOLL_CTL_ADD, ends[1], &event);
    SHOW(epoll_ctl, outer, EPOLL_CTL_ADD, epoll, &event);
    printf("epoll %d\n", epoll_wait(epoll, found, 4, 20));
    pthread_create(&thread, NULL, send_later, &ends[0]);
    printf("epoll %d", epoll_wait(epoll, found, 4, -1));
    printf(": %x %d\n", found[0].events, (int)found[0].data.u64);
    joined("sent", thread);
    printf("read %zd\n", read(ends[1], taken, 10));
    pthread_create(&thread, NULL, send_later, &ends[0]);
    printf("epoll of an epoll %d\n", epoll_wait(outer, found, 4, -1));
    joined("sent", thread);
    only = (struct pollfd){.fd = epoll, .events = POLLIN};
    printf("poll of an epoll %d\n", poll(&only, 1, -1));
    printf("read %zd\n", read(ends[1], taken, 10));
    pthread_create(&thread, NULL, send_later, &ends[0]);
    printf("poll of an epoll %d\n", poll(&only, 1, -1));
    joined("sent", thread);
    printf("read %zd\n", read(ends[1], taken, 10));
    SHOW(ioctl, ends[1], FIONBIO, &one);
    SHOW(read, ends[1], taken, 10L);
    SHOW(recvfrom, ends[1], taken, 10L, 0, NULL, NULL);
    SHOW(ioctl, ends[1], FIONBIO, &none);
    SHOW(fcntl, ends[1], F_SETFL, O_NONBLOCK);
    SHOW(read, ends[1], taken, 10L);
    SHOW(ioctl, ends[1], FIONREAD, NOWHERE);
    close(ends[0]);
    printf("epoll %d: %x\n", epoll_wait(epoll, found, 4, -1), found[0].events);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_DEL, ends[1], NULL);
    close(ends[1]);
    close(listens);
    close(epoll);
    close(outer);
}

/* A copy of a descriptor is the same socket. */
static void copies(int family)
{
    connection(family, ends);
    int copy = dup(ends[1]);
    close(ends[1]);
    SHOW(write, ends[0], "copied", 6L);
    SHOW(read, copy, taken, 10L);
    SHOW(write, copy, "back", 4L);
    SHOW(read, ends[0], taken, 10L);
    close(copy);
    SHOW(read, ends[0], taken, 10L);
    close(ends[0]);
}

/* As many sockets as there are descriptors. */
static void many(void)
{
    enum { SOCKETS = 900 };
    static struct pollfd all[SOCKETS];
    union name name = loopback(AF_INET);
    socklen_t size = sizeof name;
    for (int i = 0; i < SOCKETS; i++) {
        all[i] = (struct pollfd){.fd = socket(AF_INET, SOCK_DGRAM, 0), .events = POLLIN};
        if (all[i].fd < 0)
            printf("socket %d: %s\n", i, strerrorname_np(errno));
    }
    bind(all[800].fd, &name.head, size_of(&name));
    getsockname(all[800].fd, &name.head, &size);
    printf("poll %d\n", poll(all, SOCKETS, 0));
    SHOW(sendto, all[3].fd, "abc", 3L, 0, &name, size);
    printf("poll %d: %x\n", poll(all, SOCKETS, -1), all[800].revents);
    for (int i = 0; i < SOCKETS; i++)
        close(all[i].fd);
}

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static union name full;

static void *send_another(void *fd)
{
    const long sent = sendto(*(int *)fd, "a", 1, 0, &full.head, size_of(&full));
    return (void *)(sent < 0 ? -errno : sent);
}

/* Queues of AF_UNIX that are full, until a time limit, a signal or a receiver ends the wait. */
static void queues(void)
{
    const struct timeval limit = {0, 60000}, none = {0, 0};
    const struct sigaction action = {.sa_handler = note},
                           again = {.sa_handler = note, .sa_flags = SA_RESTART};
    pthread_t thread;
    char text[4];
    int taker = socket(AF_UNIX, SOCK_DGRAM, 0), fd = socket(AF_UNIX, SOCK_DGRAM, 0), connected;
    full = file_name("queue");
    bind(taker, &full.head, size_of(&full));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    long before;
    do
        before = now();
    while (sendto(fd, "a", 1, 0, &full.head, size_of(&full)) == 1);
    printf("full: %s, in time %d\n", strerrorname_np(errno), now() - before >= 59);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, send_another, &fd);
    nap(100);
    pthread_kill(thread, SIGUSR1);
    joined("interrupted send", thread);
    sigaction(SIGUSR1, &again, NULL);
    pthread_create(&thread, NULL, send_another, &fd);
    nap(100);
    pthread_kill(thread, SIGUSR1);
    nap(100);
    SHOW(read, taker, text, 4L);
    joined("restarted send", thread);
    close(fd);
    close(taker);
    unlink("queue");
    taker = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(taker, &full.head, size_of(&full));
    listen(taker, 0);
    do {
        before = now();
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        connected = connect(fd, &full.head, size_of(&full));
    } while (connected == 0);
    printf("full: %s, in time %d\n", strerrorname_np(errno), now() - before >= 59);
    close(fd);
    close(taker);
    unlink("queue");
}

static void all(int family)
{
    threads(family);
    whole(family);
    interrupted(family);
    polls(family);
    copies(family);
}

int main(void)
{
    for_families(all);
    many();
    queues();
    return 0;
}
