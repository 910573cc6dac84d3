/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/arrow_stream.h
 *
 * A reader of one table behind the functions of struct ArrowArrayStream.
 */
#ifndef NFSDIGEST_COLUMNS_ARROW_STREAM_H
#define NFSDIGEST_COLUMNS_ARROW_STREAM_H

#include "columns/reader.h"

/* |reader| becomes the stream's. */
void arrow_stream_init(struct ArrowArrayStream *stream, struct nfsdigest_reader *reader);

/* Returns the reader behind |stream|, or NULL if it is another's or was released. */
struct nfsdigest_reader *arrow_stream_reader(const struct ArrowArrayStream *stream);

#endif
