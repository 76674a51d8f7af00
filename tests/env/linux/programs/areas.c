/* More mappings than the host gives a process: pages whose permissions alternate. With MORE in the environment one more, so that the
 * host's last one is split, or not. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGES = 66500, PAGE = 4096 };

int main(void)
{
    char *pages =
        mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    if (getenv("MORE"))
        (void)mprotect(pages + PAGE, PAGE, PROT_NONE);
    for (size_t i = 0; i < PAGES; i += 2)
        if (mprotect(pages + i * PAGE, PAGE, PROT_READ) != 0)
            return 2;
    long sum = 0;
    for (size_t i = 0; i < PAGES; i++) {
        if (i % 2 && i > 1)
            pages[i * PAGE] = 1;
        if (i != 1)
            sum += pages[i * PAGE];
    }
    free(malloc(1 << 20));
    printf("%ld\n", sum);
    return 0;
}
