/* A virtio network device (Virtual I/O Device 1.1, section 5.1), without offloads, connected to a Unix socket
 * or to nothing.
 *
 * On the socket, the length of a frame (4 bytes, most significant first) precedes the frame, as with QEMU's
 * `-netdev stream`. Frames from the peer wait in the socket until the driver has a buffer. Without a peer,
 * sent frames are dropped. */
#include "emu/dev/virtio/net.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/dev/virtio/transport.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/sim/text/say.h"

enum { RECEIVE, TRANSMIT };
enum { HEADER = 12, LENGTH = 4, FRAME_MAX = 65536, PATH = 108, MAC = 6 };
#define F_MAC    (UINT64_C(1) << 5)
#define F_STATUS (UINT64_C(1) << 16)

struct net_config {
    struct device_config device;
    char socket[PATH];
};

struct virtio_net {
    struct virtio virtio;
    int socket; /* -1: no peer */
    size_t got; /* bytes of `frame` that have arrived */
    uint8_t frame[LENGTH + FRAME_MAX];
    uint8_t sent[LENGTH + FRAME_MAX];
};

static void hang_up(struct virtio_net *net, const char *reason)
{
    say_warning("devices.net: the peer is gone (%s); frames are dropped from now on", reason);
    (void)close(net->socket);
    net->socket = -1;
}

static void send_frame(struct virtio_net *net, size_t size)
{
    for (size_t done = 0; net->socket >= 0 && done < size;) {
        ssize_t part = send(net->socket, net->sent + done, size - done, MSG_NOSIGNAL);
        if (part < 0 && errno != EINTR)
            hang_up(net, strerror(errno));
        done += part > 0 ? (size_t)part : 0;
    }
}

static void notify(struct virtio *virtio, unsigned queue)
{
    struct virtio_net *net = CONTAINER_OF(virtio, struct virtio_net, virtio);
    const struct virtio_chain *chain;
    if (queue == RECEIVE)
        virtio_net_poll(net);
    while (queue == TRANSMIT && (chain = virtio_take(virtio, queue))) {
        if (chain->read_size < HEADER || chain->read_size - HEADER > FRAME_MAX) {
            virtio_break(virtio);
            return;
        }
        uint32_t size = (uint32_t)(chain->read_size - HEADER);
        for (unsigned i = 0; i < LENGTH; i++)
            net->sent[i] = (uint8_t)(size >> 8 * (LENGTH - 1 - i));
        (void)virtio_get(virtio, HEADER, net->sent + LENGTH, size);
        send_frame(net, LENGTH + size);
        virtio_complete(virtio, queue, 0);
    }
}

/* Returns the bytes of the frame that is arriving; 0 until its length has arrived. */
static size_t frame_size(const struct virtio_net *net)
{
    uint32_t size = 0;
    for (unsigned i = 0; i < LENGTH && net->got >= LENGTH; i++)
        size = size << 8 | net->frame[i];
    return size;
}

/* Reads more of the frame that is arriving, without waiting. Returns whether it is complete. */
static bool receive(struct virtio_net *net)
{
    while (net->socket >= 0) {
        size_t wanted = net->got < LENGTH ? LENGTH : LENGTH + frame_size(net);
        if (net->got >= LENGTH && net->got == wanted)
            return true;
        if (wanted > sizeof net->frame) {
            hang_up(net, "it sent a frame of more than 65536 bytes");
            return false;
        }
        ssize_t part = recv(net->socket, net->frame + net->got, wanted - net->got, MSG_DONTWAIT);
        if (part < 0 && (errno == EAGAIN || errno == EINTR))
            return false;
        if (part <= 0)
            hang_up(net, part < 0 ? strerror(errno) : "it has closed the connection");
        else
            net->got += (size_t)part;
    }
    return false;
}

void virtio_net_poll(struct virtio_net *net)
{
    static const uint8_t header[HEADER] = {[10] = 1}; /* num_buffers */
    const struct virtio_chain *chain;
    while (virtio_live(&net->virtio) && receive(net)) {
        size_t size = frame_size(net);
        chain = virtio_take(&net->virtio, RECEIVE);
        if (!chain)
            return;
        net->got = 0;
        bool fits = chain->write_size >= HEADER + size;
        (void)virtio_put(&net->virtio, 0, header, HEADER);
        if (fits)
            (void)virtio_put(&net->virtio, HEADER, net->frame + LENGTH, size);
        virtio_complete(&net->virtio, RECEIVE, fits ? (uint32_t)(HEADER + size) : 0);
    }
}

bool virtio_net_wait(const struct virtio_net *net, int other, int milliseconds)
{
    struct pollfd fds[] = {{.fd = net->socket, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    if (net->socket < 0 || !virtio_live(&net->virtio))
        return false;
    (void)poll(fds, 2, milliseconds);
    return true;
}

static void *make(const void *config, const struct device_site *site)
{
    static const uint8_t mac[MAC] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56};
    struct virtio_net *net = alloc(1, sizeof *net);
    net->socket = -1;
    net->virtio.id = 1;
    net->virtio.queue_count = 2;
    net->virtio.offered = VIRTIO_F_VERSION_1 | F_MAC | F_STATUS;
    net->virtio.notify = notify;
    memcpy(net->virtio.config, mac, sizeof mac);
    net->virtio.config[MAC] = ((const struct net_config *)config)->socket[0] != 0; /* link up */
    virtio_connect(&net->virtio, site);
    return net;
}

static bool connect_peer(void *device, const void *config, struct error *err)
{
    struct virtio_net *net = device;
    const char *path = ((const struct net_config *)config)->socket;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path[0])
        return true;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    net->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (net->socket < 0 || connect(net->socket, (struct sockaddr *)&address, sizeof address) != 0)
        return error_set(err, "%s: %s; a peer must listen on this Unix socket", path, strerror(errno));
    return true;
}

static void free_device(void *device)
{
    struct virtio_net *net = device;
    if (net->socket >= 0)
        (void)close(net->socket);
    free(net);
}

static const struct device_kind device = {
    VIRTIO_ROWS,
    .make = make,
    .open = connect_peer,
    .free = free_device,
    .reset = virtio_reset_device,
    .snapshot = virtio_snapshot_device,
};

static const struct part_field fields[] = {
    DEVICE_BASE("0x10004000"),
    DEVICE_IRQ("4"),
    {"socket",
     FIELD_TEXT,
     offsetof(struct net_config, socket),
     PATH,
     "",
     "",
     "",
     NULL,
     {"", ""},
     0,
     "Path of the Unix socket on which the peer listens; empty: no cable.",
     {"", ""}},
};

const struct part_kind net_kind = {
    .name = "net",
    .explanation = "A virtio network device, whose cable leads to a Unix socket.",
    PART_CONFIG(struct net_config),
    .extension = &device,
};
