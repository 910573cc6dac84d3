/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "columns/sources.h"
#include "base/grow.h"
#include "record/nfsr.h"

#include <stdlib.h>

static struct bytes text(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

int sources_begin(struct sources *s, struct input *input, bool is_stream, uint64_t frame_base,
                  struct err *err)
{
    if (!s->wanted)
        return 0;
    if (GROW(s->list, s->count, s->cap) < 0)
        return err_memory(err, "sources");
    if (input_want_digest(input, err) < 0)
        return -err->code;
    s->ended = s->cut = false;
    s->list[s->count++] = (struct source){ .name = text(input_name(input)),
                                           .kind = text(is_stream ? "nfsr" : "capture"),
                                           .state = text("complete"),
                                           .frame_base = frame_base,
                                           .first_time = TIME_NONE,
                                           .last_time = TIME_NONE };
    return 0;
}

/* Without the last record, the frames are those that other records name. */
static void count_frame(struct sources *s, uint64_t frame, int64_t time)
{
    struct source *last = &s->list[s->count - 1];

    if (!frame || s->ended)
        return;
    if (frame > last->frame_base + last->frames)
        last->frames = frame - last->frame_base;
    if (time == TIME_NONE)
        return;
    if (last->first_time == TIME_NONE || time < last->first_time)
        last->first_time = time;
    if (time > last->last_time)
        last->last_time = time;
}

static struct source *source_of(struct sources *s, const struct known *known, uint64_t frame)
{
    return &s->list[known_source_of(known, &frame) - 1];
}

static void count_operation(struct sources *s, const struct known *known,
                            const struct record_operation *op)
{
    if (op->call.frame) {
        struct source *source = source_of(s, known, op->call.frame);

        source->calls++;
        source->operations++;
        count_frame(s, op->call.frame, op->call.time);
    }
    if (op->reply.frame) {
        struct source *source = source_of(s, known, op->reply.frame);

        source->replies++;
        source->operations += !op->call.frame;
        count_frame(s, op->reply.frame, op->reply.time);
    }
}

void sources_count(struct sources *s, const struct known *known, const struct record *r)
{
    struct source *source;

    if (!s->wanted)
        return;
    switch (r->kind) {
    case RECORD_OPERATION:
        count_operation(s, known, &r->operation);
        break;
    case RECORD_REPEAT:
        source = source_of(s, known, r->repeat.sighting.frame);
        if (repeat_is_copy(r->repeat.repeat))
            source->copies++;
        else
            source->retransmissions++;
        count_frame(s, r->repeat.sighting.frame, r->repeat.sighting.time);
        break;
    case RECORD_PROBLEM:
        source_of(s, known, r->problem.frame)->problems++;
        count_frame(s, r->problem.frame, r->problem.time);
        break;
    case RECORD_CONNECTION_EVENT:
        count_frame(s, r->connection_event.last_frame, r->connection_event.last_time);
        break;
    case RECORD_END:
        source = &s->list[s->count - 1];
        s->ended = true;
        s->cut = r->end.input_cut;
        source->frames = r->end.frames;
        source->first_time = r->end.first_time;
        source->last_time = r->end.last_time;
    }
}

int sources_cut(struct sources *s, const char *note, struct err *err)
{
    struct source *last;
    char *copy;

    if (!s->wanted)
        return 0;
    last = &s->list[s->count - 1];
    if (last->note.len) /* the first place where it is cut is the one to tell */
        return 0;
    copy = strdup(note);
    if (!copy)
        return err_memory(err, "sources");
    last->note = text(copy);
    last->state = text("cut");
    return 0;
}

int sources_end(struct sources *s, struct input *input, struct err *err)
{
    struct source *last;
    struct err why;

    if (!s->wanted)
        return 0;
    nfsr_input_cut(input_name(input), &why);
    if (s->cut && sources_cut(s, why.text, err) < 0)
        return -err->code;
    last = &s->list[s->count - 1];
    input_drain(input, NULL); /* what follows a cut may be unreadable */
    last->size = input_offset(input);
    input_digest(input, last->digest);
    input_head_digest(input, INPUT_HEAD_MAX, last->head_digest);
    return 0;
}

void sources_free(struct sources *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->list[i].note.len)
            free((void *)(uintptr_t)s->list[i].note.data);
    free(s->list);
}
