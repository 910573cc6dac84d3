/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/ingest.c
 *
 * One file after another, each in its own transaction.  A capture goes on with the engine of the
 * one before, or with one restored from the database.  If another process changed the database
 * meanwhile, what was concluded from it is dropped and tried anew.  For cmd_ingest.c, cmd_info.c
 * and packages.  The contract is in ingest.h.
 */
#include "ingest/ingest.h"
#include "base/digest.h"
#include "capture/capture.h"
#include "flow/host.h"
#include "ingest/same_source.h"
#include "record/nfsr.h"
#include "record/shift.h"
#include "store/carry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REST_RECORDS = 1 << 10 };

struct ingest {
    struct store *store;
    const struct engine_options *options;
    const struct progress *progress;
    struct engine *engine; /* that goes on from the last capture, or NULL */
    struct buf carry;
    char text[512]; /* of the options */
    bool last;      /* no file follows, as far as is known */
    int64_t shift;  /* of frames in streams */
    int64_t seen;   /* store_version when what an engine goes on from was looked at */
};

/* What must be the same for an engine to go on. */
static int describe_options(const struct engine_options *o, char *text, size_t size,
                            struct err *err)
{
    int len = snprintf(text, size, "%u %u %u %u %lld %lld", o->stream_window, o->total_window,
                       o->connections, o->pending, (long long)o->retransmit_span,
                       (long long)o->reorder_span);

    for (uint32_t i = 0; i < o->port_count && len > 0 && (size_t)len < size; i++)
        len += snprintf(text + len, size - (size_t)len, " :%u", o->ports[i]);
    if (o->same && o->same->count && len > 0 && (size_t)len < size)
        len += snprintf(text + len, size - (size_t)len, " =%016llx",
                        (unsigned long long)XXH3_64bits(o->same->list,
                                                        o->same->count * sizeof(*o->same->list)));
    if (len < 0 || (size_t)len >= size)
        return err_set(err, ERR_USAGE, "too many ports");
    return 0;
}

struct ingest *ingest_new(struct store *store, const struct engine_options *options,
                          const struct progress *progress, struct err *err)
{
    struct ingest *in = calloc(1, sizeof(*in));

    if (!in) {
        err_memory(err, "a trace");
        return NULL;
    }
    in->store = store;
    in->options = options;
    in->progress = progress;
    if (describe_options(options, in->text, sizeof(in->text), err) < 0) {
        free(in);
        return NULL;
    }
    return in;
}

void ingest_shift(struct ingest *in, int64_t by)
{
    in->shift = by;
}

static void drop_engine(struct ingest *in)
{
    engine_free(in->engine);
    in->engine = NULL;
}

void ingest_free(struct ingest *in)
{
    if (!in)
        return;
    drop_engine(in);
    buf_free(&in->carry);
    free(in);
}

/* An engine that knows what the database knows. */
static int make_engine(struct ingest *in, bool restore, struct err *err)
{
    struct sink sink = store_sink(in->store);

    in->engine = engine_new(in->options, &sink, NULL, err);
    if (!in->engine)
        return -err->code;
    if (carry_learn(in->store, in->engine, err) < 0 ||
        (restore && carry_restore(in->store, in->engine, err) < 0)) {
        drop_engine(in);
        return -err->code;
    }
    return 0;
}

/* Begins a source.  1: another process has changed the database since it was looked at, so that
 * what was concluded from it is no longer right, and nothing was begun. */
static int begin_unchanged(struct ingest *in, const char *name, enum store_kind kind, bool settle,
                           struct err *err)
{
    int64_t seen = in->engine ? store_known_version(in->store) : in->seen;

    if (store_begin(in->store, name, kind, settle, err) < 0)
        return -err->code;
    if (store_known_version(in->store) == seen)
        return 0;
    store_abandon(in->store);
    drop_engine(in);
    return 1;
}

/* Begins a capture's transaction, with an engine that goes on if that can be; 1: try again. */
static int try_capture(struct ingest *in, const char *name, struct err *note, struct err *err)
{
    int state, result;

    if (in->engine)
        return begin_unchanged(in, name, STORE_CAPTURE, false, err);
    if (store_version(in->store, &in->seen, err) < 0)
        return -err->code;
    state = carry_state(in->store, in->text, err);
    if (state < 0)
        return state;
    if (state != CARRY_OTHER) {
        if ((result = begin_unchanged(in, name, STORE_CAPTURE, false, err)) != 0)
            return result;
        if (make_engine(in, state != CARRY_NONE, err) == 0)
            return 0;
        store_abandon(in->store);
        if (err->code != ERR_INPUT)
            return -err->code;
        err_set(note, ERR_NONE, "%s: pairing starts again: %.200s", name, err->text);
    } else {
        err_set(
            note, ERR_NONE,
            "%s: pairing starts again, because the captures before were read with other options",
            name);
    }
    if ((result = begin_unchanged(in, name, STORE_CAPTURE, true, err)) != 0)
        return result;
    if (make_engine(in, false, err) < 0) {
        store_abandon(in->store);
        return -err->code;
    }
    return 0;
}

static int begin_capture(struct ingest *in, const char *name, struct err *note, struct err *err)
{
    int result;

    while ((result = try_capture(in, name, note, err)) == 1)
        note->text[0] = '\0';
    return result;
}

/* The end of a source: INGEST_STORED, INGEST_KNOWN or negative. */
static int commit(struct ingest *in, struct input *input, const char *cut, struct err *err)
{
    struct store_end end = {
        .size = input_offset(input), .cut = cut, .carry = &in->carry, .options = in->text
    };
    struct err why;
    int same;

    if (!store_totals(in->store)->frames && cut)
        return err_set(err, ERR_INPUT, "%s: holds no packets, at byte %llu", input_name(input),
                       (unsigned long long)input_offset(input));
    input_digest(input, end.digest);
    input_head_digest(input, INPUT_HEAD_MAX, end.head_digest);
    /* of standard input this is known only now */
    same = input_live(input)
               ? SAME_SOURCE_NOT /* parts of it are stored already: ingest_live looks */
               : same_source_read(in->store, input, end.size, end.digest, &why);
    if (same != SAME_SOURCE_NOT) {
        *err = why;
        return same < 0 ? same : INGEST_KNOWN;
    }
    if (in->engine && in->last) {
        if (store_tail(in->store, &end, err) < 0 || engine_end(in->engine, false, err) < 0)
            return -err->code;
        drop_engine(in);
    }
    return store_end(in->store, &end, err);
}

static int ingest_capture(struct ingest *in, struct input *input, struct err *note, struct err *err)
{
    const char *name = input_name(input);
    struct err why = { 0 };
    struct feed feed;
    int result;

    if (begin_capture(in, name, note, err) < 0)
        return -err->code;
    result = feed_capture(input, in->engine, store_frame_base(in->store), in->progress, &feed, err);
    feed_note_unopened(&feed.unopened, name, note);
    if (feed.cut) {
        why = *err;
        input_end_live(input); /* nothing is read behind a cut */
    }
    if (result == 0 && feed.cut && !feed.frames)
        result = -err->code;
    if (result == 0) {
        store_provisional(in->store);
        result = engine_pause(in->engine, feed.cut, err);
    }
    in->carry.len = 0;
    if (result == 0)
        result = engine_save(in->engine, &in->carry, err);
    if (result == 0) /* for the digest; what follows a cut may be unreadable */
        result = input_drain(input, feed.cut ? NULL : err) < 0 && !feed.cut ? -err->code : 0;
    if (result == 0)
        result = commit(in, input, feed.cut ? why.text : NULL, err);
    if (result != INGEST_STORED) {
        store_abandon(in->store);
        drop_engine(in);
        return result;
    }
    if (feed.cut)
        *err = why;
    return feed.cut ? INGEST_CUT : INGEST_STORED;
}

struct stream {
    struct input *input;
    const struct progress *progress;
    struct sink store;
    const struct same_servers *same;
    uint64_t records;
    bool input_cut; /* the capture behind it was */
};

static ssize_t read_stream(void *ctx, void *data, size_t len, struct err *err)
{
    struct stream *stream = ctx;

    progress_show(stream->progress, "", stream->input);
    return input_read(stream->input, data, len, err);
}

static int put_stream(void *ctx, const struct record *record, struct err *err)
{
    struct stream *stream = ctx;
    const struct address *server = &record->object.server;
    char text[ADDRESS_TEXT_MAX];

    stream->records++;
    if (record->kind == RECORD_OBJECT && stream->same &&
        same_server(stream->same, server) != server)
        return err_set(err, ERR_USAGE,
                       "%s: has handles of %s as of a server of its own: give --same-server to "
                       "\"nfsdigest record\", too",
                       input_name(stream->input), address_text(server, text));
    if (record->kind == RECORD_END) {
        stream->input_cut = record->end.input_cut;
        input_end_live(stream->input);
    }
    if (stream->store.put(stream->store.ctx, record, err) < 0)
        return -err->code;
    return input_live(stream->input) && stream->records % REST_RECORDS == 0
               ? live_rest(input_live(stream->input), err)
               : 0;
}

static int ingest_stream(struct ingest *in, struct input *input, struct err *err)
{
    struct stream stream = { .input = input,
                             .progress = in->progress,
                             .store = store_sink(in->store),
                             .same = in->options->same };
    struct shifting shifting = { { put_stream, &stream }, in->shift };
    struct sink sink = in->shift ? shifting_sink(&shifting) : shifting.to;
    const char *name = input_name(input);
    struct err why = { 0 };
    int result;

    if (ingest_finish(in, err) < 0 || store_begin(in->store, name, STORE_NFSR, false, err) < 0)
        return -err->code;
    result = nfsr_read_stream(read_stream, &stream, name, &sink, err);
    if (result == NFSR_NOT_MINE)
        result = err_set(err, ERR_INPUT, "%s: not an .nfsr stream", name);
    if (result == -ERR_INPUT && stream.records) {
        why = *err;
        input_end_live(input);
        input_drain(input, NULL); /* for the digest */
        result = 0;
    } else if (result == 0 && stream.input_cut) {
        nfsr_input_cut(name, &why);
    }
    if (result == 0)
        result = commit(in, input, why.code ? why.text : NULL, err);
    if (result != INGEST_STORED) {
        store_abandon(in->store);
        return result;
    }
    if (why.code)
        *err = why;
    return why.code ? INGEST_CUT : INGEST_STORED;
}

int ingest_input(struct ingest *in, struct input *input, bool last, struct err *note,
                 struct err *err)
{
    const uint8_t *head;
    size_t len = input_head(input, &head);
    int same;

    note->text[0] = '\0';
    in->last = last;
    if (store_is_database(head, len))
        return err_set(err, ERR_INPUT, "%s: a database, not a capture or .nfsr stream",
                       input_name(input));
    if (in->shift && !nfsr_is_stream(head, len))
        return err_set(err, ERR_USAGE, "%s: frames are shifted in .nfsr streams only",
                       input_name(input));
    same = same_source_file(in->store, input, err);
    if (same != SAME_SOURCE_NOT)
        return same < 0 ? same : INGEST_KNOWN;
    return nfsr_is_stream(head, len) ? ingest_stream(in, input, err)
                                     : ingest_capture(in, input, note, err);
}

int ingest_file(struct ingest *in, const char *path, bool last, struct err *note, struct err *err)
{
    struct input *input = input_open(path, true, err);
    int result;

    note->text[0] = '\0';
    if (!input)
        return -err->code;
    result = ingest_input(in, input, last, note, err);
    input_close(input);
    return result;
}

/* Whether a file, as far as it is there, is in the database: of rotated captures most may be. */
static int is_known(struct ingest *in, const char *path, uint64_t *size, struct err *err)
{
    struct input *input;
    struct stat st;
    int same;

    if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return SAME_SOURCE_NOT;
    input = input_open(path, true, err);
    if (!input)
        return -err->code;
    same = same_source_file(in->store, input, err);
    *size = (uint64_t)st.st_size;
    input_close(input);
    return same;
}

int ingest_live(struct ingest *in, const char *path, struct live *live, uint64_t *size,
                struct err *note, struct err *err)
{
    int same = is_known(in, path, size, err), result;
    struct input *input;
    const uint8_t *head;
    size_t len;

    note->text[0] = '\0';
    if (same != SAME_SOURCE_NOT)
        return same < 0 ? same : INGEST_KNOWN;
    input = input_open_live(path, live, err);
    if (!input)
        return -err->code;
    in->last = false;
    len = input_head(input, &head);
    if (!len)
        result = INGEST_EMPTY;
    else if (store_is_database(head, len))
        result = err_set(err, ERR_INPUT, "%s: a database, not a capture or .nfsr stream",
                         input_name(input));
    else
        result = nfsr_is_stream(head, len) ? ingest_stream(in, input, err)
                                           : ingest_capture(in, input, note, err);
    *size = input_raw_offset(input);
    input_close(input);
    return result;
}

int ingest_finish(struct ingest *in, struct err *err)
{
    int state = CARRY_OPEN, result;

    do {
        if (!in->engine && (store_version(in->store, &in->seen, err) < 0 ||
                            (state = carry_state(in->store, in->text, err)) < 0))
            return -err->code;
        if (state != CARRY_OPEN)
            return 0;
        result = begin_unchanged(in, NULL, STORE_TAIL, false, err);
    } while (result == 1);
    if (result < 0)
        return result;
    result = in->engine ? 0 : make_engine(in, true, err);
    if (result == -ERR_INPUT) { /* of another build: what is there stays */
        store_abandon(in->store);
        return 0;
    }
    if (result == 0)
        result = engine_end(in->engine, false, err);
    drop_engine(in);
    if (result == 0)
        return store_end(in->store, NULL, err);
    store_abandon(in->store);
    return result;
}
