/* Programs that --check coherence reports, and one that it does not: conflict split|race|apart. split: a block stores a word through its
 * map and loads it by its address, in one kernel. race: a host polls a word without a fence while another stores to it. apart: the load is
 * another kernel's. */
#include <croft/simt.h>
#include <croft/stash.h>
#include <croft/threads.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 64 };

static unsigned data[WORDS], sum;
static volatile unsigned word, polls;

static void store(const char *mode)
{
    unsigned *const map = croft_stash_map((unsigned *)simt_shared(), data, .objects = WORDS);
    map[thread_x()] = thread_x();
    if (strcmp(mode, "split") == 0 && thread_x() == 5)
        sum = *(volatile unsigned *)&data[5]; /* the cache's */
}

static void load(const char *mode)
{
    (void)mode;
    if (thread_x() == 5)
        sum = *(volatile unsigned *)&data[5];
}

static void poll(void *argument)
{
    (void)argument;
    while (!word && polls < 100000)
        polls++;
}

static int launch(const char *mode)
{
    if (simt_launch(store, mode, simt_dim(1), simt_dim(WORDS), .scratchpad = sizeof data) < 0 ||
        simt_wait(0) != 0)
        return 1;
    if (strcmp(mode, "split") != 0 &&
        (simt_launch(load, mode, simt_dim(1), simt_dim(WORDS)) < 0 || simt_wait(0) != 0))
        return 1;
    return printf("%u\n", sum) != 2;
}

int main(int argc, char **argv)
{
    static struct croft_thread thread;
    const char *mode = argc > 1 ? argv[1] : "apart";
    if (strcmp(mode, "race") != 0)
        return launch(mode);
    if (croft_thread_start(&thread, poll, NULL) != 0)
        return 2;
    for (volatile int i = 0; i < 2000; i++) {
    }
    word = 1;
    for (volatile int i = 0; i < 2000; i++) {
    }
    croft_thread_join(&thread);
    return printf("%u\n", word) != 2;
}
