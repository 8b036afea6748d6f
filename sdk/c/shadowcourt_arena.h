/* What the parts of the SDK share and modules do not need. */

#ifndef SHADOWCOURT_ARENA_H
#define SHADOWCOURT_ARENA_H

#include "shadowcourt.h"

/* sc_room gives n bytes, zeroed and aligned for anything, or NULL. */
void *sc_room(size_t n);

#endif
