/* Ends in the way that its argument names. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *none(void *unused)
{
    return unused;
}

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "";
    if (strcmp(way, "null") == 0)
        *(volatile int *)0 = 1;
    if (strcmp(way, "text") == 0)
        *(volatile int *)main = 1;
    if (strcmp(way, "jump") == 0)
        ((void (*)(void))0x5000)();
    if (strcmp(way, "illegal") == 0)
        __asm__ volatile(".word 0xffffffff");
    if (strcmp(way, "vector") == 0)
        __asm__ volatile(".word 0x0d007057"); /* vsetvli x0, x0, e32 */
    if (strcmp(way, "shared") == 0) {         /* the file has what was stored before the end */
        int fd = open("shared", O_RDWR | O_CREAT, 0600);
        if (write(fd, "....", 4) != 4)
            return 1;
        char *at = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        memcpy(at, "kept", 4);
        abort();
    }
    if (strcmp(way, "bus") == 0) {
        int fd = open("short", O_RDWR | O_CREAT, 0600);
        return ((volatile char *)mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0))[5000];
    }
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "stack") == 0) {
        volatile char *p = (char *)&p;
        for (;;)
            *(p -= 4096) = 0;
    }
    if (strcmp(way, "wait") == 0) {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
    }
    if (strcmp(way, "many") == 0) {
        pthread_attr_t small;
        pthread_t threads[300];
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 65536);
        for (int i = 0; i < 300; i++)
            if (pthread_create(&threads[i], &small, none, NULL) != 0)
                return 1;
        for (int i = 0; i < 300; i++)
            pthread_join(threads[i], NULL);
        puts("300 threads");
    }
    return 0;
}
