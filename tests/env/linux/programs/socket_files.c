/* Sockets whose names are files. */
#include "sockets.h"

static char bytes[200000], taken[1000];
static int ends[2];
static union name served;

static void print_file(const char *what, const union name *name, socklen_t size)
{
    printf("%s: size %d family %d '%.20s'\n", what, (int)size, name->head.sa_family,
           size > 2 ? name->file.sun_path : "");
}

static void *connect_file(void *fd)
{
    return (void *)(long)connect(*(int *)fd, &served.head, size_of(&served));
}

static void files(void)
{
    union name name = file_name("socket"), got;
    struct stat st;
    socklen_t size = sizeof got;
    pthread_t thread;
    int listens = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
    umask(027);
    SHOW(listen, listens, 1);
    SHOW(connect, fd, &name, size_of(&name));
    SHOW(bind, listens, &name, size_of(&name));
    SHOW(bind, listens, &name, size_of(&name));
    SHOW(bind, fd, &name, size_of(&name));
    SHOW(connect, fd, &name, size_of(&name));
    printf("a socket: %d\n",
           stat("socket", &st) == 0 && S_ISSOCK(st.st_mode) ? (int)(st.st_mode & 0777) : -1);
    SHOW(listen, listens, 5);
    SHOW(getsockname, listens, &got, &size);
    print_file("server", &got, size);
    SHOW(connect, fd, &name, size_of(&name));
    SHOW(connect, fd, &name, size_of(&name));
    size = sizeof got;
    SHOW(getpeername, fd, &got, &size);
    print_file("peer", &got, size);
    size = sizeof got;
    got = (union name){.head.sa_family = 0};
    ends[0] = fd;
    ends[1] = (int)SHOW_OK(accept, listens, &got, &size);
    print_file("client", &got, size);
    size = sizeof got;
    SHOW(getsockname, ends[1], &got, &size);
    print_file("accepted", &got, size);
    SHOW(write, ends[0], "through a file", 14L);
    SHOW(read, ends[1], taken, 100L);
    SHOW(sendto, ends[0], "abc", 3L, 0, &name, size_of(&name));
    SHOW(sendto, ends[0], bytes, 200000L, MSG_DONTWAIT, NULL, 0);
    close_both(ends);
    fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    SHOW(connect, fd, &name, size_of(&name)); /* of another type */
    close(fd);
    /* A listener that has no room makes clients wait. */
    served = name;
    listen(listens, 0);
    int clients[2] = {socket(AF_UNIX, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_STREAM, 0)};
    SHOW(connect, clients[0], &name, size_of(&name));
    pthread_create(&thread, NULL, connect_file, &clients[1]);
    nap(100);
    close(accept(listens, NULL, NULL));
    joined("connected", thread);
    close(accept(listens, NULL, NULL));
    close_both(clients);
    close(listens);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    SHOW(connect, fd, &name, size_of(&name)); /* nobody has it */
    unlink("socket");
    close(open("file", O_CREAT | O_RDWR, 0600));
    name = file_name("file");
    SHOW(connect, fd, &name, size_of(&name));
    SHOW(bind, fd, &name, size_of(&name));
    unlink("file");
    name = file_name("none/socket");
    SHOW(bind, fd, &name, size_of(&name));
    SHOW(bind, fd, &name, 200);
    name = file_name(".");
    SHOW(bind, fd, &name, size_of(&name));
    SHOW(bind, fd, NOWHERE, size_of(&name));
    mkdir("folder", 0700);
    name = file_name(
        "folder/a_name_that_is_about_as_long_as_the_address_of_a_socket_allows_it_to_be_0123456789_abcdefg");
    SHOW(bind, fd, &name, size_of(&name));
    size = sizeof got;
    SHOW(getsockname, fd, &got, &size);
    printf("size %d, right %d\n", (int)size, strcmp(got.file.sun_path, name.file.sun_path) == 0);
    unlink(name.file.sun_path);
    rmdir("folder");
    close(fd);
}

/* Datagrams between files, and ends without names. */
static void file_datagrams(int type)
{
    const union name names[2] = {file_name("one"), file_name("two")};
    union name from;
    socklen_t size = sizeof from;
    int fd[3] = {socket(AF_UNIX, type, 0), socket(AF_UNIX, type, 0), socket(AF_UNIX, type, 0)};
    bind(fd[0], &names[0].head, size_of(&names[0]));
    bind(fd[1], &names[1].head, size_of(&names[1]));
    SHOW(sendto, fd[0], "to two", 6L, 0, &names[1], size_of(&names[1]));
    SHOW(recvfrom, fd[1], taken, 4L, MSG_TRUNC, &from, &size);
    print_file("from", &from, size);
    SHOW(sendto, fd[2], "nameless", 8L, 0, &names[1], size_of(&names[1]));
    size = sizeof from;
    SHOW(recvfrom, fd[1], taken, 100L, 0, &from, &size);
    printf("size %d\n", (int)size);
    SHOW(connect, fd[2], &names[0], size_of(&names[0]));
    SHOW(write, fd[2], "connected", 9L);
    SHOW(read, fd[0], taken, 100L);
    unlink("two");
    SHOW(sendto, fd[0], "lost", 4L, 0, &names[1], size_of(&names[1]));
    for (int i = 0; i < 3; i++)
        close(fd[i]);
    unlink("one");
}

int main(void)
{
    files();
    file_datagrams(SOCK_DGRAM);
    return 0;
}
