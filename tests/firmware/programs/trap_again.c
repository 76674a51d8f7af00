/* Traps that repeat many times and then end: none of them is a loop without progress. */
#include <croft/firmware/clint.h>
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/trap.h>
#include <stdio.h>

enum { MANY = 5000, ILLEGAL = 2, ECALL = 11, TIMER = 7, TICKS = 2000 };

static unsigned long count, until;
static volatile unsigned long flag;

static void skip(struct trap_frame *frame)
{
    frame->pc += trap_instruction_length(frame->pc);
}

static void try_many_times(struct trap_frame *frame)
{
    if (++count == MANY)
        skip(frame);
}

static void wait_for_time(struct trap_frame *frame)
{
    if (csr_read(time) >= until)
        skip(frame);
}

static void wait_for_device(struct trap_frame *frame)
{
    if (clint_time() >= until)
        skip(frame);
}

static void wait_for_flag(struct trap_frame *frame)
{
    if (flag)
        skip(frame);
}

static void sleep_first(struct trap_frame *frame)
{
    __asm__ volatile("wfi");
    if (csr_read(mip) >> TIMER & 1)
        skip(frame);
}

static void do_nothing(struct trap_frame *frame)
{
    (void)frame;
}

/* On a busy machine, QEMU's timer may be due before the program has reached the instruction. */
static void timer(struct trap_frame *frame)
{
    clint_set_timer(hart_id(), clint_time() + TICKS);
    if (frame->pc != until)
        return;
    csr_clear(mie, 1ul << TIMER);
    skip(frame);
}

static void set_flag(void *argument)
{
    (void)argument;
    for (volatile unsigned i = 0; i < MANY; i++)
        continue;
    flag = 1;
}

static void trap_once(void)
{
    __asm__ volatile(".word 0xffffffff");
}

static void with(trap_handler *handler, const char *what)
{
    trap_set_exception(ILLEGAL, handler);
    until = csr_read(time) + TICKS;
    trap_once();
    puts(what);
}

/* The handler does nothing; the timer's skips the instruction. */
static void wait_for_interrupt(void)
{
    trap_set_exception(ILLEGAL, do_nothing);
    trap_set_interrupt(TIMER, timer);
    __asm__ volatile("la %0, 1f" : "=r"(until));
    clint_set_timer(hart_id(), clint_time() + TICKS);
    csr_set(mie, 1ul << TIMER);
    trap_enable();
    __asm__ volatile("1: .word 0xffffffff");
    (void)trap_disable();
    puts("an interrupt");
}

/* The vector is the way on, without MRET, as in probes for CSRs. */
static void probe(void)
{
    unsigned long left = MANY, vector = csr_read(mtvec);
    __asm__ volatile("la t0, 2f\n csrw mtvec, t0\n"
                     "1: csrr t0, 0x123\n"
                     ".balign 4\n 2: addi %0, %0, -1\n bnez %0, 1b"
                     : "+r"(left)
                     :
                     : "t0");
    csr_write(mtvec, vector);
    puts("probes");
}

int main(void)
{
    trap_set_exception(ECALL, skip);
    for (unsigned i = 0; i < MANY; i++)
        __asm__ volatile("ecall");
    puts("calls");
    for (flag = 0; flag < MANY; flag = flag + 1)
        trap_set_exception(ILLEGAL, skip), trap_once();
    flag = 0;
    with(try_many_times, "a counter in memory");
    with(wait_for_time, "time");
    with(wait_for_device, "a device");
    probe();
    wait_for_interrupt();
    clint_set_timer(hart_id(), clint_time() + TICKS);
    csr_set(mie, 1ul << TIMER);
    with(sleep_first, "wfi");
    csr_clear(mie, 1ul << TIMER);
    if (hart_count() > 1) {
        (void)hart_start(1, set_flag, NULL);
        with(wait_for_flag, "another hart");
    }
    return 0;
}
