/* SPDX-License-Identifier: GPL-2.0 */
/* For files that the module shares with programs. */
#include <linux/string.h>
