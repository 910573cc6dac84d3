/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/colour.h
 *
 * Colours on terminals.  They only repeat what the words say.
 */
#ifndef NFSDIGEST_SHOW_COLOUR_H
#define NFSDIGEST_SHOW_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

enum colour { COLOUR_BAD, COLOUR_GOOD, COLOUR_HEAD };

/* Returns true if colours may be written there: it is a terminal that has them (TERM is not
 * "dumb"), and the environment has no NO_COLOR with a value (no-color.org). */
bool colour_is_wanted(FILE *out);

/* Writes |text|, in a colour if |wanted|.  The text ends no line. */
void colour_put(FILE *out, bool wanted, enum colour colour, const char *text);
/* The same for what others write in between. */
void colour_begin(FILE *out, bool wanted, enum colour colour);
void colour_end(FILE *out, bool wanted);

#endif
