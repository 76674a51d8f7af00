/* A virtio block device (Virtual I/O Device 1.1, section 5.2): a disk whose sectors are the bytes of a file.
 *
 * Requests are served at once, when the driver notifies the device. A request ends with an I/O error if it is
 * not a multiple of a sector, if some of its sectors are beyond the disk's end, or if the host refuses it.
 * The file is written in place; a flush completes when the host has stored the file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/dev/virtio/transport.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/sim/little_endian.h"
#include "emu/sim/mix.h"

enum { SECTOR = 512, PIECE = 64 << 10, HEADER = 16, ID_SIZE = 20, FILE_NAME = 512 };
enum { TYPE_IN = 0, TYPE_OUT = 1, TYPE_FLUSH = 4, TYPE_ID = 8 };
enum { STATUS_OK = 0, STATUS_ERROR = 1, STATUS_UNSUPPORTED = 2 };

#define F_SEGMENTS  (UINT64_C(1) << 2)
#define F_READ_ONLY (UINT64_C(1) << 5)
#define F_FLUSH     (UINT64_C(1) << 9)

struct block_config {
    struct device_config device;
    char file[FILE_NAME];
    bool readonly;
};

struct disk {
    struct virtio virtio;
    int file; /* -1: none */
    bool readonly;
    uint64_t sectors;
    uint8_t piece[PIECE];
};

struct request {
    uint32_t type, reserved;
    uint64_t sector;
};

/* Copies `size` bytes between the disk and the request's data. Returns whether all were copied. */
static bool transfer(struct disk *disk, uint64_t at, uint64_t size, bool out)
{
    for (uint64_t done = 0, part; done < size; done += part) {
        part = size - done < PIECE ? size - done : PIECE;
        off_t place = (off_t)(at + done);
        bool whole = out ? virtio_get(&disk->virtio, HEADER + done, disk->piece, part) == part &&
                               pwrite(disk->file, disk->piece, part, place) == (ssize_t)part
                         : pread(disk->file, disk->piece, part, place) == (ssize_t)part &&
                               virtio_put(&disk->virtio, done, disk->piece, part) == part;
        if (!whole)
            return false;
    }
    return true;
}

/* Reads or writes the sectors of a request whose data has `size` bytes. */
static uint8_t access_sectors(struct disk *disk, const struct request *request, uint64_t size)
{
    bool out = request->type == TYPE_OUT;
    if (size % SECTOR || request->sector > disk->sectors || size / SECTOR > disk->sectors - request->sector)
        return STATUS_ERROR;
    if (out && disk->readonly)
        return STATUS_ERROR;
    return transfer(disk, request->sector * SECTOR, size, out) ? STATUS_OK : STATUS_ERROR;
}

/* Serves a request. Returns its status. */
static uint8_t serve(struct disk *disk, const struct request *request, const struct virtio_chain *chain)
{
    static const char id[ID_SIZE] = "croft-disk";
    uint64_t room = chain->write_size - 1;
    switch (request->type) {
    case TYPE_IN: return access_sectors(disk, request, room);
    case TYPE_OUT: return access_sectors(disk, request, chain->read_size - HEADER);
    case TYPE_FLUSH: return disk->readonly || fdatasync(disk->file) == 0 ? STATUS_OK : STATUS_ERROR;
    case TYPE_ID: (void)virtio_put(&disk->virtio, 0, id, room < ID_SIZE ? room : ID_SIZE); return STATUS_OK;
    default: return STATUS_UNSUPPORTED;
    }
}

static void notify(struct virtio *virtio, unsigned queue)
{
    struct disk *disk = CONTAINER_OF(virtio, struct disk, virtio);
    const struct virtio_chain *chain;
    while ((chain = virtio_take(virtio, queue))) {
        struct request request;
        if (virtio_get(virtio, 0, &request, sizeof request) < HEADER || chain->write_size == 0) {
            virtio_break(virtio); /* the header is not complete, or the status has no room */
            return;
        }
        uint8_t status = serve(disk, &request, chain);
        (void)virtio_put(virtio, chain->write_size - 1, &status, 1);
        /* The status is the last byte, and a driver may read only as many as the used ring says (section 2.6.8). */
        virtio_complete(virtio, queue,
                        chain->write_size < UINT32_MAX ? (uint32_t)chain->write_size : UINT32_MAX);
    }
}

static void *make(const void *config, const struct device_site *site)
{
    struct disk *disk = alloc(1, sizeof *disk);
    disk->file = -1;
    disk->readonly = ((const struct block_config *)config)->readonly;
    disk->virtio.id = 2;
    disk->virtio.queue_count = 1;
    disk->virtio.offered = VIRTIO_F_VERSION_1 | F_SEGMENTS | F_FLUSH | (disk->readonly ? F_READ_ONLY : 0);
    disk->virtio.notify = notify;
    virtio_connect(&disk->virtio, site);
    return disk;
}

/* Locks the file: against all other disks, or, if this disk is read-only, against disks that write. Returns
 * false if another disk holds the file. On file systems without locks, always returns true. */
static bool reserve(const struct disk *disk)
{
    return flock(disk->file, (disk->readonly ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static bool open_file(void *device, const void *config, struct error *err)
{
    const struct block_config *own = config;
    struct disk *disk = device;
    struct stat info;
    if (!own->file[0])
        return error_set(err, "no file is given; it holds the disk's bytes (--drive file=FILE)");
    disk->file = open(own->file, (own->readonly ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
    if (disk->file < 0 || fstat(disk->file, &info) != 0)
        return error_set(err, "%s: %s%s", own->file, strerror(errno),
                         errno == EACCES || errno == EROFS ? "; readonly=on needs no write permission" : "");
    if (!S_ISREG(info.st_mode))
        return error_set(err, "%s: not a regular file", own->file);
    if (!reserve(disk))
        return error_set(
            err,
            "%s: it is another disk, of this machine or of one that runs; only disks with readonly=on "
            "share a file",
            own->file);
    if (info.st_size == 0 || info.st_size % SECTOR)
        return error_set(err,
                         "%s: its %" PRId64 " bytes are not a positive multiple of %d, the size of a sector",
                         own->file, (int64_t)info.st_size, SECTOR);
    const uint32_t segments = VIRTIO_QUEUE_MAX - 2;
    disk->sectors = (uint64_t)info.st_size / SECTOR;
    memcpy(&disk->virtio.config[0], &disk->sectors, sizeof disk->sectors);
    memcpy(&disk->virtio.config[12], &segments, sizeof segments);
    return true;
}

static void free_device(void *device)
{
    struct disk *disk = device;
    if (disk->file >= 0)
        (void)close(disk->file);
    free(disk);
}

enum { OWN_BASE, OWN_IRQ }; /* indices of fields */

/* Sets the defaults of disk `index`: the first one has the first virtio slot of QEMU's board, further ones
 * the slots from the fifth on, because other devices have the slots between. Interrupts 10 and 11 belong to
 * the serial port and the clock. */
static void number(void *config, unsigned index, const bool given[])
{
    struct block_config *own = config;
    if (index == 0)
        return;
    if (!given[OWN_BASE])
        own->device.base = UINT64_C(0x10004000) + (uint64_t)index * VIRTIO_SIZE;
    if (!given[OWN_IRQ])
        own->device.irq = index + (index > 5 ? 6 : 4);
}

/* Returns a digest of the disk's bytes, in which blocks of zeros do not count; *read: none could not be read. */
static uint64_t digest_file(struct disk *disk, bool *read)
{
    const uint64_t size = disk->sectors * SECTOR;
    uint64_t sum = 0;
    *read = true;
    for (uint64_t at = 0; at < size && *read; at += PIECE) {
        off_t data = lseek(disk->file, (off_t)at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            break; /* nothing but a hole follows */
        if (data > 0)
            at = (uint64_t)data / PIECE * PIECE;
        uint64_t part = size - at < PIECE ? size - at : PIECE, block = 0;
        *read = pread(disk->file, disk->piece, part, (off_t)at) == (ssize_t)part;
        memset(disk->piece + part, 0, PIECE - part);
        for (unsigned i = 0; i < PIECE; i += sizeof(uint64_t)) {
            uint64_t word = little_endian_get(disk->piece + i, sizeof word);
            if (word != 0)
                block += mix(word ^ mix(i));
        }
        sum += block ? mix(block ^ mix(at)) : 0;
    }
    return sum;
}

/* The disk's bytes stay in its file; a driver's memory holds parts of them, so they must be the same when it goes on. */
static void snapshot(void *device, struct snapshot *s)
{
    struct disk *disk = device;
    bool read;
    snapshot_same(s, "sectors", disk->sectors);
    uint64_t own = digest_file(disk, &read);
    if (!read)
        snapshot_fail(s, "its file cannot be read: %s", strerror(errno));
    if (snapshot_number(s, "digest", own, UINT64_MAX) != own)
        snapshot_fail(s, "its file has changed since the snapshot was taken; keep a copy of the file beside "
                         "the snapshot, and "
                         "restore with a copy of that");
    virtio_snapshot(&disk->virtio, s);
}

static const struct device_kind device = {
    VIRTIO_ROWS,          .make = make, .open = open_file, .free = free_device, .reset = virtio_reset_device,
    .snapshot = snapshot,
};

static const struct part_field fields[] = {
    [OWN_BASE] = DEVICE_BASE_AND("0x10001000", " Further disks: 0x10005000, 0x10006000, and so on."),
    [OWN_IRQ] = DEVICE_IRQ_AND("1", " Further disks: 5 to 9, 12 to 21."),
    {"file",
     FIELD_TEXT,
     offsetof(struct block_config, file),
     FILE_NAME,
     "",
     "",
     "",
     NULL,
     {"", ""},
     0,
     "File that holds the disk's bytes, a multiple of 512; it is changed in place.",
     {"", ""}},
    {"readonly",
     FIELD_BOOL,
     offsetof(struct block_config, readonly),
     sizeof(bool),
     "",
     "",
     "",
     NULL,
     {"false", "false"},
     0,
     "Writes to the disk fail, and its file is opened for reading only.",
     {"", ""}},
};

const struct part_kind disk_kind = {
    .name = "disk",
    .explanation = "A virtio block device: a disk in a file.",
    PART_CONFIG(struct block_config),
    .number = number,
    .extension = &device,
};
