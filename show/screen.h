/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/screen.h
 *
 * A terminal that a program draws on as a whole, and single keys of the user.  The terminal is as
 * before after screen_end, and also if a signal ends the process (base/cleanup.h).
 *
 *     screen_begin; screen_clear, lines to |out|, screen_flush ...; screen_end
 *
 * Keys come from the terminal itself, so that standard input can be a pipe.
 */
#ifndef NFSDIGEST_SHOW_SCREEN_H
#define NFSDIGEST_SHOW_SCREEN_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>
#include <termios.h>

struct screen {
    FILE *out;
    int fd; /* of the terminal; -1: there is none */
    bool begun;
    struct termios before;
    struct cleanup cleanup;
};

/* Takes the terminal of |out|.  -ERR_USAGE: it is none. */
int screen_begin(struct screen *screen, FILE *out, struct err *err);
void screen_end(struct screen *screen);

void screen_size(const struct screen *screen, unsigned *lines, unsigned *columns);

/* Begins to draw anew.  Each line then ends with screen_line_end, except the last one. */
void screen_clear(struct screen *screen);
void screen_line_end(struct screen *screen);
/* Ends drawing: what was on the screen below is taken away. */
void screen_flush(struct screen *screen);

/* Returns the next key that was pressed, or 0.  Does not wait. */
int screen_key(struct screen *screen);

#endif
