/* More mappings than the host gives a process: PAGES (in the environment) pages whose permissions alternate. The program prints how
 * many of them can be written. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

int main(void)
{
    const size_t count = strtoul(getenv("PAGES"), NULL, 10);
    char *pages = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < count; i += 2)
        if (mprotect(pages + i * PAGE, PAGE, PROT_READ) != 0)
            return 2;
    long sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % 2)
            pages[i * PAGE] = 1;
        sum += pages[i * PAGE];
    }
    free(malloc(1 << 20));
    printf("%ld\n", sum);
    return 0;
}
