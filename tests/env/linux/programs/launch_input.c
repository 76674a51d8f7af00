/* A thread waits for input while another waits for a kernel. */
#include <croft/simt.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

struct work {
    atomic_int sum;
};

static struct work work;
static atomic_int started;

static void add(struct work *to)
{
    for (int i = 0; i < 2000; i++)
        atomic_fetch_add_explicit(&to->sum, 1, memory_order_relaxed);
}

static void *launch(void *unused)
{
    started = 1;
    simt_launch(add, &work, simt_dim(1), simt_dim(32));
    simt_wait(0);
    printf("kernel %d\n", work.sum);
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    setvbuf(stdout, NULL, _IOLBF, 0); /* the test answers it */
    pthread_create(&thread, NULL, launch, NULL);
    while (!started)
        sched_yield();
    usleep(100); /* less than the kernel takes */
    printf("poll %d\n", poll(&input, 1, -1));
    pthread_join(thread, NULL);
    return 0;
}
