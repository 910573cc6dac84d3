/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_walk.c
 *
 * Any bytes as the body of any procedure of the tables.  Held to: what is visited lies within the
 * captured bytes; a walk for some roles sees and says the same; so does one without the file
 * contents; a whole message that is cut is truncated, and never anything else.
 *
 * Input: program (index into wire_programs), procedure, flags (1: result, 2: elided), role bit,
 * bytes cut off the capture (2), bytes more on the wire (2), body.
 */
#include "base/bytes.h"
#include "body_type.h"
#include "wire/walk.h"

#include <stdlib.h>
#include <string.h>

#define ATTRIBUTES                                                                                 \
    ((uint32_t)(ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY |                    \
                ROLE_ATTRIBUTES_PARENT | ROLE_ATTRIBUTES_PARENT2))

struct watch {
    const uint8_t *body;
    uint32_t cap, wire;
    bool elided;
    uint32_t roles; /* what to hash, by the rule of walk.h; 0: everything */
    uint64_t hash;  /* of what was visited, but for file contents */
    uint64_t visits;
    struct bytes contents; /* the last CLASS_DATA that was seen */
    uint32_t contents_seen;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void hash(struct watch *w, uint64_t value)
{
    w->hash = (w->hash ^ value) * 0x9e3779b97f4a7c15ULL;
    w->hash ^= w->hash >> 29;
}

static bool is_shown(const struct watch *w, const struct visit *v)
{
    uint32_t role = v->field->role;

    if (v->field->kind == XDR_OPTIONAL && !v->whole)
        role &= ~ATTRIBUTES;
    return !w->roles || (role & w->roles);
}

static int watch(void *ctx, const struct visit *v)
{
    struct watch *w = ctx;
    bool is_contents = v->field->cls == CLASS_DATA;
    char path[WALK_PATH_MAX];
    uint32_t i;

    require(v->data >= w->body && v->len <= w->cap && v->data <= w->body + (w->cap - v->len));
    require(v->len <= v->full_len);
    require(v->offset <= w->wire && v->full_len <= w->wire - v->offset);
    require(w->elided || v->data == w->body + v->offset);
    require(strlen(walk_path(v->walk, v->field, path)) < WALK_PATH_MAX);
    if (is_contents) {
        w->contents = (struct bytes){ v->data, v->full_len };
        w->contents_seen++;
    }
    if (!is_shown(w, v))
        return 0;
    w->visits++;
    hash(w, (uintptr_t)v->field);
    hash(w, v->offset);
    hash(w, v->value);
    hash(w, v->full_len);
    hash(w, v->index);
    hash(w, (uint64_t)v->whole);
    for (i = 0; !is_contents && i < v->len; i++)
        hash(w, v->data[i]);
    return 0;
}

struct outcome {
    enum walk_result result;
    struct walk walk;
    struct watch watch;
};

/* |wanted|: roles that the walker filters for, |counted|: those that the watch does. */
static void run(struct outcome *o, const struct type *type, const uint8_t *body, uint32_t cap,
                uint32_t wire, bool elided, uint32_t wanted, uint32_t counted)
{
    struct visitor visitor = { .visit = watch, .ctx = &o->watch, .roles = wanted };

    memset(&o->watch, 0, sizeof(o->watch));
    o->watch.body = body;
    o->watch.cap = cap;
    o->watch.wire = wire;
    o->watch.elided = elided;
    o->watch.roles = counted;
    o->result = walk(&o->walk, type, body, cap, wire, elided, &visitor);
    require(o->result != WALK_STOPPED);
    require((o->result == WALK_MALFORMED) == (o->walk.problem != NULL));
    require(o->walk.offset <= wire);
    require(o->result != WALK_TRUNCATED || cap < wire || elided);
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
    require(a->result == b->result);
    require(a->walk.offset == b->walk.offset && a->walk.problem == b->walk.problem);
    require(a->watch.visits == b->watch.visits && a->watch.hash == b->watch.hash);
}

/* A whole message without its file contents, and cut anywhere. */
static void check_whole(const struct type *type, const uint8_t *body, uint32_t len,
                        const struct outcome *full, uint32_t cut)
{
    const struct bytes *contents = &full->watch.contents;
    static struct outcome other;

    if (cut) {
        run(&other, type, body, len - cut, len, false, 0, 0);
        require(other.result == WALK_TRUNCATED && other.walk.offset == len - cut);
        run(&other, type, body, len - cut, len - cut, false, 0, 0);
        require(other.result == WALK_MALFORMED);
    }
    if (full->watch.contents_seen == 1) {
        uint32_t padded = (contents->len + 3) & ~3u, start = (uint32_t)(contents->data - body);
        uint8_t *without = malloc(len - padded + 1);

        require(without != NULL);
        memcpy(without, body, start);
        memcpy(without + start, body + start + padded, len - start - padded);
        run(&other, type, without, len - padded, len, true, 0, 0);
        require_same(full, &other);
        free(without);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome full, counted, filtered;
    const struct type *type;
    uint32_t cut, cap, wire, roles, len;
    bool elided;

    if (size < 8)
        return 0;
    type = body_type(data[0], data[1], data[2] & 1);
    if (!type)
        return 0;
    elided = data[2] & 2;
    roles = data[3] & 32 ? 1u << data[3] % 29 | ATTRIBUTES : 1u << data[3] % 29;
    len = (uint32_t)(size - 8);
    cut = load_be16(data + 4) % (len + 1);
    cap = len - cut;
    wire = len + load_be16(data + 6);
    data += 8;

    run(&full, type, data, cap, wire, elided, 0, 0);
    run(&counted, type, data, cap, wire, elided, 0, roles);
    run(&filtered, type, data, cap, wire, elided, roles, roles);
    require_same(&counted, &filtered);
    require(walk(&filtered.walk, type, data, cap, wire, elided, NULL) == full.result);

    run(&full, type, data, len, len, false, 0, 0);
    if (full.result == WALK_OK)
        check_whole(type, data, len, &full, cut);
    return 0;
}
