/* Waits of hosts. */
#include "host/kernel/hosts.h"

void hosts_rest(void)
{
    hosts_sleep();
    kernel_serve_threads();
}

void hosts_listen(void)
{
    enum { SEIE = 1 << 9 };
    __asm__ volatile("csrs sie, %0" : : "r"((uint64_t)SEIE));
}
