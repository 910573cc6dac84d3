/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions are those of arrow.apache.org/docs/format/CStreamInterface.html. */
#include "columns/arrow_stream.h"

#include <errno.h>
#include <stdlib.h>

static int number_of(const struct err *err)
{
    return err->code == ERR_SYSTEM ? ENOMEM : EINVAL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct nfsdigest_reader *reader = stream->private_data;
    struct err *err = reader_err(reader);

    return batch_schema(reader_batch(reader, 0), out, err) < 0 ? number_of(err) : 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct nfsdigest_reader *reader = stream->private_data;
    unsigned number;

    return reader_next(reader, &number, out) < 0 ? number_of(reader_err(reader)) : 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct err *err = reader_err(stream->private_data);

    return err->code ? err->text : NULL;
}

static void release(struct ArrowArrayStream *stream)
{
    reader_free(stream->private_data);
    *stream = (struct ArrowArrayStream){ 0 };
}

void arrow_stream_init(struct ArrowArrayStream *stream, struct nfsdigest_reader *reader)
{
    *stream = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release, reader };
}

struct nfsdigest_reader *arrow_stream_reader(const struct ArrowArrayStream *stream)
{
    return stream->release == release ? stream->private_data : NULL;
}
