/* Processes of Linux that use chips of AxRAM. Each case is a process of its own, and says what it has seen. */
#define _GNU_SOURCE
#include <croft/approx.h>
#include <croft/axram_memory.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    INPUTS = 3,
    OUTPUTS = 2,
    WEIGHTS = INPUTS * OUTPUTS,
    FLOATS = 2,
    ROWS = CROFT_AXRAM_WORDS,
    ROUNDS = 30
};

struct user {
    uint32_t image[8 + WEIGHTS], in[ROWS * INPUTS], wanted[ROWS * OUTPUTS];
    uint32_t *from, *to;
    unsigned wrong;
};

static uint32_t word(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Computes the rows' results. */
static void learn(struct user *user)
{
    for (unsigned row = 0; row < ROWS; row++) {
        uint32_t out[CROFT_NETWORK_NEURONS];
        croft_network_evaluate(user->image, user->in + row * INPUTS, out);
        memcpy(user->wanted + row * OUTPUTS, out, OUTPUTS * sizeof *out);
    }
}

/* Makes a network by the seed, and rows whose results it knows. */
static void make(struct user *user, unsigned network, unsigned rows)
{
    const uint32_t header[4] = {0x4e4e5841, FLOATS | 1u << 8, INPUTS | OUTPUTS << 8, WEIGHTS};
    memcpy(user->image, header, sizeof header);
    for (unsigned i = 0; i < WEIGHTS; i++)
        user->image[8 + i] = word((float)((network + i * 7) % 13) / 4 - 1);
    for (unsigned i = 0; i < ROWS * INPUTS; i++)
        user->in[i] = word((float)((rows + i * 5) % 17) / 8 - 1);
    learn(user);
}

static void begin(struct user *user)
{
    user->from = axram_malloc(INPUTS, ROWS);
    user->to = axram_malloc(OUTPUTS, ROWS);
    if (!user->from || !user->to) {
        printf("%s\n", axram_error());
        exit(1);
    }
    axram_copy_in(user->from, user->in, INPUTS, 1, ROWS);
}

/* Evaluates the network with `between` calls of the scheduler between its two instructions, and counts wrong words. */
static void evaluate(struct user *user, unsigned between)
{
    uint32_t out[ROWS * OUTPUTS];
    memset(user->to, 0, sizeof out);
    croft_axram_initiate(user->from, user->from + INPUTS * ROWS);
    while (between-- > 0)
        sched_yield();
    croft_axram_wrt_res(user->to, user->to + OUTPUTS * ROWS);
    axram_copy_out(out, OUTPUTS, 1, user->to, ROWS);
    for (unsigned i = 0; i < ROWS * OUTPUTS; i++)
        user->wrong += out[i] != user->wanted[i];
}

static void *turns(void *context)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        evaluate(context, i % 4);
    return NULL;
}

/* Threads name their inputs, and others run before they name their results. */
static void threads(void)
{
    enum { COUNT = 4 };
    static struct user users[COUNT];
    pthread_t thread[COUNT];
    unsigned wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        make(&users[i], 1, i);
        begin(&users[i]);
    }
    if (!axram_network(users[0].image, 0))
        exit(1);
    for (unsigned i = 0; i < COUNT; i++)
        pthread_create(&thread[i], NULL, turns, &users[i]);
    for (unsigned i = 0; i < COUNT; i++) {
        pthread_join(thread[i], NULL);
        wrong += users[i].wrong;
    }
    printf("threads: %u wrong\n", wrong);
}

/* A process with a network of its own, in as many chips. */
static void child(unsigned seed, const char *chips)
{
    static struct user user;
    setenv("AXRAM_CHIPS", chips, 1);
    make(&user, seed, seed);
    begin(&user);
    if (!axram_network(user.image, 0))
        exit(1);
    turns(&user);
    if (user.wrong)
        printf("child %u: %u wrong\n", seed, user.wrong);
    exit(user.wrong > 0);
}

static unsigned failures(unsigned count)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < count; i++) {
        int status;
        wait(&status);
        failed += status != 0;
    }
    return failed;
}

/* Processes with networks of their own: three at a time have chips, one waits. Then each has all chips. */
static void processes(void)
{
    static const char *const chips[] = {"4", "12"};
    for (unsigned kind = 0; kind < 2; kind++) {
        for (unsigned i = 0; i < 4; i++)
            if (fork() == 0)
                child(i, chips[kind]);
        printf("processes: %u failed\n", failures(4));
    }
}

/* Runs a child, and says how it has ended. */
static void ends(const char *what, void (*run)(void))
{
    int status;
    fflush(stdout);
    if (fork() == 0) {
        run();
        exit(0);
    }
    wait(&status);
    printf("%s: %d\n", what, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static uint32_t *piece(unsigned number)
{
    const uint64_t bytes = (uint64_t)croft_axram_geometry.pairs * 2 * CROFT_AXRAM_HALF_PAGE;
    return (uint32_t *)(uintptr_t)(croft_axram_geometry.base + number * bytes);
}

static void take(const char *chips)
{
    setenv("AXRAM_CHIPS", chips, 1);
    if (!axram_malloc(1, 1))
        exit(1);
}

static void foreign_load(void)
{
    take("6");
    *piece(5) = 1;
    *(volatile uint32_t *)piece(6);
}

static void foreign_network(void)
{
    take("6");
    croft_axram_config(piece(6), piece(6) + 4 * CROFT_AXRAM_WORDS);
}

static void foreign_inputs(void)
{
    take("6");
    croft_axram_initiate(piece(7), piece(7) + CROFT_AXRAM_WORDS);
}

static void outside(void)
{
    static uint32_t block[CROFT_AXRAM_WORDS] __attribute__((aligned(CROFT_AXRAM_BLOCK)));
    take("6");
    block[0] = 1;
    croft_axram_config(block, block + CROFT_AXRAM_WORDS);
}

static void many(void)
{
    static const char *const numbers[] = {"13", "0", "-1", "4x", ""};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        setenv("AXRAM_CHIPS", numbers[i], 1);
        if (axram_malloc(1, 1) || errno != EINVAL || !strstr(axram_error(), "AXRAM_CHIPS="))
            exit(1);
    }
}

static void killed(void)
{
    take("12");
    raise(SIGKILL);
}

static void leave(void)
{
    take("12");
    for (unsigned i = 0; i < 24; i++)
        memset(piece(i), 0xa5, 1 << 14);
}

/* Nothing that the last process has left is found. */
static void find(void)
{
    take("12");
    for (unsigned i = 0; i < 24; i++)
        for (unsigned at = 0; at < 1 << 12; at++)
            if (piece(i)[at])
                exit(1);
}

/* The chips have the network of the last process still: its weights are 0 now, and so is all that was its. */
static void use(void)
{
    static struct user user;
    make(&user, 3, 3);
    begin(&user);
    memset(user.image + 8, 0, WEIGHTS * sizeof *user.image);
    learn(&user);
    evaluate(&user, 0);
    exit(user.wrong > 0);
}

static void network(void)
{
    child(3, "12");
}

static void dead(void)
{
    ends("a load from a chip of others", foreign_load);
    ends("a network for a chip of others", foreign_network);
    ends("inputs in a chip of others", foreign_inputs);
    ends("a network in other memory", outside);
    ends("too many chips", many);
    ends("killed", killed);
    ends("left", leave);
    ends("found", find);
    ends("a network", network);
    ends("its weights", use);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "threads") == 0)
        threads();
    else if (strcmp(what, "processes") == 0)
        processes();
    else if (strcmp(what, "dead") == 0)
        dead();
    return 0;
}
