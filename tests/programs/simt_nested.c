/* Kernels cannot launch kernels or wait for them, on multiprocessors and on the scalar core alike. */
#include <croft/simt.h>
#include <errno.h>
#include <stdio.h>

static struct answers {
    int launch, launch_errno, wait[3], wait_errno[3];
} answers;

static void nothing(struct answers *a)
{
    (void)a;
}

static void nest(struct answers *a)
{
    static const long numbers[] = {0, 1, 99};
    if (thread_id() != 0)
        return;
    errno = 0;
    a->launch = (int)simt_launch(nothing, a, simt_dim(1), simt_dim(1));
    a->launch_errno = errno == EBUSY;
    for (int i = 0; i < 3; i++) {
        errno = 0;
        a->wait[i] = simt_wait(numbers[i]);
        a->wait_errno[i] = errno == EBUSY;
    }
}

int main(void)
{
    simt_launch(nest, &answers, simt_dim(1), simt_dim(64));
    printf("wait for all: %d\n", simt_wait(0));
    printf("launch in a kernel: %d, EBUSY: %d\n", answers.launch, answers.launch_errno);
    for (int i = 0; i < 3; i++)
        printf("wait in a kernel: %d, EBUSY: %d\n", answers.wait[i], answers.wait_errno[i]);
    errno = 0;
    const int wait = simt_wait(99);
    printf("wait for no launch: %d, EINVAL: %d\n", wait, errno == EINVAL);
    return 0;
}
