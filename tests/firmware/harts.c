/* Two harts: software interrupts both ways, atomics under contention, a reservation that another hart ends.
 */
#include <croft/firmware/clint.h>
#include <croft/firmware/hart.h>

#include "support/support.h"

enum { ROUNDS = 2000, MSIP = 1 << 3 };

static volatile uint64_t sum_amo, sum_lr_sc, word = 5, turn, result;

static void add_all(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t failed, value;
        __asm__ volatile("amoadd.d zero, %0, (%1)" : : "r"(1ul), "r"(&sum_amo) : "memory");
        do
            __asm__ volatile("lr.d %1, (%2)\n addi %1, %1, 1\n sc.d %0, %1, (%2)"
                             : "=&r"(failed), "=&r"(value)
                             : "r"(&sum_lr_sc)
                             : "memory");
        while (failed);
    }
}

static void test_contention(struct suite *s)
{
    expect(s, "hart 1 starts", hart_start(1, add_all, NULL), 1);
    add_all(NULL);
    hart_wait(1);
    expect(s, "amoadd.d by two harts", sum_amo, 2 * ROUNDS);
    expect(s, "lr.d and sc.d by two harts", sum_lr_sc, 2 * ROUNDS);
}

static void store_on_request(void *argument)
{
    (void)argument;
    while (turn != 1)
        ;
    word = 6;
    __asm__ volatile("fence" : : : "memory");
    turn = 2;
}

/* The loop between lr.d and sc.d is longer than the architecture promises to let succeed; it must fail. */
static void test_reservation(struct suite *s)
{
    uint64_t failed, value;
    hart_start(1, store_on_request, NULL);
    __asm__ volatile("lr.d %1, (%2)\n"
                     "sd   %3, (%4)\n"
                     "fence\n"
                     "1: ld t0, (%4)\n"
                     "bne  t0, %5, 1b\n"
                     "sc.d %0, zero, (%2)"
                     : "=&r"(failed), "=&r"(value)
                     : "r"(&word), "r"(1ul), "r"(&turn), "r"(2ul)
                     : "t0", "memory");
    hart_wait(1);
    expect(s, "sc.d after another hart's store fails", failed, 1);
    expect(s, "and the other's value stays", word, 6);
}

static void answer(void *argument)
{
    (void)argument;
    csr_write(mie, MSIP);
    while (!(csr_read(mip) & MSIP))
        __asm__ volatile("wfi");
    clint_clear_ipi(hart_id());
    result = hart_id();
    clint_send_ipi(0);
}

static void test_interrupts(struct suite *s)
{
    csr_write(mie, MSIP);
    expect(s, "mip at the start", csr_read(mip) & MSIP, 0);
    hart_start(1, answer, NULL);
    clint_set_timer(0, UINT64_MAX);
    while (clint_ipi_pending(1))
        ; /* hart 1 has understood that it has work */
    clint_send_ipi(1);
    while (!(csr_read(mip) & MSIP))
        __asm__ volatile("wfi");
    expect(s, "mip with the answer", csr_read(mip) & MSIP, MSIP);
    expect(s, "mhartid of who answered", result, 1);
    clint_clear_ipi(0);
    expect(s, "mip at the end", csr_read(mip) & MSIP, 0);
    hart_wait(1);
    csr_write(mie, 0);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    expect(&s, "two harts or more", hart_count() >= 2, 1);
    test_contention(&s);
    test_reservation(&s);
    test_interrupts(&s);
    return suite_end(&s);
}
