/* Jump accessors for rows that are evaluated one at a time: the address of the next instruction goes to `next`.
 * Included by files that expand rows. */
#define branch(condition)                                                                                    \
    do {                                                                                                     \
        if (condition)                                                                                       \
            next = pc + (uint64_t)imm;                                                                       \
    } while (0)
#define jump(target)  (next = (target))
#define jump_direct() (next = pc + (uint64_t)imm)
