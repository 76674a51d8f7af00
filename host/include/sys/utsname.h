/* The names of the system that a program runs on. */
#ifndef _SYS_UTSNAME_H
#define _SYS_UTSNAME_H

/* Laid out as Linux's struct new_utsname. */
struct utsname {
    char sysname[65];
    char nodename[65];
    char release[65];
    char version[65];
    char machine[65];
    char domainname[65];
};

/* Fills in *name. Returns 0, or -1 with errno set. */
int uname(struct utsname *name);

#endif
