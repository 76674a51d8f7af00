/* What the session with several harts debugs: machine mode, no library. Hart 0 posts numbers to hart 1's
 * mailbox, rings it by a software interrupt and waits for the squares; then it takes a trap and ends the run
 * with their sum. Harts beyond 1 sleep. */
#include <stdint.h>

enum { STACK = 4096, HARTS = 4, MSIE = 1 << 3, ECALL_BYTES = 4 };

#define MSIP(hart) (*(volatile uint32_t *)(0x2000000 + 4 * (hart)))
#define FINISHER   (*(volatile uint32_t *)0x100000)

struct mailbox {
    volatile uint64_t request, answer, served;
};

struct mailbox mailbox;
volatile uint64_t spins, traps;
char stacks[HARTS][STACK] __attribute__((aligned(16)));

void hart_main(uint64_t hart);
void trap(void);

__attribute__((naked)) void _start(void)
{
    __asm__ volatile("csrr a0, mhartid\n"
                     "la sp, stacks\n"
                     "addi t0, a0, 1\n"
                     "slli t0, t0, 12\n"
                     "add sp, sp, t0\n"
                     "la t0, trap\n"
                     "csrw mtvec, t0\n"
                     "j hart_main\n");
}

static void sleep_until_rung(uint64_t hart)
{
    __asm__ volatile("csrw mie, %0" : : "r"(MSIE));
    while (MSIP(hart) == 0)
        __asm__ volatile("wfi");
    MSIP(hart) = 0;
}

static void serve(void)
{
    uint64_t request = mailbox.request;
    mailbox.answer = request * request;
    mailbox.served++; /* the answer is there */
}

static uint64_t ask(uint64_t request)
{
    uint64_t served = mailbox.served;
    mailbox.request = request;
    MSIP(1) = 1;
    while (mailbox.served == served)
        spins++; /* waiting */
    return mailbox.answer;
}

__attribute__((interrupt, aligned(4))) void trap(void)
{
    uint64_t pc;
    __asm__ volatile("csrr %0, mepc" : "=r"(pc));
    traps++;
    __asm__ volatile("csrw mepc, %0" : : "r"(pc + ECALL_BYTES));
}

void hart_main(uint64_t hart)
{
    uint64_t sum = 0;
    while (hart != 0) {
        sleep_until_rung(hart);
        serve();
    }
    for (uint64_t i = 1; i <= 4; i++)
        sum += ask(i);
    __asm__ volatile("ecall");
    FINISHER = (uint32_t)(sum + traps) << 16 | 0x3333;
    for (;;)
        continue;
}
