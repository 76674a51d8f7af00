/* The system calls by kind. */
#ifndef EMU_ENV_CALLS_STATE_H
#define EMU_ENV_CALLS_STATE_H

#include "emu/env/calls/served.h"

#endif
