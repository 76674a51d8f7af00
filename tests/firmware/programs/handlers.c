/* The firmware's trap handlers: skipping an instruction, floating-point registers across a handler that uses
 * them, thread-local storage and a lock on several harts, a trap from user mode. */
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/lock.h>
#include <croft/firmware/trap.h>
#include <stdio.h>

static volatile double scratch;
static volatile unsigned long seen_value, user_status;
static _Thread_local unsigned long runs;
static struct lock lock;
static unsigned long total, per_hart[64];

static void skip(struct trap_frame *frame)
{
    seen_value = frame->value;
    scratch = scratch * 3 + 1; /* changes floating-point registers */
    frame->x[10] += 5;
    frame->pc += trap_instruction_length(frame->pc);
}

static void test_skip(void)
{
    trap_set_exception(2, skip);
    register unsigned long a0 __asm__("a0") = 1;
    double before = 1.25, after;
    __asm__ volatile("fmv.d ft3, %2\n.word 0xffffffff\nfmv.d %1, ft3"
                     : "+r"(a0), "=f"(after)
                     : "f"(before)
                     : "ft3");
    unsigned long result = a0;
    printf("skipped 0x%lx, a0 %lu, ft3 %.2f\n", seen_value, result, after);
}

/* Back to machine mode behind the ecall, with the stack as it was. */
static void return_from_user(struct trap_frame *frame)
{
    user_status = frame->status;
    frame->pc += 4;
    frame->status |= MSTATUS_MPP;
    frame->x[10] = 0x600d;
}

static void test_user(void)
{
    unsigned long result;
    trap_set_exception(8, return_from_user);
    csr_write(pmpaddr0, ~0ul >> 10);
    csr_write(pmpcfg0, 0x1f);
    csr_clear(mstatus, MSTATUS_MPP | MSTATUS_FS);
    /* The program's stack below sp is the trap's; user mode needs none here. */
    __asm__ volatile("csrw mscratch, sp\n la t0, 1f\n csrw mepc, t0\n mv s2, sp\n mv s3, gp\n mv s4, tp\n"
                     "li t0, 0x2000\n"
                     "mret\n"
                     "1: li sp, 0\n li gp, 0\n li tp, 0\n"
                     ".option push\n.option norvc\necall\n.option pop\n"
                     "mv %0, a0\n mv sp, s2\n mv gp, s3\n mv tp, s4\n csrs mstatus, t0"
                     : "=r"(result)
                     :
                     : "t0", "a0", "s2", "s3", "s4", "memory");
    printf("from user mode: MPP %lu, a0 0x%lx, mscratch %lu\n",
           (user_status & MSTATUS_MPP) >> MSTATUS_MPP_SHIFT, result, csr_read(mscratch));
}

static void count(void *argument)
{
    for (unsigned long i = 0; i < *(unsigned long *)argument; i++) {
        lock_take(&lock);
        total++;
        lock_release(&lock);
        runs++;
    }
    per_hart[hart_id()] = runs;
}

static void test_harts(void)
{
    unsigned long rounds = 500;
    for (unsigned again = 0; again < 2; again++) {
        for (unsigned hart = 1; hart < hart_count(); hart++)
            hart_start(hart, count, &rounds);
        for (unsigned hart = 1; hart < hart_count(); hart++)
            hart_wait(hart);
    }
    count(&rounds);
    printf("%u harts: total %lu, by themselves %lu %lu\n", hart_count(), total, per_hart[0], per_hart[1]);
    printf("hart 0 cannot be started: %d, nor one that is not there: %d\n", hart_start(0, count, NULL),
           hart_start(63, count, NULL));
}

int main(void)
{
    test_skip();
    test_user();
    test_harts();
    return 0;
}
