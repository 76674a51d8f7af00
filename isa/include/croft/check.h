/* A check at compile time, in C and in C++. */
#ifndef CROFT_CHECK_H
#define CROFT_CHECK_H

#ifdef __cplusplus
#define CROFT_CHECK(condition, text) static_assert(condition, text)
#else
#define CROFT_CHECK(condition, text) _Static_assert(condition, text)
#endif

#endif
