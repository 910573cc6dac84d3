/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/streams.c
 *
 * The two record streams of a log.  They have their names from the beginning, so that they can be
 * read while they grow.  Their operations are numbered anew: most of those of the tap are not
 * written.  The layout of the directory is in schemas/teelog.md.
 */
#include "teelog/teelog_parts.h"
#include "wire/field.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[SIDES] = { "reference.nfsr", "sut.nfsr" };

static int write_all(void *ctx, const void *data, size_t len, struct err *err)
{
    struct tee_stream *s = ctx;
    const char *at = data;

    while (len) {
        ssize_t n = write(s->fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ERR_SYSTEM, "%s/%s: %s", s->dir, s->name, strerror(errno));
        at += n;
        len -= (size_t)n;
        *s->bytes += (uint64_t)n;
    }
    return 0;
}

int teelog_check(const char *path, struct err *err)
{
    const struct dirent *entry = NULL;
    DIR *dir = opendir(path);
    int code;

    if (!dir)
        return errno == ENOENT ? 0 : err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    do {
        errno = 0;
        entry = readdir(dir);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    code = entry ? 0 : errno;
    closedir(dir);
    if (code)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(code));
    return entry
               ? err_set(err, ERR_USAGE, "%s: is not empty; give a new directory for the log", path)
               : 0;
}

static int make_directory(const char *path, struct err *err)
{
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    return teelog_check(path, err);
}

int tee_streams_open(struct teelog *log, struct err *err)
{
    if (make_directory(log->dir, err) < 0)
        return -err->code;
    for (int side = 0; side < SIDES; side++) {
        struct tee_stream *s = &log->stream[side];
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", log->dir, names[side]);
        s->bytes = &log->counts.log_bytes;
        s->dir = log->dir;
        s->name = names[side];
        s->end.first_time = s->end.last_time = TIME_NONE;
        s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->fd < 0)
            return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
        s->writer = nfsr_writer_new(write_all, s, err);
        if (!s->writer)
            return -err->code;
    }
    return 0;
}

void tee_streams_free(struct teelog *log)
{
    for (int side = 0; side < SIDES; side++) {
        nfsr_writer_free(log->stream[side].writer);
        if (log->stream[side].fd >= 0)
            close(log->stream[side].fd);
    }
}

/* --- records */

static void note_time(struct record_end *end, int64_t time)
{
    if (time == TIME_NONE)
        return;
    if (end->first_time == TIME_NONE || time < end->first_time)
        end->first_time = time;
    if (end->last_time == TIME_NONE || time > end->last_time)
        end->last_time = time;
}

static void note_frame(struct record_end *end, uint64_t frame, int64_t time)
{
    if (frame > end->frames)
        end->frames = frame;
    note_time(end, time);
}

/* For the totals in the last record. */
static void note(struct record_end *end, const struct record *r)
{
    switch ((enum record_kind)r->kind) {
    case RECORD_FLOW:
        note_frame(end, r->flow.frame, r->flow.time);
        break;
    case RECORD_OBJECT:
        note_frame(end, r->object.frame, r->object.time);
        break;
    case RECORD_NAME:
        note_time(end, r->name.time);
        break;
    case RECORD_PROBLEM:
        note_frame(end, r->problem.frame, r->problem.time);
        end->problems++;
        break;
    case RECORD_OPERATION:
        note_frame(end, r->operation.call.frame, r->operation.call.time);
        note_frame(end, r->operation.reply.frame, r->operation.reply.time);
        end->operations++;
        end->calls += r->operation.call.frame != 0;
        end->replies += r->operation.reply.frame != 0;
        break;
    default:
        break;
    }
}

void tee_stream_put(struct teelog *log, int side, const struct record *record)
{
    struct tee_stream *s = &log->stream[side];
    struct sink sink;

    if (log->log_err.code)
        return;
    sink = nfsr_writer_sink(s->writer);
    if (sink.put(sink.ctx, record, &log->log_err) < 0)
        return;
    note(&s->end, record);
    s->touched = true;
}

uint64_t tee_stream_next(const struct teelog *log, int side)
{
    return log->stream[side].end.operations + 1;
}

/* The SUT's first: what the reference's stream has, the other one has, too. */
void tee_streams_flush(struct teelog *log)
{
    for (int side = SUT; side >= REF; side--) {
        struct tee_stream *s = &log->stream[side];

        if (!s->touched || log->log_err.code)
            continue;
        s->touched = false;
        nfsr_writer_flush(s->writer, &log->log_err);
    }
}

void tee_streams_end(struct teelog *log)
{
    for (int side = SUT; side >= REF; side--) {
        struct record end = { .kind = RECORD_END };

        end.end = log->stream[side].end;
        tee_stream_put(log, side, &end);
    }
}

/* --- pairs */

static void put_contents(struct teelog *log, int side, const struct record_operation *operation,
                         struct bytes contents)
{
    const struct procedure *procedure =
        procedure_find(operation->program, operation->version, operation->procedure);
    struct record r = { .kind = RECORD_CONTENTS };

    if (!contents.len || !procedure)
        return;
    if (contents.len > log->options.contents)
        contents.len = log->options.contents;
    r.contents.operation = operation->id;
    r.contents.is_reply = procedure->action == ACTION_READ;
    r.contents.data = contents;
    tee_stream_put(log, side, &r);
}

void tee_log_pair(struct teelog *log, const struct tee_logged *what)
{
    for (int side = SUT; side >= REF; side--) {
        struct record r = { .kind = RECORD_OPERATION };

        if (!what->half[side])
            continue;
        r.operation = *what->half[side];
        r.operation.id = tee_stream_next(log, side);
        r.operation.depends_on = 0;
        r.operation.counterpart =
            (struct counterpart){ .number = what->number,
                                  .conditions = side == REF ? what->conditions : 0 };
        tee_stream_put(log, side, &r);
        put_contents(log, side, &r.operation, what->contents[side]);
    }
}
