/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/state.h
 *
 * The state of an engine at the end of a piece, for one that continues there: NAME.state, and the
 * records of NAME.nfsr that say what ids mean.
 */
#ifndef NFSDIGEST_PIECES_STATE_H
#define NFSDIGEST_PIECES_STATE_H

#include "engine.h"
#include "pieces/border.h"

/* Returns true for records that engine_learn takes. */
bool state_needs(const struct record *record);

/* |digest| becomes that of the file. */
int state_save(const struct engine *engine, const char *path, uint64_t *digest, struct err *err);

/* Says in |border| that it continues the piece |name|, and what that brings: |depth|, |origin| and
 * |whole|; |faces.end|, what it knows of interfaces; |lead| becomes the number of the last frame.
 * |state| becomes the digest of the state that it needs.  |*from| becomes the end of that piece if
 * it ends within the same file and both were asked to meet. */
int state_continue(const char *name, struct border *border, uint64_t *from, struct err *err);

/* Makes |engine| know what the piece |name| knew at its end, and puts the records that say what its
 * ids mean into |sink|, too.  |digest|: of the state. */
int state_restore(struct engine *engine, const struct sink *sink, const char *name, uint64_t digest,
                  struct err *err);

/* Returns a digest of what makes the records of one engine differ from those of another. */
uint64_t state_options(const struct engine_options *options);

/* Writes |name| and |suffix| into |path|, which has STATE_PATH_MAX bytes.  Returns |path|. */
enum { STATE_PATH_MAX = 4096 };
const char *state_path(char path[], const char *name, const char *suffix);

#endif
