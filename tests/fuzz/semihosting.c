/* Fuzzes semihosting calls: the input is a sequence of an operation's number and four fields of its block,
 * which are mostly made to point at names, buffers and handles that exist. Files lie in a folder of their
 * own. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/semihosting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MEMORY = 64 << 10,
    NAMES = 0x1000, /* offset of the input's bytes, which serve as names, too */
    FILE_LIMIT = 64 << 20,
    CALL_BYTES = 6, /* operation, four fields, what they are */
    A0 = 10,
    A1 = 11,
};
static const uint64_t base = 0x80000000;

struct guest {
    struct phys memory;
    struct decoder *decoder;
    struct hart hart;
    struct semihosting *semihosting;
    char folder[64];
    uint64_t time;
    unsigned inputs; /* bytes that the console has left */
};

static uint64_t guest_now(void *context)
{
    return ((struct guest *)context)->time += 1000;
}

static void guest_exit(void *context, int status)
{
    (void)context;
    if (status < 0 || status > 255)
        abort();
}

static void guest_put(void *context, uint8_t byte)
{
    (void)context, (void)byte;
}

static int guest_get(void *context)
{
    struct guest *guest = context;
    return guest->inputs > 0 ? (int)guest->inputs-- & 0xff : -1;
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    abort();
}

/* One folder for all inputs of a process; what they leave in it is removed by empty_folder(). */
static void make_folder(struct guest *guest)
{
    const char *parent = getenv("TMPDIR");
    (void)snprintf(guest->folder, sizeof guest->folder, "%s/fuzz-semihosting-%d", parent ? parent : P_tmpdir,
                   (int)getpid());
    (void)mkdir(guest->folder, 0700);
    const struct rlimit limit = {FILE_LIMIT, FILE_LIMIT};
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
    (void)signal(SIGXFSZ, SIG_IGN);
}

static void remove_folder(const struct guest *guest)
{
    DIR *folder = opendir(guest->folder);
    must(folder != NULL, guest->folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    (void)rmdir(guest->folder);
}

static void guest_open(struct guest *guest, const uint8_t *data, size_t size)
{
    static const char *const arguments[] = {"program", "argument"};
    struct error err;
    if (fileno(stderr) == STDERR_FILENO)
        stderr =
            fopen("/dev/null", "we"); /* the warnings; the fuzzer and the sanitizers write by themselves */
    make_folder(guest);
    must(phys_init(&guest->memory, base, MEMORY, &err), "memory");
    guest->decoder = decoder_new();
    must(hart_init(&guest->hart, &guest->memory, guest->decoder, &err), "hart");
    memcpy(phys_at(&guest->memory, base + NAMES, size), data, size);
    const struct semihosting_options options = {.dir = guest->folder,
                                                .arguments = arguments,
                                                .argument_count = 2,
                                                .memory = &guest->memory,
                                                .heap_base = base,
                                                .now = guest_now,
                                                .exit = guest_exit,
                                                .put = guest_put,
                                                .get = guest_get,
                                                .context = guest};
    guest->semihosting = semihosting_new(&options, &err);
    must(guest->semihosting != NULL, "semihosting");
}

static void guest_close(struct guest *guest)
{
    semihosting_free(guest->semihosting);
    hart_free(&guest->hart);
    decoder_free(guest->decoder);
    phys_free(&guest->memory);
    remove_folder(guest);
}

/* A field from one byte, in one of four ways: a small number, a place in memory, one near its end, a large
 * number. */
static uint64_t field(uint8_t byte, unsigned way)
{
    switch (way & 3) {
    case 0: return byte;
    case 1: return base + NAMES + byte;
    case 2: return base + MEMORY - byte;
    default: return UINT64_MAX - byte * UINT64_C(0x123456789abcd);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct guest guest = {.inputs = 100};
    if (size > MEMORY - NAMES)
        return 0;
    guest_open(&guest, data, size);
    for (size_t i = 0; i + CALL_BYTES <= size; i += CALL_BYTES) {
        uint64_t fields[4];
        for (unsigned n = 0; n < 4; n++)
            fields[n] = field(data[i + 1 + n], (unsigned)data[i + 5] >> 2 * n);
        memcpy(phys_at(&guest.memory, base, sizeof fields), fields, sizeof fields);
        guest.hart.x[A0] = data[i] & 0x3f;
        guest.hart.x[A1] = data[i] & 0x80 ? field(data[i + 1], data[i + 5]) : base;
        (void)semihosting_call(guest.semihosting, &guest.hart);
    }
    guest_close(&guest);
    return 0;
}
