/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/lines.h
 *
 * A few lines at the end of a terminal that a program writes anew in their place, between other
 * text (xterm's control sequences).  What takes the whole terminal is show/screen.h.
 *
 *     lines_again; text and line_end, for each line
 */
#ifndef NFSDIGEST_SHOW_LINES_H
#define NFSDIGEST_SHOW_LINES_H

#include <stdbool.h>
#include <stdio.h>

/* Takes the last |count| whole lines away, and goes to where they began.  0: the line that has not
 * ended. */
void lines_again(FILE *to, unsigned count);
/* What was behind the text is taken away. */
void line_end(FILE *to);  /* goes to the next line */
void line_rest(FILE *to); /* stays in this one */
/* Longer lines are cut from now on, and not continued on the next one; or they are again. */
void lines_cut(FILE *to, bool cut);

#endif
