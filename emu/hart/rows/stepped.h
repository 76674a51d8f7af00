/* Accessors of the rows that only the general step (emu/hart/step.h) executes, because they need exact counts or end the run: they do
 * nothing in other code that expands rows. */
#define csr_swap(operand)  0
#define csr_set(operand)   0
#define csr_clear(operand) 0
#define ecall()            ((void)0)
#define ebreak()           ((void)0)
#define fence()            ((void)0)
#define fence_i()          ((void)0)
#define nucd_order()       ((void)0)
#define tom_begin(id)      ((void)0)
#define marker(value, id)  ((void)0)
#define custom(a, b)       UINT64_C(0)
#define mret()             ((void)0)
#define sret()             ((void)0)
#define wfi()              ((void)0)
#define sfence_vma()       ((void)0)
#define cbo_inval(address) ((void)0)
#define cbo_clean(address) ((void)0)
#define cbo_flush(address) ((void)0)
#define cbo_zero(address)  ((void)0)
