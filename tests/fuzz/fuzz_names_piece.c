/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_names_piece.c
 *
 * The records of pieces as input of the pass over names: a stream whose checksums are right, but
 * which need not belong to its border and its order of operations.  Up to three pieces follow each
 * other:
 *
 *   flags (1: continues the piece before it), lead frames, lead operations, lead connections,
 *   operations, waiting, frames (2 bytes), length and bytes of the order of operations, number of
 *   calls of the lead-in and for each what its id, frame (signed) and XID are more than those of
 *   the one before, length (2 bytes) and bytes of the records
 *
 * Numbers of 2 bytes are little-endian.  tests/lab/names_piece_seeds.py makes the corpus.
 */
#include "capture/input.h"
#include "pieces/border.h"
#include "pieces/order.h"

#include "nfsr_block.h"

struct cursor {
    const uint8_t *data;
    size_t len;
};

/* The piece that is read, instead of files. */
static struct {
    struct border border;
    struct order order;
    struct buf stream;
} now;

static struct input *open_stream(void)
{
    struct cursor *c = malloc(sizeof(*c));

    if (!c)
        abort();
    *c = (struct cursor){ now.stream.data, now.stream.len };
    return (struct input *)c;
}

static ssize_t read_stream(void *ctx, void *data, size_t len, struct err *err)
{
    struct cursor *c = ctx;

    (void)err;
    len = len < c->len ? len : c->len;
    if (!len)
        return 0;
    memcpy(data, c->data, len);
    c->data += len;
    c->len -= len;
    return (ssize_t)len;
}

static int give_border(struct border *border)
{
    *border = now.border;
    return 0;
}

static int give_order(struct order *order)
{
    *order = now.order;
    now.order = (struct order){ 0 };
    return 0;
}

#define input_open(path, digest, err) open_stream()
#define input_read read_stream
#define input_close free
#define border_read(path, border, err) give_border(border)
#define order_read(path, order, err) give_order(order)
#include "names/turns.c"

#include "names/pass.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint32_t number(struct cursor *c, size_t bytes)
{
    uint32_t value = 0;

    for (size_t i = 0; i < bytes && c->len; i++, c->data++, c->len--)
        value |= (uint32_t)*c->data << 8 * i;
    return value;
}

static struct cursor part(struct cursor *c, size_t len)
{
    struct cursor p = { c->data, len < c->len ? len : c->len };

    c->data += p.len;
    c->len -= p.len;
    return p;
}

static void append(struct buf *b, const void *data, size_t len)
{
    if (buf_append(b, data, len) < 0)
        abort();
}

static void read_piece(struct cursor *in, uint64_t identity)
{
    struct order_call call = { 0 };
    struct cursor turns, records;
    bool continues = number(in, 1) & 1;

    now.border = (struct border){ .lead = number(in, 1), .identity = identity };
    now.order = (struct order){ .identity = identity, .retransmit_span = 900000000000 };
    now.border.origin = identity - 1;
    now.border.previous[0] = continues ? 'p' : '\0';
    now.order.lead_operation = number(in, 1);
    now.order.lead_flow = number(in, 1);
    now.border.operations = number(in, 1);
    now.border.waiting = number(in, 1);
    now.border.end.call_count = (uint32_t)now.border.waiting;
    now.border.frames = number(in, 2);
    turns = part(in, number(in, 1));
    append(&now.order.turns, turns.data, turns.len);
    for (uint32_t count = number(in, 1); count && in->len; count--) {
        call.operation += number(in, 1) + 1;
        call.frame += (uint64_t)(int8_t)number(in, 1);
        call.xid += number(in, 1);
        if (order_note(&now.order, &call, NULL) < 0)
            abort();
    }
    records = part(in, number(in, 2));
    block_wrap(&now.stream, records.data, records.len, false);
}

/* Everything that a record refers to was put before it. */
static int check(void *ctx, const struct record *r, struct err *err)
{
    const struct pass *p = ctx;
    const struct record_operation *op = &r->operation;

    (void)err;
    if (r->kind == RECORD_OPERATION &&
        (op->flow > p->told.flow.count || op->path > p->told.path.count ||
         op->path2 > p->told.path.count || op->object > p->told.object.count ||
         op->object2 > p->told.object.count || op->credential > p->told.credential.count ||
         op->id > p->last_operation || op->depends_on >= op->id))
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    enum { PIECES_MAX = 3 };
    static const struct names_options options;
    struct cursor in = { data, len };
    struct pass *p = calloc(1, sizeof(*p));
    const struct sink sink = { check, p };
    struct err err = { 0 };
    int rc = p ? pass_begin(p, &options, &sink, &err) : -ERR_SYSTEM;

    if (rc < 0)
        abort();
    for (uint64_t i = 1; rc == 0 && i <= PIECES_MAX && in.len; i++) {
        read_piece(&in, i);
        rc = pass_piece(p, "piece", i % 2 ? 0 : p->base, &err);
        order_free(&now.order);
        buf_free(&now.stream);
        if (rc < 0 && (rc != -ERR_INPUT || err.code != ERR_INPUT || !err.text[0]))
            abort();
    }
    if (rc == 0 && (pass_end(p, &err) < 0 || pass_waiting(p)))
        abort();
    pass_free(p);
    free(p);
    return 0;
}
