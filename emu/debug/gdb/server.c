#include "emu/debug/gdb_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/debug/gdb/state.h"
#include "emu/sim/alloc.h"

enum {
    SEND_SECONDS = 10,            /* drop a gdb that does not read for this long */
    FAREWELL_MILLISECONDS = 1000, /* wait this long for gdb to close the connection after the program's end */
    INPUT = 4096,
    PORT_MAX = 65535,
};

struct gdb_server {
    int listener, client; /* -1: none */
    bool lost;            /* the last write to the client failed */
    char command[160];
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* path of the Unix socket, or empty */
    size_t got, used;                                     /* bytes of `input` received, and used */
    char input[INPUT];
};

static bool listen_at(struct gdb_server *server, int family, const struct sockaddr *address, socklen_t size)
{
    server->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->listener < 0)
        return false;
    const int on = 1;
    if (family == AF_INET)
        (void)setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* The socket file's mode decides who may connect to it; bind() takes that mode from the umask. */
    mode_t saved = umask(0177);
    bool bound = bind(server->listener, address, size) == 0;
    int failure = errno;
    (void)umask(saved);
    errno = failure;
    return bound && listen(server->listener, 1) == 0;
}

static bool open_port(struct gdb_server *server, unsigned port, struct error *err)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (!listen_at(server, AF_INET, (const struct sockaddr *)&address, size) ||
        getsockname(server->listener, (struct sockaddr *)&address, &size) != 0)
        return error_set(err, "--gdb: cannot listen on port %u of 127.0.0.1: %s", port, strerror(errno));
    (void)snprintf(server->command, sizeof server->command, "target remote 127.0.0.1:%u",
                   ntohs(address.sin_port));
    return true;
}

/* Removes a Unix socket at the path if no process listens on it. */
static void remove_abandoned(const struct sockaddr_un *address)
{
    struct stat stat;
    if (lstat(address->sun_path, &stat) != 0 || !S_ISSOCK(stat.st_mode))
        return;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return;
    if (connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED)
        (void)unlink(address->sun_path);
    (void)close(probe);
}

static bool open_path(struct gdb_server *server, const char *path, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path)
        return error_set(err,
                         "--gdb: '%s' is neither a port (0 to %d) nor the path of a socket (1 to %zu bytes)",
                         path, PORT_MAX, sizeof address.sun_path - 1);
    if (!strchr(path, '/'))
        return error_set(err,
                         "--gdb: '%s' is neither a port (0 to %d) nor the path of a socket, which contains a "
                         "'/', such as ./%s",
                         path, PORT_MAX, path);
    memcpy(address.sun_path, path, length + 1);
    remove_abandoned(&address);
    if (!listen_at(server, AF_UNIX, (const struct sockaddr *)&address, sizeof address))
        return error_set(err, "--gdb: cannot create the socket '%s': %s", path, strerror(errno));
    memcpy(server->path, path, length + 1);
    (void)snprintf(server->command, sizeof server->command, "target remote %s", path);
    return true;
}

/* Parses a decimal number as a port; a number of more than 5 digits becomes PORT_MAX + 1. */
static bool parse_port(const char *text, unsigned long *port)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0 || text[length] != '\0')
        return false;
    *port = length > 5 ? PORT_MAX + 1 : strtoul(text, NULL, 10);
    return true;
}

struct gdb_server *gdb_server_open(const char *where, struct error *err)
{
    unsigned long port;
    bool opened;
    struct gdb_server *server = alloc(1, sizeof *server);
    server->listener = server->client = -1;
    if (!parse_port(where, &port))
        opened = open_path(server, where, err);
    else if (port > PORT_MAX)
        opened = error_set(err, "--gdb: port %s does not exist; allowed: 0 to %d", where, PORT_MAX);
    else
        opened = open_port(server, (unsigned)port, err);
    if (opened)
        return server;
    gdb_server_close(server);
    return NULL;
}

void gdb_server_close(struct gdb_server *server)
{
    if (!server)
        return;
    if (server->client >= 0)
        (void)close(server->client);
    if (server->listener >= 0)
        (void)close(server->listener);
    if (server->path[0])
        (void)unlink(server->path);
    free(server);
}

const char *gdb_server_command(const struct gdb_server *server)
{
    return server->command;
}

static void send_bytes(void *context, const void *bytes, size_t length)
{
    struct gdb_server *server = context;
    const char *from = bytes;
    while (length > 0 && !server->lost) {
        ssize_t sent = send(server->client, from, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            server->lost = true;
            break;
        }
        from += sent;
        length -= (size_t)sent;
    }
}

static bool ready(int file, int milliseconds)
{
    struct pollfd wanted = {.fd = file, .events = POLLIN};
    return poll(&wanted, 1, milliseconds) > 0;
}

static void drop_client(struct gdb_server *server, struct gdb_session *session)
{
    (void)close(server->client);
    server->client = -1;
    if (session->attached)
        gdb_session_disconnect(session);
}

/* Accepts a gdb that connects within `milliseconds` (-1: waits). False with err set when accepting fails for
 * good. */
static bool take_client(struct gdb_server *server, struct gdb_session *session, int milliseconds,
                        struct error *err)
{
    if (!ready(server->listener, milliseconds))
        return true;
    server->client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (server->client < 0)
        return errno == EINTR || errno == ECONNABORTED || errno == EAGAIN ||
               error_set(err, "--gdb: cannot accept a connection: %s", strerror(errno));
    const int on = 1;
    const struct timeval patience = {.tv_sec = SEND_SECONDS};
    (void)setsockopt(server->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on a Unix socket */
    (void)setsockopt(server->client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    server->lost = false;
    server->got = server->used = 0;
    gdb_session_connect(session, send_bytes, server);
    return true;
}

/* Serves the bytes that have arrived or that arrive within `milliseconds` (-1: waits). */
static void serve(struct gdb_server *server, struct gdb_session *session, int milliseconds)
{
    if (server->used == server->got) {
        if (!ready(server->client, milliseconds))
            return;
        ssize_t got = recv(server->client, server->input, sizeof server->input, 0);
        if (got < 0 && errno == EINTR)
            return;
        if (got <= 0) {
            drop_client(server, session);
            return;
        }
        server->got = (size_t)got;
        server->used = 0;
    }
    server->used += gdb_session_receive(session, server->input + server->used, server->got - server->used);
    if (server->lost || !session->attached)
        drop_client(server, session);
}

/* Lets gdb read the last packet: closing while its acknowledgement is unread could discard that packet. */
static void drain_client(struct gdb_server *server)
{
    char ignored[INPUT];
    (void)shutdown(server->client, SHUT_WR);
    while (ready(server->client, FAREWELL_MILLISECONDS) &&
           recv(server->client, ignored, sizeof ignored, 0) > 0)
        continue;
}

static bool run_session(struct gdb_server *server, struct gdb_session *session, struct error *err)
{
    while (session->state != GDB_ENDED) {
        int patience = session->state == GDB_STOPPED ? -1 : 0;
        if (server->client >= 0)
            serve(server, session, patience);
        else if (!take_client(server, session, patience, err))
            return false;
        if (session->state == GDB_RUNNING || session->state == GDB_FREE)
            gdb_session_advance(session);
    }
    if (server->client >= 0)
        drain_client(server);
    return true;
}

bool gdb_server_run(struct gdb_server *server, const struct gdb_target *target, struct gdb_stop *end,
                    struct error *err)
{
    struct gdb_session *session = gdb_session_new(target);
    bool ended = run_session(server, session, err);
    *end = session->last;
    gdb_session_free(session);
    return ended;
}
