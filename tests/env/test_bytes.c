/* A program whose data lie in a stash outside of memory: tests the loader, system calls, a launch, and gdb's
 * packets. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/debug/gdb/world.h"

#include <elf.h>

#include "emu/env/calls.h"
#include "emu/env/gdb/hart.h"
#include "emu/env/threads.h"
#include "isa/include/croft/simt_call.h"

#define STASH UINT64_C(0x100000000)

enum {
    MEMORY = 0x80000000,
    MEMORY_SIZE = 1 << 20,
    STASH_SIZE = 8192,
    DATA = 0xff0, /* offset of the program's data in the stash; they extend to its end */
    DATA_SIZE = STASH_SIZE - DATA,
    FILLED = 11, /* bytes of the data that are in the file */
    CODE = 0x1000,
    SEGMENTS = 2,
    AT_FDCWD_GUEST = -100,
};

struct machine {
    struct phys memory;
    struct decoder *decoder;
    struct system system;
    uint8_t stash[STASH_SIZE];
    bool read_only;
    struct launch_options simt;
    struct user_options options;
    struct user *user;
    char folder[32], program[64];
};

static bool stash_functional(void *context, const struct mem_access *access)
{
    struct machine *machine = context;
    assert_true(access->address < STASH_SIZE && access->size <= STASH_SIZE - access->address);
    if (access->write && machine->read_only)
        return false;
    uint8_t *at = machine->stash + access->address;
    memcpy(access->write ? at : access->bytes, access->write ? access->bytes : at, access->size);
    return true;
}

/* Writes an ELF file with instructions in memory and `size` bytes of data at address `data`. */
static void write_program(const struct machine *machine, uint64_t data, uint64_t size)
{
    static const uint32_t code[] = {0x05d00893, 0x00000073}; /* li a7, 93 (exit); ecall */
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segments[SEGMENTS];
        uint32_t code[2];
        char data[FILLED];
    } file = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = EM_RISCV,
                         .e_version = EV_CURRENT,
                         .e_entry = MEMORY + CODE,
                         .e_phoff = sizeof(Elf64_Ehdr),
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = SEGMENTS},
              .data = "a file.txt"};
    memcpy(file.code, code, sizeof code);
    file.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_X,
                                    .p_offset = offsetof(__typeof__(file), code),
                                    .p_vaddr = MEMORY + CODE,
                                    .p_filesz = sizeof file.code,
                                    .p_memsz = sizeof file.code};
    file.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_W,
                                    .p_offset = offsetof(__typeof__(file), data),
                                    .p_vaddr = data,
                                    .p_filesz = FILLED,
                                    .p_memsz = size};
    int out = open(machine->program, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(out >= 0);
    assert_int_equal(write(out, &file, sizeof file), sizeof file);
    assert_int_equal(close(out), 0);
}

static int machine_set_up(void **state)
{
    struct machine *machine = calloc(1, sizeof *machine);
    struct error err;
    assert_non_null(machine);
    strcpy(machine->folder, "/tmp/bytes.XXXXXX");
    assert_non_null(mkdtemp(machine->folder));
    (void)snprintf(machine->program, sizeof machine->program, "%s/program", machine->folder);
    machine->decoder = decoder_new();
    assert_true(phys_init(&machine->memory, MEMORY, MEMORY_SIZE, &err));
    assert_true(system_init_user(&machine->system, 1, 0, &machine->memory, machine->decoder, &err));
    const struct bytes_holder holder = {STASH, STASH_SIZE, STASH, stash_functional, machine, true, "stash"};
    assert_true(bytes_hold(&machine->system.bus.holders, &holder, &err));
    memset(machine->stash, 0xee, sizeof machine->stash);
    machine->simt = (struct launch_options){
        .limits = {.count = 1, .width = 4, .block_threads = 16, .scratchpad = 1024}, .stack = 1024};
    machine->options = (struct user_options){.program = machine->program,
                                             .argument_count = 1,
                                             .dir = machine->folder,
                                             .stack_size = 262144,
                                             .max_insns = UINT64_MAX,
                                             .simt = &machine->simt,
                                             .system = &machine->system};
    *state = machine;
    return 0;
}

static int machine_tear_down(void **state)
{
    struct machine *machine = *state;
    char path[96];
    user_free(machine->user);
    system_free(&machine->system);
    phys_free(&machine->memory);
    decoder_free(machine->decoder);
    (void)snprintf(path, sizeof path, "%s/a file.txt", machine->folder);
    (void)unlink(path);
    (void)unlink(machine->program);
    assert_int_equal(rmdir(machine->folder), 0);
    free(machine);
    return 0;
}

static void start(struct machine *machine)
{
    static const char *const arguments[] = {"program"};
    struct error err;
    machine->options.arguments = arguments;
    write_program(machine, STASH + DATA, DATA_SIZE);
    machine->user = user_new(&machine->system.harts[0], &machine->memory, &machine->options, &err);
    if (!machine->user)
        fail_msg("%s", err.text);
}

static int64_t call(struct machine *machine, uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct hart *hart = &machine->system.harts[0];
    hart->x[17] = number;
    hart->x[10] = a;
    hart->x[11] = b;
    hart->x[12] = c;
    hart->x[13] = d;
    hart->trap = (struct trap){.cause = TRAP_ECALL_USER};
    assert_true(user_serve(machine->user));
    return (int64_t)hart->x[10];
}

static void a_segment_is_loaded_into_the_stash(void **state)
{
    struct machine *machine = *state;
    start(machine);
    assert_memory_equal(machine->stash + DATA, "a file.txt", FILLED);
    for (unsigned i = DATA + FILLED; i < STASH_SIZE; i++)
        assert_int_equal(machine->stash[i], 0);
    assert_int_equal(machine->stash[DATA - 1], 0xee);
    /* Break and read-only memory depend only on segments in memory. */
    uint64_t end = MEMORY + CODE + 8;
    assert_int_equal(machine->user->write_first, end);
    assert_int_equal(call(machine, 214, 0, 0, 0, 0), MEMORY + CODE + 4096);
}

static void a_segment_without_bytes_is_named(void **state)
{
    struct machine *machine = *state;
    struct error err;
    char message[512];
    static const struct {
        uint64_t address, size;
        bool read_only;
        const char *message;
    } cases[] = {
        {STASH + STASH_SIZE - 16, 17, false,
         "segment 1 takes 0x11 bytes at address 0x100001ff0, but stash ends at 0x100002000; "
         "make the segment smaller or link it elsewhere"},
        {STASH + STASH_SIZE, 16, false,
         "segment 1 takes 0x10 bytes at address 0x100002000, outside of the memory 0x80000000-0x800fffff; "
         "link "
         "the program into it or change memory.base and memory.size"},
        {STASH, 16, true, "cannot be loaded at 0x100000000: stash refuses the bytes; link it elsewhere"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_program(machine, cases[i].address, cases[i].size);
        machine->read_only = cases[i].read_only;
        assert_null(user_new(&machine->system.harts[0], &machine->memory, &machine->options, &err));
        (void)snprintf(message, sizeof message, "%s: %s", machine->program, cases[i].message);
        assert_string_equal(err.text, message);
    }
}

static void calls_work_on_the_stash(void **state)
{
    struct machine *machine = *state;
    start(machine);
    memcpy(machine->stash, "0123456789", 10);
    int64_t file = call(machine, 56, (uint64_t)AT_FDCWD_GUEST, STASH + DATA, O_RDWR | O_CREAT, 0600);
    assert_true(file > 2);
    assert_int_equal(call(machine, 64, (uint64_t)file, STASH + 2, 5, 0), 5);
    assert_int_equal(call(machine, 67, (uint64_t)file, STASH + 0x20, 10, 1), 4);
    assert_memory_equal(machine->stash + 0x20, "3456\xee", 5);
    /* Memory still works; a read across the stash's end or to a refusing stash fails. */
    assert_int_equal(call(machine, 67, (uint64_t)file, MEMORY + 0x8000, 10, 0), 5);
    assert_memory_equal(machine->memory.bytes + 0x8000, "23456", 5);
    assert_int_equal(call(machine, 67, (uint64_t)file, STASH + STASH_SIZE - 4, 5, 0), -EFAULT);
    assert_int_equal(machine->stash[STASH_SIZE - 1], 0);
    machine->read_only = true;
    assert_int_equal(call(machine, 67, (uint64_t)file, STASH + 0x40, 4, 0), -EFAULT);
    assert_int_equal(call(machine, 68, (uint64_t)file, STASH + 0x20, 4, 0), 4);
    assert_int_equal(call(machine, 57, (uint64_t)file, 0, 0, 0), 0);
}

static void registers_are_not_for_programs(void **state)
{
    struct machine *machine = *state;
    start(machine);
    machine->system.bus.holders.list[0].storage = false;
    assert_int_equal(call(machine, 160, STASH, 0, 0, 0), -EFAULT); /* uname */
    machine->system.bus.holders.list[0].storage = true;
    assert_int_equal(call(machine, 160, STASH, 0, 0, 0), 0);
    assert_string_equal((const char *)machine->stash, "Linux");
}

static void a_launch_takes_its_record_from_the_stash(void **state)
{
    struct machine *machine = *state;
    start(machine);
    const struct simt_launch_record record = {
        .entry = MEMORY + CODE, .argument = STASH, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    memcpy(machine->stash + 0x100, &record, sizeof record);
    assert_int_equal(call(machine, SIMT_CALL_LAUNCH, STASH + STASH_SIZE, 0, 0, 0), -EFAULT);
    /* The launch's thread ends the program with its argument, a0, as the status. */
    machine->stash[0x100 + offsetof(struct simt_launch_record, argument)] = 77;
    machine->stash[0x100 + offsetof(struct simt_launch_record, argument) + 4] = 0;
    (void)call(machine, SIMT_CALL_LAUNCH, STASH + 0x100, 0, 0, 0);
    assert_true(machine->user->ended);
    assert_int_equal(machine->user->status, 77);
}

static bool gdb_read(void *target, unsigned thread, uint64_t address, void *to, size_t length)
{
    return gdb_harts_memory_read(((struct machine *)target)->system.harts, thread, address, to, length);
}

static bool gdb_write(void *target, unsigned thread, uint64_t address, const void *from, size_t length)
{
    return gdb_harts_memory_write(((struct machine *)target)->system.harts, 1, thread, address, from, length);
}

static unsigned one(void *target)
{
    (void)target;
    return 1;
}

static void gdb_reads_and_writes_the_stash(void **state)
{
    struct machine *machine = *state;
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    start(machine);
    const struct gdb_target_ops ops = {
        .thread_count = one, .memory_read = gdb_read, .memory_write = gdb_write};
    world->session = gdb_session_new(&(struct gdb_target){&ops, machine});
    gdb_session_connect(world->session, collect, world);
    assert_string_equal(talk(world, "m100000ff0,a"), "612066696c652e747874");
    assert_string_equal(talk(world, "M100000802,3:414243"), "OK");
    assert_memory_equal(machine->stash + 0x801,
                        "\xee"
                        "ABC\xee",
                        5);
    assert_string_equal(talk(world, "m100001ffe,10"), "0000"); /* the bytes before the hole */
    assert_string_equal(talk(world, "m100002000,1"), "E0e");
    assert_string_equal(talk(world, "M100001fff,2:4142"), "E0e");
    machine->read_only = true;
    assert_string_equal(talk(world, "M100000802,1:41"), "E0e");
    gdb_session_free(world->session);
    free(world);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, machine_set_up, machine_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_segment_is_loaded_into_the_stash),
        TEST(a_segment_without_bytes_is_named),
        TEST(calls_work_on_the_stash),
        TEST(registers_are_not_for_programs),
        TEST(a_launch_takes_its_record_from_the_stash),
        TEST(gdb_reads_and_writes_the_stash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
