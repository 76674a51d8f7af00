/* Posted stores to devices, in order and out of order: when the device sees accesses, and what waits for answers. */
#include "emu/core/inorder.h"
#include "emu/core/ooo.h"
#include "tests/core/rig.h"

enum {
    ANSWER = 50, /* clocks of an access, and the rig's default */
    SOON = 4,    /* most clocks from one posted store to the next instruction */
    DEVICE = 0x1000,
    CSR_MCYCLE = 0xb00,
    FENCE_RW_RW = 0x33,
    FENCE_O_W = 0x41,
};

struct device {
    struct rig *rig;
    struct bus bus;
    unsigned count;
    uint64_t times[8], values[8]; /* of the stores */
};

static uint64_t device_read(void *context, uint64_t offset, unsigned size)
{
    const struct device *device = context;
    (void)offset;
    (void)size;
    return device->rig->queue.now / RIG_CLOCK;
}

static void device_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
    struct device *device = context;
    (void)offset;
    (void)size;
    assert_true(device->count < 8);
    device->times[device->count] = device->rig->queue.now / RIG_CLOCK;
    device->values[device->count++] = value;
}

struct setup {
    enum core_model model;
    uint32_t posted_stores;
    bool beside;
};

/* Makes a machine with a core as wanted and a device, at which x20 points; x21 to x24 are 1 to 4. */
static void begin(struct device *device, const struct setup *setup)
{
    static const struct device_ops ops = {.read = device_read, .write = device_write};
    struct phys place = {.base = RIG_BASE, .size = RIG_SIZE};
    struct rig_options options = rig_options_default();
    struct core_config config;
    struct error err;
    *device = (struct device){0};
    bus_init(&device->bus, &place);
    options.privileged = true;
    options.bus = &device->bus;
    struct rig *rig = device->rig = rig_new(&options);
    const struct bus_region region = {
        .base = DEVICE, .size = 0x1000, .sizes = BUS_ANY, .ops = &ops, .device = device, .name = "device"};
    assert_true(bus_add(&device->bus, &region, &err));
    core_config_default(&config, setup->model);
    assert_int_equal(config.posted_stores, 15);
    struct core_parts parts = rig_parts(rig);
    parts.posted_stores = setup->posted_stores;
    if (setup->beside)
        parts.near = (struct core_near){.base = DEVICE, .size = 0x1000, .clocks = ANSWER, .beside = true};
    rig->core =
        setup->model == CORE_OOO ? ooo_new(&config, &parts, &err) : inorder_new(&config, &parts, &err);
    assert_non_null(rig->core);
    RIG_EMIT(rig, lui, .rd = 20, .imm = DEVICE);
    for (uint8_t i = 1; i <= 4; i++)
        RIG_EMIT(rig, addi, .rd = (uint8_t)(20 + i), .imm = i);
}

static void store(struct rig *rig, uint8_t value)
{
    RIG_EMIT(rig, sd, .rs1 = 20, .rs2 = value);
}

static void read_cycle(struct rig *rig, uint8_t rd)
{
    RIG_EMIT(rig, csrrs, .rd = rd, .imm = CSR_MCYCLE);
}

static void run(struct rig *rig)
{
    rig->core->limit = (rig->at - RIG_BASE) / 4;
    (void)rig_run(rig);
    assert_int_equal(rig->stops[0], HART_STOP_LIMIT);
}

static void end(struct device *device)
{
    rig_free(device->rig);
    bus_free(&device->bus);
}

static const struct setup all[] = {{CORE_INORDER, 3, false}, {CORE_OOO, 3, false}};

/* Three stores follow each other; the fourth waits for the first one's answer, the load for all answers; what does not
 * access devices waits for nothing. */
static void stores_do_not_wait(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct device device;
        begin(&device, &all[i]);
        struct rig *rig = device.rig;
        for (uint8_t value = 21; value <= 24; value++)
            store(rig, value);
        read_cycle(rig, 5);
        RIG_EMIT(rig, ld, .rd = 6, .rs1 = 20);
        read_cycle(rig, 7);
        run(rig);
        assert_int_equal(device.count, 4);
        for (unsigned n = 0; n < 4; n++)
            assert_int_equal(device.values[n], n + 1);
        assert_in_range(device.times[1], device.times[0] + 1, device.times[0] + SOON);
        assert_in_range(device.times[2], device.times[1] + 1, device.times[1] + SOON);
        assert_int_equal(device.times[3], device.times[0] + ANSWER);
        assert_in_range(rig->hart.x[5], device.times[3] + 1, device.times[3] + SOON);
        assert_int_equal(rig->hart.x[6], device.times[3] + ANSWER);
        assert_true(rig->hart.x[7] >= rig->hart.x[6] + ANSWER);
        end(&device);
    }
}

/* The clocks from a store to the second of the two counter reads around an instruction. */
static uint64_t time_around(const struct setup *setup, enum insn_id id, struct operands operands)
{
    struct device device;
    begin(&device, setup);
    struct rig *rig = device.rig;
    rig_set(rig, 25, RIG_BASE + 0x8000);
    rig_warm(rig, RIG_BASE + 0x8000, 64, true);
    store(rig, 21);
    rig_emit(rig, id, operands);
    read_cycle(rig, 5);
    run(rig);
    uint64_t clocks = rig->hart.x[5] - device.times[0];
    end(&device);
    return clocks;
}

/* Fences of device output and atomics wait for the answer; fences of memory, and loads and stores in memory, do not. */
static void what_waits_for_answers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct operands memory = {.rd = 6, .rs1 = 25, .rs2 = 21};
        assert_true(time_around(&all[i], INSN_fence, (struct operands){.imm = FENCE_O_W}) >= ANSWER);
        assert_true(time_around(&all[i], INSN_amoadd_d, memory) >= ANSWER);
        assert_true(time_around(&all[i], INSN_fence, (struct operands){.imm = FENCE_RW_RW}) < ANSWER / 2);
        assert_true(time_around(&all[i], INSN_ld, memory) < ANSWER / 2);
        assert_true(time_around(&all[i], INSN_sd, memory) < ANSWER / 2);
    }
}

/* With posted_stores 0, and beside the core without an interconnect, each store waits. */
static void stores_that_wait(void **state)
{
    (void)state;
    static const struct setup setups[] = {
        {CORE_INORDER, 0, false}, {CORE_INORDER, 3, true}, {CORE_OOO, 0, false}, {CORE_OOO, 3, true}};
    for (unsigned i = 0; i < 4; i++) {
        struct device device;
        begin(&device, &setups[i]);
        store(device.rig, 21);
        store(device.rig, 22);
        read_cycle(device.rig, 5);
        run(device.rig);
        assert_int_equal(device.count, 2);
        assert_true(device.times[1] >= device.times[0] + ANSWER);
        assert_true(device.rig->hart.x[5] >= device.times[1] + ANSWER);
        end(&device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_do_not_wait),
        cmocka_unit_test(what_waits_for_answers),
        cmocka_unit_test(stores_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
