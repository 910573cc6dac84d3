/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/row_text.h
 *
 * Texts in rows that are made of several values.
 */
#ifndef NFSDIGEST_STORE_ROW_TEXT_H
#define NFSDIGEST_STORE_ROW_TEXT_H

#include "base/bytes.h"

#include <stdint.h>

/* The text of a path.  |parent| is that of its parent, or NULL if it has none; then the path begins
 * at |object|, or at a MOUNT path if that is 0.  |name| is escaped.  Replaces what is in |out|.
 * Returns 0 or -ERR_SYSTEM. */
int row_path_text(const struct bytes *parent, uint32_t object, struct bytes name, struct buf *out);

enum { ROW_GIDS_MAX = 16 * 11 + 2 };

/* Additional groups of AUTH_SYS (big-endian u32 each, at most 16) as a JSON array.  Returns the
 * length of |text|. */
size_t row_gids_text(struct bytes gids, char text[ROW_GIDS_MAX]);

#endif
