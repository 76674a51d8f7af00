#include <croft/firmware/clint.h>
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <stddef.h>

/* The work of an idle hart. Hart 0 sets `function` after `argument`; the hart clears it when done. */
struct mailbox {
    void (*function)(void *);
    void *argument;
};

static struct mailbox mailboxes[CROFT_HARTS_MAX];
extern const void *device_tree; /* start/crtbare.S */

_Noreturn void hart_serve(void);

unsigned hart_id(void)
{
    return (unsigned)csr_read(mhartid);
}

const void *hart_device_tree(void)
{
    return device_tree;
}

/* The pending bit of a missing hart cannot be set. A hart with an empty mailbox stays idle and does not clear
 * its own bit. */
static bool hart_exists(unsigned hart)
{
    clint_send_ipi(hart);
    bool pending = clint_ipi_pending(hart);
    clint_clear_ipi(hart);
    return pending;
}

/* Probes the harts on the first call, while all others are still idle. */
unsigned hart_count(void)
{
    static unsigned count;
    if (count == 0)
        for (count = 1; count < CROFT_HARTS_MAX && hart_exists(count);)
            count++;
    return count;
}

bool hart_start(unsigned hart, void (*function)(void *), void *argument)
{
    if (hart == 0 || hart >= hart_count())
        return false;
    struct mailbox *box = &mailboxes[hart];
    if (__atomic_load_n(&box->function, __ATOMIC_ACQUIRE))
        return false;
    box->argument = argument;
    __atomic_store_n(&box->function, function, __ATOMIC_RELEASE);
    clint_send_ipi(hart);
    return true;
}

void hart_wait(unsigned hart)
{
    if (hart < CROFT_HARTS_MAX)
        while (__atomic_load_n(&mailboxes[hart].function, __ATOMIC_ACQUIRE))
            ;
}

/* Loop of the harts other than 0; the start-up code jumps here. */
_Noreturn void hart_serve(void)
{
    unsigned self = hart_id();
    struct mailbox *box = &mailboxes[self];
    const unsigned long software = 1ul << INTERRUPT_MACHINE_SOFTWARE;
    for (;;) {
        void (*function)(void *) = NULL;
        csr_clear(mstatus, MSTATUS_MIE);
        csr_write(mie, software); /* wakes wfi but causes no trap */
        while (!(csr_read(mip) & software) || !(function = __atomic_load_n(&box->function, __ATOMIC_ACQUIRE)))
            __asm__ volatile("wfi");
        clint_clear_ipi(self);
        csr_write(mie, 0);
        function(box->argument);
        __atomic_store_n(&box->function, NULL, __ATOMIC_RELEASE);
    }
}
