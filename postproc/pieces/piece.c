/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/piece.c
 *
 * Reads the lead-in and the piece, and writes its three files.  For the command and for whoever
 * runs pieces side by side.  The contract is in piece.h.
 */
#include "pieces/piece.h"
#include "base/digest.h"
#include "base/output.h"
#include "pieces/border.h"
#include "pieces/lead.h"
#include "pieces/order.h"
#include "pieces/part.h"
#include "pieces/state.h"
#include "record/nfsr.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROGRESS_FRAMES = 1 << 15, LEAD_LEAST = 1 << 16 };

enum { BEGIN_AGAIN = 1 }; /* with another lead-in */

enum stage { STAGE_LEAD, STAGE_PIECE, STAGE_WAITING /* behind its last frame */ };

struct making {
    const struct piece *piece;
    struct engine *engine;
    struct output *output;
    struct nfsr_writer *writer;
    struct sink sink;
    enum stage stage;
    struct border border;
    struct order order;
    struct capture_shape shape;
    bool in_part;    /* the file is read in parts */
    bool leading;    /* in its lead-in */
    uint64_t number; /* of the last frame */
    uint64_t lead_bytes;
    uint64_t lead_at;        /* byte at which the lead-in begins; 0: it was not looked for yet */
    struct faces lead_faces; /* of the file before: what its end was taken to have */
    uint64_t base;           /* frames before the file that is read */
    struct piece_result *result;
};

static void count_waiting(struct border *b, const struct record_operation *op)
{
    b->waiting++;
    if (op->call.frame)
        return;
    if (!b->held++)
        b->held_id = op->id;
}

/* What the order file says of an operation. */
static int note_order(struct making *m, const struct record_operation *op, struct err *err)
{
    const struct order_call call = { op->id, op->call.frame, op->xid, 0 };
    uint64_t last = engine_ids(m->engine).operation;
    int rc = 0;

    if (op->call.frame && (m->stage == STAGE_LEAD || op->id <= m->order.lead_operation))
        rc = order_note(&m->order, &call, err);
    if (rc < 0 || m->stage != STAGE_PIECE)
        return rc;
    return order_turn(&m->order, last > op->id ? last - op->id : 0, err);
}

/* Of the lead-in, only what later records refer to. */
static int put(void *ctx, const struct record *r, struct err *err)
{
    struct making *m = ctx;

    if (r->kind == RECORD_OPERATION && note_order(m, &r->operation, err) < 0)
        return -err->code;
    if (m->stage == STAGE_LEAD && !state_needs(r))
        return 0;
    m->border.operations += m->stage == STAGE_PIECE && r->kind == RECORD_OPERATION;
    if (m->stage == STAGE_WAITING && r->kind == RECORD_OPERATION)
        count_waiting(&m->border, &r->operation);
    return m->sink.put(m->sink.ctx, r, err);
}

static int open_output(struct making *m, struct err *err)
{
    struct engine_options options = *m->piece->options;
    const struct sink sink = { put, m };
    char path[STATE_PATH_MAX];

    options.middle = !m->border.first && !m->border.whole;
    m->output = output_open(state_path(path, m->piece->name, ".nfsr"), err);
    m->writer = m->output ? nfsr_writer_new(output_write, m->output, err) : NULL;
    if (!m->writer)
        return -err->code;
    m->sink = nfsr_writer_sink(m->writer);
    m->engine = engine_new(&options, &sink, NULL, err);
    if (!m->engine)
        return -err->code;
    m->border.limits = engine_limits(m->engine);
    return 0;
}

/* Gives frames of |part| to the engine, up to the byte |to|. */
static int feed(struct making *m, struct part *part, uint64_t to, struct err *err)
{
    struct frame frame;
    int rc;

    while ((rc = part_next(part, to, &frame, err)) == 1) {
        frame.number += m->base;
        m->number = frame.number;
        if (engine_frame(m->engine, &frame, err) < 0)
            return err_prefix(err, "%s", input_name(part->input));
        if (frame.number % PROGRESS_FRAMES == 0)
            progress_show(m->piece->progress, m->stage ? "" : "lead-in", part->input);
    }
    return rc < 0 ? rc : 0;
}

/* What a lead-in takes for the interfaces of its first packets, nobody can prove, if a section
 * begins behind them.  Then it begins with that section.  Returns BEGIN_AGAIN. */
static int look_at_sections(struct making *m, const struct part *part)
{
    if (!part->jumped || !part->section || m->lead_at)
        return 0;
    m->lead_at = part->section;
    return BEGIN_AGAIN;
}

/* Opens the file before. */
static int open_before(const struct making *m, struct part *part, struct err *err)
{
    struct lead lead = { .bytes = m->piece->lead_bytes, .time = m->piece->lead_time };
    struct capture_shape shape;

    if (!m->lead_at)
        return lead_open_end(&lead, m->piece->before, part, err);
    return capture_shape_read(m->piece->before, &shape, err) < 0
               ? -err->code
               : part_open(part, m->piece->before, &shape, m->lead_at, err);
}

/* The lead-in from the file before. */
static int lead_before(struct making *m, struct err *err)
{
    struct faces_span span = { .renewed = 0 };
    struct part part;
    int rc = open_before(m, &part, err);

    if (rc < 0)
        return rc;
    rc = feed(m, &part, UINT64_MAX, err);
    if (rc == -ERR_INPUT) /* it is cut: what comes next is in this file */
        rc = 0;
    if (rc == 0)
        rc = look_at_sections(m, &part);
    part_border(&part);
    if (rc == 0)
        rc = part_span(&part, &span, err);
    m->lead_faces = span.before;
    faces_free(&span.end);
    part_close(&part);
    return rc;
}

/* Opens the part with its lead-in, and reads that. */
static int begin(struct making *m, struct part *part, struct err *err)
{
    const struct piece *p = m->piece;
    struct lead lead = { .bytes = m->lead_bytes, .time = p->lead_time };
    uint64_t from = 0;
    int rc = 0;

    if (m->in_part)
        rc = find_packet(p->path, &m->shape, p->from, &from, err);
    if (rc == 0 && p->previous)
        rc = state_continue(p->previous, &m->border, &from, err);
    m->border.from = from;
    m->border.first = !p->previous && !p->before && (!m->in_part || from == m->shape.head);
    if (rc == 0)
        rc = open_output(m, err);
    if (rc < 0)
        return rc;
    if (p->previous)
        rc = state_restore(m->engine, &m->sink, p->previous, m->border.state, err);
    else if (p->before && (!m->in_part || from == m->shape.head))
        rc = lead_before(m, err);
    else if (m->in_part && !m->border.first && m->lead_at)
        from = m->lead_at;
    else if (m->in_part && !m->border.first)
        rc = lead_find(&lead, p->path, &m->shape, from, &from, err);
    if (rc != 0)
        return rc;
    if (p->previous)
        m->number = m->border.lead;
    m->base = m->number;
    rc = part_open(part, p->path, m->in_part ? &m->shape : NULL, from, err);
    if (rc == 0 && m->border.faces.end.order)
        rc = part_carry(part, &m->border.faces.end, m->border.whole, err);
    m->leading = rc == 0 && m->in_part && from < m->border.from;
    if (m->leading)
        rc = feed(m, part, m->border.from, err); /* stops behind it if it was guessed wrong */
    m->leading &= rc < 0;
    m->border.starts = !m->in_part || part->next == m->shape.head;
    if (rc == 0)
        m->border.from = part->next;
    if (rc == 0)
        rc = look_at_sections(m, part);
    if (rc == 0)
        part_border(part);
    return rc;
}

static int at_border(struct making *m, struct err *err)
{
    int rc = 0;

    m->stage = STAGE_PIECE;
    m->border.lead = m->number;
    m->order.lead_operation = engine_ids(m->engine).operation;
    m->order.lead_flow = engine_ids(m->engine).flow;
    if (m->piece->previous)
        engine_continue(m->engine);
    else if (!m->border.first)
        rc = engine_border(m->engine, &m->border.after, err);
    return rc;
}

/* A piece that is made again of something else is another one. */
static uint64_t identify(const struct border *b)
{
    const uint64_t values[] = { b->state, b->origin, b->from, b->to, b->lead, b->frames };

    return XXH3_64bits(values, sizeof(values));
}

/* Puts what waits: as it is, or, if the capture ends here, what becomes of it. */
static int put_rest(struct making *m, bool cut, struct err *err)
{
    if (m->piece->last)
        return engine_end(m->engine, cut, err);
    m->stage = STAGE_WAITING;
    return engine_pause(m->engine, cut, err);
}

/* What is known at the end. */
static int finish(struct making *m, bool cut, struct err *err)
{
    struct border *b = &m->border;
    uint64_t known = b->first || m->piece->previous ? b->depth : (uint64_t)-b->after.from;
    char path[STATE_PATH_MAX];
    int rc = engine_outline(m->engine, &b->end, err);

    b->frames = m->number - b->lead;
    b->depth = known > UINT64_MAX - b->frames ? UINT64_MAX : known + b->frames;
    /* until it is written again, nothing that belongs to it is there */
    unlink(state_path(path, m->piece->name, ".border"));
    if (rc == 0)
        rc = state_save(m->engine, state_path(path, m->piece->name, ".state"), &b->state, err);
    if (rc == 0)
        rc = put_rest(m, cut, err);
    b->past = *engine_past(m->engine); /* also what the end of the capture asked */
    if (rc == 0)
        rc = output_commit(m->output, err);
    b->identity = m->order.identity = identify(b);
    if (rc == 0)
        rc = order_write(state_path(path, m->piece->name, ".order"), &m->order, err);
    if (rc == 0)
        rc = border_write(state_path(path, m->piece->name, ".border"), b, err);
    b->past.asked = (struct xids){ 0 }; /* the engine's */
    return rc;
}

/* What it took interfaces to be, also those of its lead-in. */
static int tell_faces(struct making *m, const struct part *part, struct err *err)
{
    struct faces_span *faces = &m->border.faces;

    faces_span_free(faces);
    *faces = (struct faces_span){ .renewed = 0 };
    if (part_span(part, faces, err) < 0)
        return -err->code;
    if (m->lead_faces.order) {
        faces_free(&faces->before);
        faces->before = m->lead_faces;
        m->lead_faces = (struct faces){ 0 };
    }
    return 0;
}

static int make(struct making *m, struct err *err)
{
    struct part part = { 0 };
    struct err end = { 0 };
    bool cut = false;
    int rc = begin(m, &part, err);

    if (rc == 0)
        rc = at_border(m, err);
    if (rc == 0) {
        rc = feed(m, &part, m->piece->to, &end);
        cut = rc == -ERR_INPUT;
        if (cut) {
            m->result->cut = true;
            m->result->note = end;
            rc = 0;
        } else if (rc < 0) {
            *err = end;
        }
    }
    if (rc == 0)
        rc = tell_faces(m, &part, err);
    m->border.to = part.next;
    m->border.ends = cut || !m->in_part || part.next >= m->shape.size;
    part_close(&part);
    if (rc == 0)
        rc = finish(m, cut, err);
    return rc;
}

static void name_file(char name[BORDER_NAME_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');

    snprintf(name, BORDER_NAME_MAX, "%s", slash ? slash + 1 : path);
}

static void unmake(struct making *m)
{
    engine_free(m->engine);
    nfsr_writer_free(m->writer);
    output_close(m->output);
    border_free(&m->border);
    faces_free(&m->lead_faces);
    order_free(&m->order);
}

static void begin_making(struct making *m, uint64_t lead_bytes)
{
    const struct piece *p = m->piece;

    *m = (struct making){ .piece = p,
                          .result = m->result,
                          .shape = m->shape,
                          .in_part = m->in_part,
                          .lead_bytes = lead_bytes };
    m->border.depth = UINT64_MAX;
    m->border.last = p->last;
    m->border.asked = p->from;
    m->border.till = p->to;
    m->border.options = state_options(p->options);
    m->order.retransmit_span =
        p->options->retransmit_span ? p->options->retransmit_span : ENGINE_RETRANSMIT_SPAN;
    name_file(m->border.capture, p->path);
    if (p->before)
        name_file(m->border.before, p->before);
}

int piece_make(const struct piece *piece, struct piece_result *result, struct err *err)
{
    struct making m = { .piece = piece, .result = result };
    struct err ignored = { 0 };
    int rc;

    *result = (struct piece_result){ 0 };
    m.in_part = capture_shape_read(piece->path, &m.shape, &ignored) == 0;
    if (!m.in_part && (piece->from || piece->to != UINT64_MAX))
        return err_set(err, ignored.code, "%s", ignored.text);
    begin_making(&m, piece->lead_bytes);
    /* what is damaged in a lead-in was no packet: its beginning was guessed wrong */
    while ((rc = make(&m, err)) == BEGIN_AGAIN ||
           (rc == -ERR_INPUT && m.in_part && m.leading && m.lead_bytes < m.shape.size)) {
        uint64_t bytes = m.lead_bytes < LEAD_LEAST ? LEAD_LEAST : m.lead_bytes;
        uint64_t lead_at = m.lead_at;

        unmake(&m);
        *err = (struct err){ 0 };
        begin_making(&m, rc == BEGIN_AGAIN ? m.lead_bytes : 4 * bytes);
        m.lead_at = rc == BEGIN_AGAIN ? lead_at : 0;
    }
    progress_done(piece->progress);
    result->from = m.border.from;
    result->to = m.border.to;
    result->lead = m.border.lead;
    result->frames = m.border.frames;
    result->operations = m.border.operations;
    result->waiting = m.border.waiting;
    unmake(&m);
    return rc;
}
