/* malloc() and its kin for programs that `croft cc --offload` links, by ld's --wrap: what has a page and more begins with a page,
 * as from a GPU's driver, and the emulator is told of it (croft_allocated()). */
#include <croft/roi.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__real_memalign(size_t alignment, size_t size);

void *__wrap_memalign(size_t alignment, size_t size)
{
    void *memory = __real_memalign(size >= PAGE && alignment < PAGE ? PAGE : alignment, size);
    if (memory && size >= PAGE)
        croft_allocated(memory, size);
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return size >= PAGE ? __wrap_memalign(PAGE, size) : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes < PAGE)
        return __real_calloc(count, size);
    void *memory = __wrap_memalign(PAGE, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void __wrap_free(void *memory)
{
    if (memory && (uintptr_t)memory % PAGE == 0)
        croft_allocated(memory, 0);
    __real_free(memory);
}

void *__wrap_realloc(void *old, size_t size)
{
    if (!old)
        return __wrap_malloc(size);
    if (size == 0) {
        __wrap_free(old);
        return NULL;
    }
    const size_t had = malloc_usable_size(old);
    if (size < PAGE && had < PAGE)
        return __real_realloc(old, size);
    void *memory = __wrap_malloc(size);
    if (!memory)
        return NULL;
    memcpy(memory, old, had < size ? had : size);
    __wrap_free(old);
    return memory;
}
