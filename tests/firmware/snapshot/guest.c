/* Two harts whose state a snapshot must hold: integer and floating-point registers, memory, timers, software interrupts, the
 * PLIC, a sleeping hart, and input. Lines that begin with "time" depend on the machine's clock; all others are the same on any. */
#include <croft/firmware/clint.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/plic.h>
#include <croft/roi.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "../support/support.h"

enum { ROUNDS = 12, WORDS = 4096, STEPS = 6000, MSIP = 1 << 3, MTIP = 1 << 7, PAUSE = 2000 /* ticks */ };

static uint64_t words[WORDS];
static volatile uint64_t counted, beats;

/* Sleeps until an interrupt of this kind is pending. */
static void sleep_for(uint64_t kind)
{
    csr_write(mie, kind);
    while (!(csr_read(mip) & kind))
        __asm__ volatile("wfi");
}

/* Hart 1 counts the messages of hart 0. */
static void count(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        sleep_for(MSIP);
        clint_clear_ipi(1);
        __asm__ volatile("amoadd.d zero, %0, (%1)" : : "r"(1ul), "r"(&counted) : "memory");
        while (beats <= i) /* until hart 0 has printed */
            ;
    }
}

static uint64_t mix(uint64_t state)
{
    for (unsigned i = 0; i < STEPS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        words[state >> 52] ^= state;
    }
    return state;
}

static void round_of(unsigned i, uint64_t *state, double *value)
{
    uint64_t sum = 0;
    *state = mix(*state);
    *value = *value * 1.5 + sqrt((double)(*state >> 40));
    for (unsigned k = 0; k < WORDS; k++)
        sum = sum * 31 + words[k];
    clint_send_ipi(1);
    while (counted <= i)
        ;
    clint_set_timer(0, clint_time() + PAUSE);
    sleep_for(MTIP);
    printf("round %u: %016llx %.17g\n", i, (unsigned long long)sum, *value);
    printf("time %llu, cycle %llu, instret %llu\n", (unsigned long long)csr_read(time),
           (unsigned long long)csr_read(mcycle), (unsigned long long)csr_read(minstret));
    (void)fflush(stdout);
    beats = i + 1;
}

int main(void)
{
    uint64_t state = 1;
    double value = 0;
    int byte;
    plic_set_priority(CROFT_UART_IRQ, 5);
    plic_enable(plic_machine_context(0), CROFT_UART_IRQ, true);
    hart_start(1, count, NULL);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i == ROUNDS / 2)
            croft_roi_begin("second half");
        round_of(i, &state, &value);
    }
    hart_wait(1);
    croft_roi_end("second half");
    printf("counted %llu, plic %d\n", (unsigned long long)counted, plic_pending(CROFT_UART_IRQ));
    while ((byte = getchar()) != EOF && byte != '\n')
        printf("read '%c'\n", byte);
    return 7;
}
