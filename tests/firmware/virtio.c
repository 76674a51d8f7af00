/* A driver for virtio-mmio devices: a disk of 64 sectors, further ones of 65, 66 ..., entropy, a console, a network device
 * without a peer. Then queues that break the rules, after each of which the device asks for a reset and works again.
 *
 * Devices are searched for in the slots of QEMU's virt board; slot n has interrupt n + 1. */
#include <stdio.h>
#include <string.h>

#include "support/support.h"

enum { SLOTS = 8, SIZE = 8, SECTOR = 512, SECTORS = 64 };
enum { NEXT = 1, WRITE = 2, INDIRECT = 4 };
enum { NET = 1, BLOCK = 2, CONSOLE = 3, ENTROPY = 4 };
enum { IN = 0, OUT = 1, FLUSH = 4, GET_ID = 8 };
enum { ACKNOWLEDGE = 1, DRIVER = 2, DRIVER_OK = 4, FEATURES_OK = 8, NEEDS_RESET = 64 };
enum {
    MAGIC = 0x00,
    VERSION = 0x04,
    DEVICE_ID = 0x08,
    FEATURES = 0x10,
    FEATURES_SELECT = 0x14,
    ACCEPTED = 0x20,
    ACCEPTED_SELECT = 0x24,
    QUEUE_SELECT = 0x30,
    QUEUE_MAX = 0x34,
    QUEUE_SIZE = 0x38,
    QUEUE_READY = 0x44,
    NOTIFY = 0x50,
    INTERRUPTS = 0x60,
    INTERRUPT_ACK = 0x64,
    STATUS = 0x70,
    DESCRIPTORS = 0x80,
    AVAILABLE = 0x90,
    USED = 0xa0,
    CONFIG = 0x100
};

struct descriptor {
    uint64_t address;
    uint32_t size;
    uint16_t flags, next;
};

static volatile struct queue {
    struct descriptor descriptors[SIZE];
    struct {
        uint16_t flags, index, ring[SIZE];
    } available;
    _Alignas(8) struct {
        uint16_t flags, index;
        struct {
            uint32_t id, size;
        } ring[SIZE];
    } used;
} queues[2];

static struct {
    uint32_t type, reserved;
    uint64_t sector;
} header;
static uint8_t data[4 * SECTOR], status;

static uint64_t base;

static volatile uint32_t *reg(unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

/* Finds the device; of disks, that of this capacity. */
static bool find_sized(unsigned id, uint32_t sectors)
{
    for (base = 0x10001000; base < 0x10001000 + SLOTS * 0x1000; base += 0x1000) {
        if (*reg(MAGIC) == 0x74726976 && *reg(VERSION) == 2 && *reg(DEVICE_ID) == id &&
            (id != BLOCK || reg(CONFIG)[0] == sectors))
            return true;
    }
    return false;
}

static bool find(unsigned id)
{
    return find_sized(id, SECTORS);
}

static void set_address(unsigned offset, volatile void *address)
{
    reg(offset)[0] = (uint32_t)(uint64_t)address;
    reg(offset)[1] = (uint32_t)((uint64_t)address >> 32);
}

/* Resets and starts the device with `count` queues. Returns whether it accepts the features. */
static bool start(unsigned count)
{
    memset((void *)queues, 0, sizeof queues);
    *reg(STATUS) = 0;
    *reg(STATUS) = ACKNOWLEDGE;
    *reg(STATUS) = ACKNOWLEDGE | DRIVER;
    *reg(ACCEPTED_SELECT) = 0;
    *reg(ACCEPTED) = 0;
    *reg(ACCEPTED_SELECT) = 1;
    *reg(ACCEPTED) = 1; /* VIRTIO_F_VERSION_1 */
    *reg(STATUS) = ACKNOWLEDGE | DRIVER | FEATURES_OK;
    if (!(*reg(STATUS) & FEATURES_OK))
        return false;
    for (unsigned i = 0; i < count; i++) {
        *reg(QUEUE_SELECT) = i;
        *reg(QUEUE_SIZE) = SIZE;
        set_address(DESCRIPTORS, queues[i].descriptors);
        set_address(AVAILABLE, &queues[i].available);
        set_address(USED, &queues[i].used);
        *reg(QUEUE_READY) = 1;
    }
    *reg(STATUS) = ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK;
    return true;
}

static void describe(unsigned queue, unsigned at, volatile void *bytes, uint32_t size, uint16_t flags)
{
    queues[queue].descriptors[at] = (struct descriptor){(uint64_t)bytes, size, flags, (uint16_t)(at + 1)};
}

static void offer(unsigned queue, uint16_t head)
{
    queues[queue].available.ring[queues[queue].available.index % SIZE] = head;
    __asm__ volatile("fence" : : : "memory");
    queues[queue].available.index++;
    __asm__ volatile("fence" : : : "memory");
    *reg(NOTIFY) = queue;
}

/* Offers the chain that begins at descriptor 0. Returns the number of bytes that the device says it has written, or -1 if
 * it does not answer. */
static int64_t ask(unsigned queue)
{
    uint16_t before = queues[queue].used.index;
    offer(queue, 0);
    for (unsigned i = 0; i < 1000000; i++) {
        if (queues[queue].used.index != before)
            return queues[queue].used.ring[before % SIZE].size;
        if (*reg(STATUS) & NEEDS_RESET)
            break;
    }
    return -1;
}

/* A block request with its data in two parts. Returns its status. */
static unsigned request(uint32_t type, uint64_t sector, uint32_t size)
{
    uint16_t direction = type == OUT ? 0 : WRITE;
    header.type = type;
    header.sector = sector;
    status = 99;
    describe(0, 0, &header, sizeof header, NEXT);
    describe(0, 1, data, size / 2, NEXT | direction);
    describe(0, 2, data + size / 2, size - size / 2, NEXT | direction);
    describe(0, 3, &status, 1, WRITE);
    if (size == 0)
        queues[0].descriptors[0].next = 3;
    return ask(0) < 0 ? 100 : status;
}

static void fill(uint8_t first)
{
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(first + i * 7 + i / SECTOR);
}

static bool holds(uint8_t first)
{
    for (unsigned i = 0; i < sizeof data; i++)
        if (data[i] != (uint8_t)(first + i * 7 + i / SECTOR))
            return false;
    return true;
}

static void test_registers(struct suite *s)
{
    *reg(STATUS) = 0;
    *reg(STATUS) = ACKNOWLEDGE | DRIVER | FEATURES_OK;
    expect_spec(s, "without VIRTIO_F_VERSION_1, no FEATURES_OK", !(*reg(STATUS) & FEATURES_OK));
    *reg(FEATURES_SELECT) = 1;
    expect(s, "VIRTIO_F_VERSION_1 is offered", *reg(FEATURES) & 1, 1);
    expect(s, "the disk accepts it", start(1), 1);
    *reg(QUEUE_SELECT) = 7;
    expect(s, "a queue that does not exist", *reg(QUEUE_MAX), 0);
    *reg(QUEUE_SELECT) = 0;
    expect(s, "a queue that is ready", *reg(QUEUE_READY), 1);
    expect(s, "capacity", reg(CONFIG)[0], SECTORS);
    expect(s, "capacity, high half", reg(CONFIG)[1], 0);
    expect(s, "capacity, a byte", *(volatile uint8_t *)(base + CONFIG), SECTORS);
}

static void test_block(struct suite *s)
{
    volatile uint32_t *pending = (volatile uint32_t *)0xc001000;
    uint32_t wire = UINT32_C(1) << ((base - 0x10001000) / 0x1000 + 1);
    fill(5);
    expect(s, "no interrupt yet", *reg(INTERRUPTS) | (*pending & wire), 0);
    expect(s, "write 4 sectors", request(OUT, 3, sizeof data), 0);
    expect(s, "used buffer notification", *reg(INTERRUPTS), 1);
    expect(s, "at the PLIC", (*pending & wire) != 0, 1);
    *reg(INTERRUPT_ACK) = 1;
    expect(s, "acknowledged", *reg(INTERRUPTS), 0);
    fill(0);
    expect(s, "read them", request(IN, 3, sizeof data), 0);
    expect(s, "their bytes", holds(5), 1);
    expect(s, "bytes written to the request", queues[0].used.ring[1].size, sizeof data + 1);
    expect(s, "read one within them", request(IN, 4, SECTOR), 0);
    expect(s, "its first byte", data[0], (uint8_t)(5 + SECTOR * 7 + 1));
    expect(s, "flush", request(FLUSH, 0, 0), 0);
    expect(s, "the last sector", request(IN, SECTORS - 1, SECTOR), 0);
    expect(s, "beyond the end", request(IN, SECTORS, SECTOR), 1);
    expect(s, "partly beyond the end", request(OUT, SECTORS - 1, 2 * SECTOR), 1);
    expect(s, "far beyond the end", request(IN, UINT64_MAX / SECTOR + 1, SECTOR), 1);
    expect(s, "far beyond the end, to write", request(OUT, UINT64_MAX, SECTOR), 1);
    expect(s, "part of a sector", request(IN, 0, SECTOR / 2), 1);
    expect(s, "an unknown request", request(77, 0, SECTOR), 2);
    expect(s, "identification", request(GET_ID, 0, 20), 0);
    queues[0].available.flags = 1;
    *reg(INTERRUPT_ACK) = 1;
    expect(s, "without an interrupt", request(IN, 0, SECTOR), 0);
    expect(s, "none comes", *reg(INTERRUPTS), 0);
    queues[0].available.flags = 0;
}

/* Several requests at once, whose heads are not in order. */
static void test_batch(struct suite *s)
{
    static uint8_t states[2];
    start(1);
    header.type = IN;
    header.sector = 3;
    for (unsigned i = 0; i < 2; i++) {
        describe(0, 3 * i, &header, sizeof header, NEXT);
        describe(0, 3 * i + 1, data + i * SECTOR, SECTOR, NEXT | WRITE);
        describe(0, 3 * i + 2, &states[i], 1, WRITE);
        states[i] = 99;
    }
    queues[0].available.ring[0] = 3;
    queues[0].available.index = 1;
    offer(0, 0);
    for (unsigned i = 0; i < 1000000 && queues[0].used.index < 2; i++)
        (void)*reg(STATUS);
    expect(s, "two requests at once", queues[0].used.index, 2);
    /* QEMU completes them in any order. */
    expect(s, "one is the first one", queues[0].used.ring[0].id + queues[0].used.ring[1].id, 3);
    expect_spec(s, "in their order", queues[0].used.ring[0].id == 3);
    expect(s, "both succeed", states[0] | states[1], 0);
    expect(s, "both have the sector", memcmp(data, data + SECTOR, SECTOR) == 0, 1);
}

enum rule {
    LOOP,
    SELF,
    NEXT_OUTSIDE,
    HEAD_OUTSIDE,
    ADDRESS,
    WRAPS,
    ORDER,
    INDEX,
    NO_STATUS,
    NO_HEADER,
    RULES
};

static const char *const rule_names[RULES] = {
    "a chain with a loop",           "a descriptor that follows itself",
    "a chain that leaves the table", "a head outside the table",
    "an address outside memory",     "a segment that wraps around",
    "readable after writable",       "too many requests",
    "a request without status",      "a request without a header",
};

static void break_rule(enum rule rule)
{
    header.type = IN;
    header.sector = 0;
    describe(0, 0, &header, sizeof header, NEXT);
    describe(0, 1, data, SECTOR, NEXT | WRITE);
    describe(0, 2, &status, 1, WRITE);
    switch (rule) {
    case LOOP:
        describe(0, 2, &status, 1, WRITE | NEXT);
        queues[0].descriptors[2].next = 1;
        break;
    case SELF: queues[0].descriptors[1].next = 1; break;
    case NEXT_OUTSIDE: queues[0].descriptors[1].next = SIZE; break;
    case ADDRESS: queues[0].descriptors[1].address = NOWHERE; break;
    case WRAPS: queues[0].descriptors[1].address = UINT64_MAX - 10; break;
    case ORDER:
        queues[0].descriptors[0].flags |= WRITE;
        queues[0].descriptors[1].flags = NEXT;
        break;
    case INDEX: queues[0].available.index = SIZE + 1; break;
    case NO_STATUS: queues[0].descriptors[0].flags = 0; break;
    case NO_HEADER: queues[0].descriptors[0].flags |= WRITE; break;
    default: break;
    }
    offer(0, rule == HEAD_OUTSIDE ? SIZE : 0);
}

static void test_rules(struct suite *s)
{
    for (enum rule rule = LOOP; rule < RULES; rule++) {
        char text[96];
        start(1);
        break_rule(rule);
        for (unsigned i = 0; i < 1000000 && !(*reg(STATUS) & NEEDS_RESET); i++)
            ;
        /* For an address outside memory, QEMU may fail the request instead. */
        bool needs = *reg(STATUS) & NEEDS_RESET;
        (void)snprintf(text, sizeof text, "%s: a reset is needed", rule_names[rule]);
        if (rule == ADDRESS || rule == WRAPS)
            expect_spec(s, text, needs);
        else
            expect(s, text, needs, 1);
        (void)snprintf(text, sizeof text, "%s: works after it", rule_names[rule]);
        start(1);
        expect(s, text, request(IN, 0, SECTOR), 0);
    }
    start(1);
    describe(0, 0, &header, sizeof header, INDIRECT);
    offer(0, 0);
    expect_spec(s, "an indirect descriptor is not offered", *reg(STATUS) & NEEDS_RESET);
    start(1);
    set_address(USED, (volatile void *)NOWHERE); /* ignored: the queue is ready */
    expect(s, "a ready queue's addresses stay", request(IN, 0, SECTOR), 0);
}

/* The disks that are larger than the first, in turn: each has its own sectors and its own interrupt. */
static void test_more_disks(struct suite *s)
{
    volatile uint32_t *pending = (volatile uint32_t *)0xc001000;
    uint32_t count = 0, wires = 0;
    for (; find_sized(BLOCK, SECTORS + 1 + count); count++) {
        const uint32_t wire = UINT32_C(1) << ((base - 0x10001000) / 0x1000 + 1);
        expect(s, "a further disk starts", start(1), 1);
        fill((uint8_t)(50 + count));
        expect(s, "its interrupt is free", (wires | *pending) & wire, 0);
        expect(s, "write 4 sectors to it", request(OUT, 7, sizeof data), 0);
        expect(s, "its interrupt", (*pending & wire) != 0, 1);
        *reg(INTERRUPT_ACK) = 1;
        wires |= wire;
    }
    for (uint32_t i = 0; i < count && find_sized(BLOCK, SECTORS + 1 + i); i++) {
        fill(0);
        expect(s, "read them", request(IN, 7, sizeof data), 0);
        expect(s, "the disk's own bytes", holds((uint8_t)(50 + i)), 1);
    }
    (void)printf("%u further disks\n", (unsigned)count);
}

static void test_entropy(struct suite *s)
{
    unsigned nonzero = 0;
    memset(data, 0, sizeof data);
    expect(s, "entropy starts", start(1), 1);
    describe(0, 0, data, 99, WRITE | NEXT);
    describe(0, 1, data + 99, 1, WRITE);
    expect(s, "100 bytes", (uint64_t)ask(0), 100);
    for (unsigned i = 0; i < 100; i++)
        nonzero += data[i] != 0;
    expect(s, "most are not 0", nonzero > 80, 1);
    expect(s, "no more than asked for", data[100], 0);
}

static void test_console(struct suite *s)
{
    static const char text[] = "spec: text through the console\n";
    memcpy(data, text, sizeof text);
    expect_spec(s, "console starts", start(2));
    describe(1, 0, data, 10, NEXT);
    describe(1, 1, data + 10, sizeof text - 1 - 10, 0);
    expect_spec(s, "console takes text", ask(1) == 0);
    describe(0, 0, data, 1, WRITE);
    expect_spec(s, "console gives a byte of input", ask(0) == 1 && data[0] == 'k');
}

static void test_net(struct suite *s)
{
    memset(data, 0, sizeof data);
    expect(s, "network starts", start(2), 1);
    expect(s, "its address", reg(CONFIG)[0], 0x12005452);
    describe(0, 0, data + SECTOR, SECTOR, WRITE);
    offer(0, 0);
    describe(1, 0, data, 12 + 60, 0);
    expect(s, "a frame is sent", (uint64_t)ask(1), 0);
}

/* Only beside a console, which QEMU is not given: QEMU 7.2 aborts. */
static void test_half_header(struct suite *s)
{
    expect_spec(s, "network starts again", find(NET) && start(2));
    describe(1, 0, data, 11, 0);
    expect_spec(s, "half a header", ask(1) == -1 && (*reg(STATUS) & NEEDS_RESET));
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    if (find(BLOCK)) {
        test_registers(&s);
        test_block(&s);
        test_batch(&s);
        test_rules(&s);
    }
    expect(&s, "there is a disk", find(BLOCK), 1);
    test_more_disks(&s);
    if (find(ENTROPY))
        test_entropy(&s);
    expect(&s, "there is entropy", find(ENTROPY), 1);
    if (find(NET))
        test_net(&s);
    expect(&s, "there is a network device", find(NET), 1);
    if (find(CONSOLE)) {
        test_console(&s);
        test_half_header(&s);
    }
    return suite_end(&s);
}
