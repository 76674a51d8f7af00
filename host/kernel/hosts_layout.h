/* The layout of struct machine_host for start.S; hosts.c checks it. */
#ifndef HOST_KERNEL_HOSTS_LAYOUT_H
#define HOST_KERNEL_HOSTS_LAYOUT_H

#define MACHINE_HOST_SHIFT 5 /* log2 of its size */
#define MACHINE_HOST_KEPT  0
#define MACHINE_HOST_MSIP  8
#define MACHINE_HOST_TABLE 16

#endif
