/* Converts Linux error numbers to newlib's: both agree up to 34. */
#include <errno.h>

#include "host/calls/call.h"

enum { FIRST_DIFFERENT = 35, LINUX_MAX_ERRNO = 4095 };

/* Indexed by the Linux number (asm-generic/errno.h). 0: newlib has no such error. */
static const unsigned char newlib_errno[] = {
    [35] = EDEADLK,          [36] = ENAMETOOLONG,  [37] = ENOLCK,       [38] = ENOSYS,
    [39] = ENOTEMPTY,        [40] = ELOOP,         [42] = ENOMSG,       [43] = EIDRM,
    [60] = ENOSTR,           [61] = ENODATA,       [62] = ETIME,        [63] = ENOSR,
    [67] = ENOLINK,          [71] = EPROTO,        [72] = EMULTIHOP,    [74] = EBADMSG,
    [75] = EOVERFLOW,        [84] = EILSEQ,        [88] = ENOTSOCK,     [89] = EDESTADDRREQ,
    [90] = EMSGSIZE,         [91] = EPROTOTYPE,    [92] = ENOPROTOOPT,  [93] = EPROTONOSUPPORT,
    [95] = EOPNOTSUPP,       [96] = EPFNOSUPPORT,  [97] = EAFNOSUPPORT, [98] = EADDRINUSE,
    [99] = EADDRNOTAVAIL,    [100] = ENETDOWN,     [101] = ENETUNREACH, [102] = ENETRESET,
    [103] = ECONNABORTED,    [104] = ECONNRESET,   [105] = ENOBUFS,     [106] = EISCONN,
    [107] = ENOTCONN,        [109] = ETOOMANYREFS, [110] = ETIMEDOUT,   [111] = ECONNREFUSED,
    [112] = EHOSTDOWN,       [113] = EHOSTUNREACH, [114] = EALREADY,    [115] = EINPROGRESS,
    [116] = ESTALE,          [122] = EDQUOT,       [125] = ECANCELED,   [130] = EOWNERDEAD,
    [131] = ENOTRECOVERABLE,
};

long call_result(long result)
{
    if (result >= 0 || result < -LINUX_MAX_ERRNO)
        return result;
    long number = -result;
    if (number >= FIRST_DIFFERENT) {
        int known = number < (long)sizeof newlib_errno ? newlib_errno[number] : 0;
        number = known ? known : EIO;
    }
    errno = (int)number;
    return -1;
}
