/* The requests of dram_bench.c through libundercroft, beside the engine alone: simulated bandwidths, and the ratio of their
 * speeds. Both run in turn, in this process; of each, the best of three counts. */
#include "emu/api/undercroft.h"
#include "tests/dram/rate.h"

#define SLICE UINT64_C(1000000000) /* fs: 1 us */

/* A request that was refused. */
struct refused {
    uint64_t address, tag;
    int operation;
};

struct user {
    struct undercroft *memory;
    struct bench numbers; /* for the same addresses */
    uint64_t burst;
    struct refused *refused; /* in order */
    unsigned refused_count;
    int status;
};

/* Returns whether the memory has taken the request. */
static bool request(struct user *user, const struct refused *wanted)
{
    const int status = undercroft_memory_request(user->memory, wanted->operation, wanted->address,
                                                 user->burst, wanted->tag, NULL);
    user->status = status < 0 ? status : user->status;
    return status == UNDERCROFT_OK;
}

static void offer(struct user *user, uint64_t tag)
{
    struct bench *bench = &user->numbers;
    const uint64_t number =
        bench->pattern == STREAM ? bench->next++ : (random_number(bench) >> 8) * bench->span >> 32;
    const bool write = bench->pattern == RANDOM_MIXED && random_number(bench) % 4 == 0;
    const struct refused wanted = {number * user->burst, tag, write ? UNDERCROFT_WRITE : UNDERCROFT_READ};
    if (!request(user, &wanted))
        user->refused[user->refused_count++] = wanted;
}

/* Offers all again. */
static void room(void *context, uint64_t now)
{
    struct user *user = context;
    unsigned kept = 0;
    (void)now;
    for (unsigned i = 0; i < user->refused_count; i++)
        if (!request(user, &user->refused[i]))
            user->refused[kept++] = user->refused[i];
    user->refused_count = kept;
}

static void answer(void *context, uint64_t tag, uint64_t now)
{
    struct user *user = context;
    (void)now;
    user->numbers.done++;
    offer(user, tag);
}

static void fail(const char *text)
{
    (void)fprintf(stderr, "api_bench: %s\n", text);
    exit(1);
}

static double rate_of_library(enum dram_standard standard, enum pattern pattern, double *bandwidth)
{
    struct dram_config config;
    struct undercroft_error error;
    struct user *user = calloc(1, sizeof *user);
    const struct undercroft_source source = {.size = sizeof source, .file = dram_standard_name(standard)};
    const struct undercroft_memory_client client = {
        .size = sizeof client, .context = user, .answer = answer, .room = room};
    uint64_t now;
    dram_config_default(&config, standard);
    if (!user || undercroft_memory_new(&user->memory, &source, &client, &error) != UNDERCROFT_OK)
        fail(user ? error.text : "no memory");
    user->burst = config.burst_bytes;
    user->refused = calloc(IN_FLIGHT * config.channels, sizeof *user->refused);
    if (!user->refused)
        fail("no memory");
    user->numbers.pattern = pattern;
    user->numbers.random = 1;
    user->numbers.span = dram_config_bytes(&config) / config.burst_bytes;
    double start = seconds();
    for (unsigned i = 0; i < IN_FLIGHT * config.channels; i++)
        offer(user, i);
    for (now = 0; user->numbers.done < REQUESTS; now += SLICE)
        (void)undercroft_run(user->memory, now, NULL);
    double elapsed = seconds() - start;
    (void)undercroft_now(user->memory, &now, NULL);
    if (user->status != UNDERCROFT_OK)
        fail("a request is wrong");
    *bandwidth = (double)user->numbers.done * (double)user->burst / ((double)now * 1e-6);
    double millions = (double)user->numbers.done / elapsed * 1e-6;
    (void)undercroft_free(user->memory, NULL);
    free(user->refused);
    free(user);
    return millions;
}

int main(void)
{
    static const enum dram_standard standards[] = {DRAM_STANDARD_ddr3_1600k, DRAM_STANDARD_hbm1,
                                                   DRAM_STANDARD_gddr5};
    static const char *const patterns[] = {"random reads", "and 25 % writes", "streaming reads"};
    double least = 1e9, times[2] = {0, 0};
    printf("%12s %16s %10s %10s %8s\n", "standard", "requests", "engine", "library", "ratio");
    for (unsigned i = 0; i < sizeof standards / sizeof *standards; i++)
        for (enum pattern pattern = 0; pattern < PATTERNS; pattern++) {
            double alone = 0, library = 0, bandwidth[2];
            for (unsigned round = 0; round < 3; round++) {
                const double one = rate(standards[i], pattern, &bandwidth[0]);
                const double other = rate_of_library(standards[i], pattern, &bandwidth[1]);
                alone = one > alone ? one : alone;
                library = other > library ? other : library;
            }
            printf("%12s %16s %10.2f %10.2f %8.3f   %.1f, %.1f GB/s\n", dram_standard_name(standards[i]),
                   patterns[pattern], alone, library, library / alone, bandwidth[0], bandwidth[1]);
            times[0] += 1 / alone;
            times[1] += 1 / library;
            least = library / alone < least ? library / alone : least;
        }
    printf("%.3f of all, least ratio %.3f (million requests a second)\n", times[0] / times[1], least);
    return 0;
}
