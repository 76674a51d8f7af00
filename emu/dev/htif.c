#include "emu/dev/htif.h"
#include "emu/sim/alloc.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEVICE_CALL = 0,
    DEVICE_CONSOLE = 1,
    CONSOLE_GET = 0,
    CONSOLE_PUT = 1,
    CHARACTER = 0x100,
    CALL_WORDS = 8,
    PIECE = 256, /* bytes of a write copied at a time */
    CALL_WRITE = 64,
    CALL_EXIT = 93,
    RESPONSES = 32,
    LOW = 1,
    HIGH = 2,
};

struct htif {
    struct htif_wiring wiring;
    uint8_t *tohost, *fromhost; /* host addresses; fromhost: NULL if there is none */
    unsigned stored;            /* LOW, HIGH: halves of tohost stored since the last command */
    unsigned first, count;      /* queue of the responses that wait for fromhost */
    uint64_t responses[RESPONSES];
    uint64_t reads; /* number of characters requested and not yet sent */
    bool failed;
    struct error error;
};

static uint64_t load(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static void store(uint8_t *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
}

struct htif *htif_new(const struct htif_wiring *wiring, struct error *err)
{
    uint8_t *tohost = phys_at(wiring->memory, wiring->tohost, 8);
    uint8_t *fromhost = wiring->fromhost ? phys_at(wiring->memory, wiring->fromhost, 8) : NULL;
    if (!tohost || (wiring->fromhost && !fromhost)) {
        (void)error_set(err, "symbol %s is at 0x%" PRIx64 ", outside of the memory 0x%" PRIx64 "-0x%" PRIx64,
                        tohost ? "fromhost" : "tohost", tohost ? wiring->fromhost : wiring->tohost,
                        wiring->memory->base, wiring->memory->base + wiring->memory->size - 1);
        return NULL;
    }
    struct htif *htif = alloc(1, sizeof *htif);
    htif->wiring = *wiring;
    htif->tohost = tohost;
    htif->fromhost = fromhost;
    return htif;
}

void htif_free(struct htif *htif)
{
    free(htif);
}

void htif_reset(struct htif *htif)
{
    htif->stored = htif->first = htif->count = 0;
    htif->reads = 0;
    htif->failed = false;
}

uint64_t htif_tohost(const struct htif *htif)
{
    return htif->wiring.tohost;
}

uint64_t htif_fromhost(const struct htif *htif)
{
    return htif->wiring.fromhost;
}

void htif_snapshot(struct htif *htif, struct snapshot *s)
{
    htif->stored = (unsigned)snapshot_number(s, "stored", htif->stored, LOW | HIGH);
    htif->first = (unsigned)snapshot_number(s, "first", htif->first, RESPONSES - 1);
    htif->count = (unsigned)snapshot_number(s, "count", htif->count, htif->fromhost ? RESPONSES : 0);
    for (unsigned i = 0; i < RESPONSES; i++)
        htif->responses[i] = snapshot_number(s, "response", htif->responses[i], UINT64_MAX);
    htif->reads = snapshot_number(s, "reads", htif->reads, htif->fromhost ? UINT64_MAX : 0);
}

static void deliver(struct htif *htif)
{
    if (htif->count == 0 || load(htif->fromhost) != 0)
        return;
    store(htif->fromhost, htif->responses[htif->first]);
    phys_note_store(htif->wiring.memory, htif->wiring.fromhost, 8);
    htif->first = (htif->first + 1) % RESPONSES;
    htif->count--;
}

/* Queues a response. A program that never reads fromhost fills the queue with acknowledgements; further ones
 * are dropped, because they carry no new information. Characters are sent only when the queue is empty
 * (htif_waits()). */
static void respond(struct htif *htif, uint64_t device, uint64_t command, uint64_t payload)
{
    if (!htif->fromhost || htif->count == RESPONSES)
        return;
    htif->responses[(htif->first + htif->count++) % RESPONSES] = device << 56 | command << 48 | payload;
    deliver(htif);
}

static uint64_t call_write(struct htif *htif, uint64_t file, uint64_t address, uint64_t length)
{
    const struct bytes bytes = {htif->wiring.memory, htif->wiring.holders};
    uint8_t piece[PIECE];
    if (file != 1 && file != 2)
        return (uint64_t)-EBADF;
    if (bytes_reach(&bytes, address, length, true) < length)
        return (uint64_t)-EFAULT;
    for (uint64_t done = 0, part; done < length; done += part) {
        part = length - done < PIECE ? length - done : PIECE;
        if (bytes_read(&bytes, address + done, piece, part) < part)
            return done ? done : (uint64_t)-EFAULT;
        for (uint64_t i = 0; i < part; i++)
            htif->wiring.output(htif->wiring.output_context, piece[i]);
    }
    return length;
}

static void fail(struct htif *htif, uint64_t value, const char *what)
{
    if (htif->failed)
        return;
    htif->failed = true;
    (void)error_set(
        &htif->error,
        "the program has stored 0x%016" PRIx64 " to tohost, %s; allowed: an odd value (the end), the address "
        "of a call's 64 bytes in memory, or device 1 (console) with command 0 (read) or 1 (write)",
        value, what);
}

static void call(struct htif *htif, uint64_t value)
{
    const struct bytes bytes = {htif->wiring.memory, htif->wiring.holders};
    uint8_t block[CALL_WORDS * 8];
    if (bytes_reach(&bytes, value, sizeof block, true) < sizeof block ||
        bytes_read(&bytes, value, block, sizeof block) < sizeof block) {
        fail(htif, value, "which is not an address in memory");
        return;
    }
    uint64_t result = (uint64_t)-ENOSYS;
    switch (load(block)) {
    case CALL_EXIT: htif->wiring.exit(htif->wiring.exit_context, load(block + 8) & 0xff); return;
    case CALL_WRITE: result = call_write(htif, load(block + 8), load(block + 16), load(block + 24)); break;
    default: break;
    }
    store(block, result);
    (void)bytes_write(&bytes, value, block, 8);
    respond(htif, DEVICE_CALL, 0, 1);
}

static void console(struct htif *htif, uint64_t value, uint64_t command)
{
    if (command == CONSOLE_GET) {
        htif->reads++;
    } else if (command == CONSOLE_PUT) {
        htif->wiring.output(htif->wiring.output_context, (uint8_t)value);
        respond(htif, DEVICE_CONSOLE, CONSOLE_PUT, CHARACTER | (uint8_t)value);
    } else {
        fail(htif, value, "a command that the console does not have");
    }
}

static void act(struct htif *htif)
{
    uint64_t value = load(htif->tohost);
    uint64_t device = value >> 56, command = value >> 48 & 0xff, payload = value & 0xffffffffffff;
    htif->stored = 0;
    if (value == 0)
        return;
    store(htif->tohost, 0);
    if (device == DEVICE_CONSOLE)
        console(htif, value, command);
    else if (device != DEVICE_CALL || command != 0)
        fail(htif, value, "a device or command that does not exist");
    else if (payload & 1)
        htif->wiring.exit(htif->wiring.exit_context, payload >> 1);
    else
        call(htif, value);
}

void htif_store(struct htif *htif, uint64_t address, uint64_t size)
{
    uint64_t low = htif->wiring.tohost, high = low + 4;
    if (address < high && address + size > low)
        htif->stored |= LOW;
    if (address < high + 4 && address + size > high)
        htif->stored |= HIGH;
    if (htif->stored == (LOW | HIGH))
        act(htif);
}

bool htif_poll(struct htif *htif, struct error *err)
{
    if (htif->stored)
        act(htif);
    if (htif->fromhost)
        deliver(htif);
    if (htif->failed)
        *err = htif->error;
    return !htif->failed;
}

bool htif_waits(const struct htif *htif)
{
    return htif->reads > 0 && htif->fromhost && htif->count == 0 && load(htif->fromhost) == 0;
}

void htif_receive(struct htif *htif, uint8_t byte)
{
    assert(htif_waits(htif));
    htif->reads--;
    respond(htif, DEVICE_CONSOLE, CONSOLE_GET, CHARACTER | byte);
}
