/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/names.c
 *
 * Proves that the pieces are those of one run, names them one after the other, and writes the
 * stream.  For the command.  The contract is in names.h.
 */
#include "names/names.h"
#include "base/output.h"
#include "names/canon.h"
#include "names/pass.h"
#include "pieces/join.h"
#include "record/nfsr.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the stream goes. */
struct stream {
    struct output *output;
    struct nfsr_writer *writer;
    struct canon_records *canon; /* or NULL */
};

static int stream_open(struct stream *s, const char *path, bool canonical, struct err *err)
{
    s->output = output_open(path, err);
    s->writer = s->output ? nfsr_writer_new(output_write, s->output, err) : NULL;
    if (s->writer && canonical)
        s->canon = canon_records_new(err);
    return s->writer && (s->canon || !canonical) ? 0 : -err->code;
}

static struct sink stream_sink(struct stream *s)
{
    return s->canon ? (struct sink){ canon_records_put, s->canon } : nfsr_writer_sink(s->writer);
}

static int stream_commit(struct stream *s, struct err *err)
{
    const struct sink sink = nfsr_writer_sink(s->writer);
    int rc = s->canon ? canon_records_end(s->canon, &sink, err) : 0;

    return rc < 0 ? rc : output_commit(s->output, err);
}

static void stream_close(struct stream *s)
{
    canon_records_free(s->canon);
    nfsr_writer_free(s->writer);
    output_close(s->output);
}

/* All pieces must be exact.  |needed| of a piece becomes the frame of the capture at which the
 * first lead-in begins of all that are behind it. */
static int prove(struct join *join, char **names, int count, uint64_t base, uint64_t *needed,
                 struct err *err)
{
    const uint32_t before = join_count(join); /* of a state */

    for (int i = 0; i < count; i++)
        if (join_add(join, names[i], err) < 0)
            return -err->code;
    if (join_end(join, err) < 0)
        return -err->code;
    for (int i = 0; i < count; i++) {
        const struct join_result *result = join_piece(join, before + (uint32_t)i);

        if (result->verdict != JOIN_EXACT)
            return err_set(err, ERR_INPUT,
                           "%s: its records are not those of one run (%s): make it again: see "
                           "\"nfsdigest join\"",
                           names[i], result->why);
        needed[i] = base > result->lead ? base - result->lead : 0;
        base += result->frames;
    }
    for (int i = count - 2; i >= 0; i--)
        if (needed[i + 1] < needed[i])
            needed[i] = needed[i + 1];
    return 0;
}

static uint64_t count_stopped(const struct join *join)
{
    uint32_t at = 0;
    uint64_t count = 0;

    while (join_stopped(join, &at))
        count++;
    return count;
}

/* The state is there unless this is the first day. */
static int begin_state(struct pass *p, struct join *join, struct err *err)
{
    const char *path = p->options->state;

    if (!path || (access(path, F_OK) < 0 && errno == ENOENT))
        return 0;
    return pass_restore(p, path, join, err);
}

/* Says that the stream is not of the whole trace. */
static int put_part(const struct sink *sink, struct err *err)
{
    const struct record r = { .kind = RECORD_COUNTER,
                              .counter = { { (const uint8_t *)NFSR_PART, strlen(NFSR_PART) }, 1 } };

    return sink->put(sink->ctx, &r, err);
}

static int make(struct pass *p, struct join *join, char **names, int count, struct err *err)
{
    uint64_t *needed = calloc((size_t)count + 1, sizeof(*needed));
    int rc = needed ? prove(join, names, count, p->base, needed, err) : err_memory(err, "pieces");

    for (int i = 0; rc == 0 && i < count; i++) /* nobody knows how long tomorrow's lead-in is */
        rc = pass_piece(p, names[i], i + 1 < count ? needed[i + 1] : p->base, err);
    free(needed);
    if (rc == 0 && (!p->options->state || join_piece(join, join_count(join) - 1)->last))
        rc = pass_end(p, err);
    return rc;
}

int names_make(const struct names_options *options, char **names, int count,
               struct names_result *result, struct err *err)
{
    struct pass *p = calloc(1, sizeof(*p));
    struct join *join = join_new(err);
    struct stream stream = { 0 };
    struct sink sink;
    uint64_t earlier;
    bool part;
    int rc = p && join ? 0 : err_memory(err, "pieces");

    *result = (struct names_result){ 0 };
    if (rc == 0)
        rc = stream_open(&stream, options->output, options->canonical, err);
    if (rc == 0) {
        sink = stream_sink(&stream);
        rc = pass_begin(p, options, &sink, err);
    }
    if (rc == 0)
        rc = begin_state(p, join, err);
    earlier = p ? p->totals.end.frames : 0;
    part = options->server_count || options->state;
    if (p)
        p->told.whole = !part;
    if (rc == 0 && part)
        rc = put_part(&sink, err);
    if (rc == 0)
        rc = make(p, join, names, count, err);
    if (rc == 0)
        rc = totals_end(&p->totals, !options->server_count, &sink, err);
    if (rc == 0)
        rc = stream_commit(&stream, err);
    if (rc == 0 && options->state)
        rc = pass_save(p, options->state, join, err);
    if (rc == 0)
        *result = (struct names_result){ .frames = p->totals.end.frames - earlier,
                                         .operations = p->totals.end.operations,
                                         .objects = p->objects.object_count,
                                         .paths = p->objects.path_count,
                                         .waiting = pass_waiting(p),
                                         .strays = p->strays,
                                         .stopped = count_stopped(join) };
    if (p)
        pass_free(p);
    free(p);
    join_free(join);
    stream_close(&stream);
    return rc;
}

struct ordering {
    struct sink sink;
    struct names_result *result;
};

static int count_and_put(void *ctx, const struct record *r, struct err *err)
{
    struct ordering *o = ctx;

    o->result->frames += r->kind == RECORD_END ? r->end.frames : 0;
    o->result->operations += r->kind == RECORD_OPERATION;
    o->result->paths += r->kind == RECORD_PATH;
    if (r->kind == RECORD_OBJECT && r->object.id > o->result->objects)
        o->result->objects = r->object.id;
    return o->sink.put(o->sink.ctx, r, err);
}

int names_order(const char *path, const char *output, struct names_result *result, struct err *err)
{
    struct stream stream = { 0 };
    struct input *input = input_open(path, false, err);
    struct ordering ordering = { .result = result };
    const struct sink sink = { count_and_put, &ordering };
    int rc = input ? stream_open(&stream, output, true, err) : -err->code;

    *result = (struct names_result){ 0 };
    if (rc == 0) {
        ordering.sink = stream_sink(&stream);
        rc = nfsr_read_stream(input_read, input, path, &sink, err);
    }
    if (rc == NFSR_NOT_MINE)
        rc = err_set(err, ERR_INPUT, "%s: not a record stream", path);
    if (rc == 0)
        rc = stream_commit(&stream, err);
    input_close(input);
    stream_close(&stream);
    return rc;
}
