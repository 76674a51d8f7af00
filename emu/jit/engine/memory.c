#include "emu/jit/memory.h"

#include <stddef.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

uint8_t *code_memory_take(struct code_memory *memory, uint64_t size, uint64_t alignment)
{
    if (!memory->bytes) {
        void *at = mmap(NULL, memory->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        memory->bytes = at;
    }
    uint64_t first = (memory->used + alignment - 1) & ~(alignment - 1);
    if (size > memory->size || first > memory->size - size)
        return NULL;
    uint64_t page = memory->used / PAGE * PAGE;
    if (page < memory->sealed)
        page = memory->sealed;
    uint64_t end = (first + size + PAGE - 1) / PAGE * PAGE;
    if (end > page && mprotect(memory->bytes + page, end - page, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    memory->used = first + size;
    return memory->bytes + first;
}

bool code_memory_seal(struct code_memory *memory)
{
    uint64_t end = (memory->used + PAGE - 1) / PAGE * PAGE;
    if (end > memory->sealed &&
        mprotect(memory->bytes + memory->sealed, end - memory->sealed, PROT_READ | PROT_EXEC) != 0)
        return false;
    memory->sealed = memory->used = end;
    return true;
}

void code_memory_empty(struct code_memory *memory)
{
    if (memory->bytes)
        (void)munmap(memory->bytes, memory->size);
    memory->bytes = NULL;
    memory->used = memory->sealed = 0;
}
