/* Calls that move bytes between standard streams whose other ends are late: streams tee|in|out|pages [thread]; streams full. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MUCH = 300000, STEP = 100000 };

static sem_t never;
static char much[MUCH];

static void *wait_meanwhile(void *unused)
{
    sem_wait(&never);
    return unused;
}

static void splice_all(int from, int to)
{
    long sum = 0, moved;
    while ((moved = splice(from, NULL, to, NULL, STEP, 0)) > 0)
        sum += moved;
    fprintf(stderr, "splice: %ld bytes, then %ld\n", sum, moved);
}

static void splice_pages(void)
{
    long sum = 0, moved = 1;
    while (sum < MUCH && moved > 0) {
        const struct iovec rest = {much + sum, (size_t)(MUCH - sum)};
        moved = vmsplice(1, &rest, 1, 0);
        sum += moved;
    }
    fprintf(stderr, "vmsplice: %ld bytes\n", sum);
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    pthread_t thread;
    const int file = open("moved", O_RDWR | O_CREAT | O_TRUNC, 0644);
    memset(much, 'm', MUCH);
    if (count > 2)
        pthread_create(&thread, NULL, wait_meanwhile, NULL);
    if (strcmp(mode, "tee") == 0) {
        fprintf(stderr, "tee: %zd\n", tee(0, 1, 6, 0));
    } else if (strcmp(mode, "in") == 0) {
        splice_all(0, file);
    } else if (strcmp(mode, "out") == 0) {
        (void)!write(file, much, MUCH);
        lseek(file, 0, SEEK_SET);
        splice_all(file, 1);
    } else if (strcmp(mode, "full") == 0) {
        (void)!write(file, much, MUCH);
        lseek(file, 0, SEEK_SET);
        fcntl(1, F_SETFL, O_NONBLOCK);
        fprintf(stderr, "sendfile: %zd\n", sendfile(1, file, NULL, MUCH));
        fprintf(stderr, "then %zd", sendfile(1, file, NULL, MUCH));
        fprintf(stderr, ", EAGAIN: %d\n", errno == EAGAIN);
    } else {
        splice_pages();
    }
    return 0;
}
