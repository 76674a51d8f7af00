/* The virtio network device's cable, what the entropy device and the console do across resets, and the sizes
 * in the disk's used ring. Queues are driven by tests/firmware/virtio.c. */
#include "tests/dev/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/dev/device.h"
#include "emu/dev/virtio/console.h"
#include "emu/dev/virtio/net.h"

enum { MEMORY = 1 << 16, RECEIVE = 0, TRANSMIT = 1, HEADER = 12, NEXT = 1, WRITE = 2, SIZE = 8 };
enum { QUEUE = 0x30, NOTIFY = 0x50, STATUS = 0x70 };
#define BASE   UINT64_C(0x80000000)
#define BUFFER (BASE + 4096)

struct bench {
    struct rig rig;
    struct phys memory;
    const struct device_kind *kind;
    void *device;
    uint64_t config[128];
    uint16_t offered[2], seen[2];
};

static void put(struct bench *b, uint64_t offset, uint32_t value)
{
    b->kind->ops->write(b->device, offset, 4, value);
}

/* Queues of 8 descriptors at BASE and BASE + 1024: table, available ring at 256, used ring at 512. */
static void start(struct bench *b)
{
    static const uint32_t setup[][2] = {{STATUS, 0}, {STATUS, 3}, {0x24, 1}, {0x20, 1}, {STATUS, 11}};
    memset(b->memory.bytes, 0, 4096);
    memset(b->offered, 0, sizeof b->offered);
    memset(b->seen, 0, sizeof b->seen);
    for (unsigned i = 0; i < sizeof setup / sizeof *setup; i++)
        put(b, setup[i][0], setup[i][1]);
    for (uint32_t queue = 0; queue < 2; queue++) {
        const uint32_t at = (uint32_t)BASE + queue * 1024;
        const uint32_t rows[][2] = {{QUEUE, queue},   {0x38, SIZE},     {0x80, at},
                                    {0x90, at + 256}, {0xa0, at + 512}, {0x44, 1}};
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
            put(b, rows[i][0], rows[i][1]);
    }
    put(b, STATUS, 15);
}

static void make(struct bench *b, const struct part_kind *kind)
{
    struct error err;
    const struct device_site site = {
        .bytes = {&b->memory, NULL}, .irq = rig_line(&b->rig, 0), .transmit = rig_output, .context = &b->rig};
    assert_true(phys_init(&b->memory, BASE, MEMORY, &err));
    b->kind = kind->extension;
    b->device = b->kind->make(b->config, &site);
    if (b->kind->open && !b->kind->open(b->device, b->config, &err))
        fail_msg("%s", err.text);
    start(b);
}

static void destroy(struct bench *b)
{
    b->kind->free(b->device);
    phys_free(&b->memory);
}

static void offer(struct bench *b, unsigned queue, uint64_t address, uint32_t size, uint16_t flags)
{
    uint8_t *at = b->memory.bytes + 1024 * queue;
    const struct {
        uint64_t address;
        uint32_t size;
        uint16_t flags, next;
    } d = {address, size, flags, 0};
    uint16_t slot = b->offered[queue] % SIZE, count = (uint16_t)(b->offered[queue] + 1);
    memcpy(at + 16 * slot, &d, sizeof d);
    memcpy(at + 256 + 4 + 2 * slot, &slot, 2);
    memcpy(at + 256 + 2, &count, 2);
    b->offered[queue] = count;
    put(b, NOTIFY, queue);
}

/* Returns the size in the next used element, or -1 if there is none. */
static int64_t used(struct bench *b, unsigned queue)
{
    const uint8_t *at = b->memory.bytes + 1024 * queue + 512;
    uint16_t count;
    uint32_t size;
    memcpy(&count, at + 2, 2);
    if (count == b->seen[queue])
        return -1;
    memcpy(&size, at + 4 + 8 * (b->seen[queue]++ % SIZE) + 4, 4);
    return size;
}

static int listen_at(char path[64])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(path, 64, "/tmp/test-virtio-%d", (int)getpid());
    (void)unlink(path);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    return fd;
}

/* Frames both ways: whole, in pieces, several at once, without a buffer, too large for one; then the peer goes. */
static void frames(void **state)
{
    (void)state;
    struct bench b = {0};
    char path[64];
    uint8_t got[64];
    int listener = listen_at(path);
    strcpy((char *)b.config + net_kind.fields[part_field_find(&net_kind, "socket")].offset, path);
    make(&b, &net_kind);
    int peer = accept(listener, NULL, NULL);
    assert_true(peer >= 0);
    memcpy(b.memory.bytes + 4096 + HEADER, "hello", 5);
    offer(&b, TRANSMIT, BUFFER, HEADER + 5, 0);
    assert_int_equal(used(&b, TRANSMIT), 0);
    assert_int_equal(recv(peer, got, sizeof got, MSG_WAITALL | MSG_DONTWAIT), 9);
    assert_memory_equal(got, "\0\0\0\5hello", 9);

    assert_int_equal(send(peer, "\0\0\0\3ab", 6, 0), 6);
    offer(&b, RECEIVE, BUFFER, 100, WRITE);
    assert_int_equal(used(&b, RECEIVE), -1); /* not whole yet */
    assert_int_equal(send(peer, "c\0\0\0\1x", 6, 0), 6);
    assert_true(virtio_net_wait(b.device, -1, 0));
    virtio_net_poll(b.device);
    assert_int_equal(used(&b, RECEIVE), HEADER + 3);
    assert_memory_equal(b.memory.bytes + 4096, "\0\0\0\0\0\0\0\0\0\0\1\0abc", HEADER + 3);
    assert_true(b.rig.level[0]);
    assert_int_equal(used(&b, RECEIVE), -1); /* the second one waits for a buffer */
    offer(&b, RECEIVE, BUFFER, 100, WRITE);
    assert_int_equal(used(&b, RECEIVE), HEADER + 1);
    assert_int_equal(send(peer, "\0\0\0\2yz", 6, 0), 6);
    offer(&b, RECEIVE, BUFFER, HEADER + 1, WRITE); /* too small */
    assert_int_equal(used(&b, RECEIVE), 0);
    virtio_net_poll(b.device);
    int keys[2]; /* a console's input ends the wait, too */
    assert_int_equal(pipe(keys), 0);
    assert_int_equal(write(keys[1], "k", 1), 1);
    assert_true(virtio_net_wait(b.device, keys[0], -1));
    (void)close(keys[0]);
    (void)close(keys[1]);

    assert_int_equal(send(peer, "\0\1\0\1", 4, 0), 4); /* more than a frame can have */
    virtio_net_poll(b.device);
    assert_false(virtio_net_wait(b.device, -1, 0));
    offer(&b, TRANSMIT, BUFFER, HEADER + 5, 0);
    assert_int_equal(used(&b, TRANSMIT), 0); /* dropped */
    (void)close(peer);
    (void)close(listener);
    (void)unlink(path);
    destroy(&b);
}

static void entropy_repeats(void **state)
{
    (void)state;
    struct bench b = {0};
    uint8_t first[40], second[40];
    make(&b, &entropy_kind);
    offer(&b, 0, BUFFER, sizeof first, WRITE);
    assert_int_equal(used(&b, 0), sizeof first);
    memcpy(first, b.memory.bytes + 4096, sizeof first);
    start(&b); /* by the driver: the bytes go on */
    offer(&b, 0, BUFFER, sizeof second, WRITE);
    memcpy(second, b.memory.bytes + 4096, sizeof second);
    assert_memory_not_equal(first, second, sizeof first);
    b.kind->reset(b.device); /* of the machine: they begin again */
    start(&b);
    offer(&b, 0, BUFFER, sizeof second, WRITE);
    assert_memory_equal(b.memory.bytes + 4096, first, sizeof first);
    destroy(&b);
}

static void console_input(void **state)
{
    (void)state;
    struct bench b = {0};
    make(&b, &virtio_console_kind);
    assert_false(virtio_console_waits(b.device));
    virtio_console_receive(b.device, 'x'); /* lost: nobody waits */
    offer(&b, RECEIVE, BUFFER, 10, WRITE);
    assert_true(virtio_console_waits(b.device));
    virtio_console_receive(b.device, 'y');
    assert_int_equal(used(&b, RECEIVE), 1);
    assert_int_equal(b.memory.bytes[4096], 'y');
    assert_false(virtio_console_waits(b.device));
    memcpy(b.memory.bytes + 4096, "text", 4);
    offer(&b, TRANSMIT, BUFFER, 4, 0);
    assert_int_equal(used(&b, TRANSMIT), 0);
    assert_int_equal(b.rig.length, 4);
    assert_memory_equal(b.rig.text, "text", 4);
    destroy(&b);
}

/* Offers a disk a request: header, 512 bytes of data and the status, the last two to be written. Returns the size in the
 * used ring. */
static int64_t ask_disk(struct bench *b, uint32_t type, uint64_t sector)
{
    const struct {
        uint64_t address;
        uint32_t size;
        uint16_t flags, next;
    } chain[3] = {{BUFFER, 16, NEXT, 1}, {BUFFER + 16, 512, NEXT | WRITE, 2}, {BUFFER + 528, 1, WRITE, 0}};
    const struct {
        uint32_t type, reserved;
        uint64_t sector;
    } header = {type, 0, sector};
    start(b);
    memcpy(b->memory.bytes, chain, sizeof chain);
    memcpy(b->memory.bytes + 4096, &header, sizeof header);
    memset(b->memory.bytes + 4096 + 16, 0xee, 513);
    b->memory.bytes[256 + 2] = 1;
    put(b, NOTIFY, 0);
    return used(b, 0);
}

/* The status follows 512 bytes of data: a driver may read it only if the used size covers it, whether all data were written
 * (a read), some (the name, 20 bytes) or none (a sector that is not there, and a type that is not known). */
static void disk_sizes(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        uint64_t sector;
        uint8_t status;
    } rows[] = {{0, 1, 0}, {8, 0, 0}, {0, 2, 1}, {99, 0, 2}};
    struct bench b = {0};
    char *name = NULL, path[] = "/tmp/test-virtio-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && ftruncate(fd, 1024) == 0 && pwrite(fd, "sector", 6, 512) == 6);
    for (size_t i = 0; i < disk_kind.field_count; i++)
        if (strcmp(disk_kind.fields[i].name, "file") == 0)
            name = (char *)b.config + disk_kind.fields[i].offset;
    assert_non_null(name);
    memcpy(name, path, sizeof path);
    make(&b, &disk_kind);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(ask_disk(&b, rows[i].type, rows[i].sector), 513);
        assert_int_equal(b.memory.bytes[4096 + 528], rows[i].status);
        if (i == 0)
            assert_memory_equal(b.memory.bytes + 4096 + 16, "sector", 7);
    }
    destroy(&b);
    (void)close(fd);
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),
        cmocka_unit_test(entropy_repeats),
        cmocka_unit_test(console_input),
        cmocka_unit_test(disk_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
