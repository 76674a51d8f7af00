/* Harts that pass a message on: hart 0 puts a number into the mailbox of hart 1 and sends it an interrupt.
 * Hart 1 adds its own id and passes the sum to hart 2, and so on, until it returns to hart 0. Run it with
 * several harts: `croft run -m virt --set harts=4`, or qemu-system-riscv64's -smp 4. */
#include <croft/firmware/clint.h>
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/trap.h>
#include <stddef.h>
#include <stdio.h>

struct mailbox {
    volatile unsigned full; /* set by the sender after it has written the message, cleared by the receiver */
    unsigned message;
};

enum { LINE = 64, ROUNDS = 3 };

/* One mailbox per hart, each in its own cache line. */
static struct {
    _Alignas(LINE) struct mailbox box;
} boxes[CROFT_HARTS_MAX];

static void send(unsigned to, unsigned message)
{
    struct mailbox *box = &boxes[to].box;
    box->message = message;
    __atomic_store_n(&box->full, 1, __ATOMIC_RELEASE);
    clint_send_ipi(to);
}

/* Sleeps until a message has arrived. A pending interrupt wakes a hart from wfi even if interrupts are
 * disabled. */
static unsigned receive(void)
{
    struct mailbox *box = &boxes[hart_id()].box;
    csr_set(mie, 1ul << INTERRUPT_MACHINE_SOFTWARE);
    while (!__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
        __asm__ volatile("wfi");
    clint_clear_ipi(hart_id());
    unsigned message = box->message;
    __atomic_store_n(&box->full, 0, __ATOMIC_RELEASE);
    return message;
}

/* Runs on all harts but 0. */
static void pass_on(void *argument)
{
    unsigned harts = *(const unsigned *)argument, self = hart_id();
    for (unsigned round = 0; round < ROUNDS; round++)
        send((self + 1) % harts, receive() + self);
}

int main(void)
{
    unsigned harts = hart_count();
    printf("%u harts\n", harts);
    for (unsigned hart = 1; hart < harts; hart++)
        hart_start(hart, pass_on, &harts);

    unsigned message = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        send(1 % harts, message);
        message = receive();
        printf("round %u: the sum is %u\n", round, message);
    }
    for (unsigned hart = 1; hart < harts; hart++)
        hart_wait(hart);
    return message == ROUNDS * (harts * (harts - 1) / 2) ? 0 : 1;
}
