/* SPDX-License-Identifier: GPL-2.0 */
/* For headers that programs and the module share. */
#include <linux/types.h>
