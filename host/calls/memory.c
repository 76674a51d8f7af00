/* posix_memalign(), on which newlib's aligned_alloc() is based. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int saved = errno;
    void *memory = memalign(alignment, size);
    errno = saved; /* POSIX: the error is returned, and errno is unchanged */
    if (!memory && size != 0)
        return ENOMEM;
    *result = memory;
    return 0;
}
