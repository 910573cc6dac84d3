/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/wire_check.h
 *
 * Holds the walker to a sample (wire_sample.h): whole, cut at each byte, too short at each byte,
 * with bytes left over, without its file contents, and for every role.  Needs cmocka.h before it.
 */
#ifndef NFSDIGEST_TESTS_WIRE_CHECK_H
#define NFSDIGEST_TESTS_WIRE_CHECK_H

#include "wire/walk.h"
#include "wire_sample.h"

enum { SEEN_MAX = 512 };

/* What one walk showed. */
struct seen {
    struct sample text; /* only its lines are used */
    struct visit visits[SEEN_MAX];
    unsigned count;
    bool last_cut;
    const uint8_t *data, *end; /* what was captured */
};

#define ROLE_ANY_ATTRIBUTES                                                                        \
    ((uint32_t)(ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY |                    \
                ROLE_ATTRIBUTES_PARENT | ROLE_ATTRIBUTES_PARENT2 | ROLE_BEFORE))

static inline int see(void *ctx, const struct visit *v)
{
    struct seen *seen = ctx;
    char path[WALK_PATH_MAX];

    assert_true(seen->count < SEEN_MAX);
    assert_true(v->data >= seen->data && v->data + v->len <= seen->end);
    seen->visits[seen->count++] = *v;
    seen->last_cut = v->cut;
    if (v->whole)
        return 0;
    walk_path(v->walk, v->field, path);
    switch (v->field->kind) {
    case XDR_OPAQUE:
    case XDR_STRING:
    case XDR_FIXED:
        if (v->field->cls == CLASS_DATA)
            sample_line(&seen->text, "%s=data %u@%u\n", path, v->full_len, v->offset);
        else if (!v->cut)
            sample_hex(&seen->text, path, v->data, v->len, v->offset);
        if (v->field->cls != CLASS_DATA)
            assert_int_equal(v->cut, v->len < v->full_len);
        break;
    default:
        assert_int_equal(v->len, v->field->kind == XDR_U64 ? 8 : 4);
        sample_line(&seen->text, "%s=%llu@%u\n", path, (unsigned long long)v->value, v->offset);
    }
    return 0;
}

static inline enum walk_result see_walk(struct seen *seen, const struct type *type,
                                        const uint8_t *data, uint32_t cap, uint32_t wire,
                                        bool elided, uint32_t roles, struct walk *walked)
{
    struct visitor visitor = { .visit = see, .ctx = seen, .roles = roles };

    sample_reset(&seen->text);
    seen->count = 0;
    seen->last_cut = false;
    seen->data = data;
    seen->end = data + cap;
    return walk(walked, type, data, cap, wire, elided, &visitor);
}

/* By the rule that walk.h gives: is this visit of the full walk also one of the filtered walk? */
static inline bool is_shown(const struct visit *v, uint32_t roles)
{
    uint32_t role = v->field->role;

    if (v->field->kind == XDR_OPTIONAL && !v->whole)
        role &= ~ROLE_ANY_ATTRIBUTES;
    return role & roles;
}

static inline void assert_filtered(const struct seen *full, const struct seen *filtered,
                                   uint32_t roles)
{
    unsigned i, n = 0;

    for (i = 0; i < full->count; i++) {
        const struct visit *a = &full->visits[i], *b = &filtered->visits[n];

        if (!is_shown(a, roles))
            continue;
        assert_true(n++ < filtered->count);
        assert_ptr_equal(a->field, b->field);
        assert_ptr_equal(a->data, b->data);
        assert_int_equal(a->len, b->len);
        assert_int_equal(a->full_len, b->full_len);
        assert_int_equal(a->offset, b->offset);
        assert_int_equal(a->value, b->value);
        assert_int_equal(a->index, b->index);
        assert_int_equal(a->cut, b->cut);
        assert_int_equal(a->whole, b->whole);
    }
    assert_int_equal(n, filtered->count);
}

/* The walk with each role and with some together: the same result and place, and what is to be
 * seen. |full| is the walk of the same bytes with all fields. */
static inline void check_roles(const struct seen *full, const struct type *type,
                               const uint8_t *data, uint32_t cap, uint32_t wire, bool elided,
                               enum walk_result expected, const struct walk *full_walk)
{
    static struct seen filtered;
    struct walk walked;
    unsigned bit;

    for (bit = 0; bit < 33; bit++) {
        uint32_t roles = bit < 31 ? 1u << bit : bit == 31 ? ROLE_ANY_ATTRIBUTES : 0x7fffffff;

        assert_int_equal(see_walk(&filtered, type, data, cap, wire, elided, roles, &walked),
                         expected);
        assert_int_equal(walked.offset, full_walk->offset);
        assert_ptr_equal(walked.problem, full_walk->problem);
        assert_filtered(full, &filtered, roles);
    }
    assert_int_equal(walk(&walked, type, data, cap, wire, elided, NULL), expected);
}

/* The lines seen are the beginning of the sample's. */
static inline void assert_begins(const struct sample *s, const struct seen *seen)
{
    assert_true(seen->text.lines_len <= s->lines_len);
    assert_memory_equal(s->lines, seen->text.lines, seen->text.lines_len);
}

/* |bytes| in an allocation of just their size, so that the sanitizer sees the first one behind. */
static inline uint8_t *exact_copy(const uint8_t *bytes, uint32_t len)
{
    uint8_t *copy = malloc(len ? len : 1);

    assert_non_null(copy);
    memcpy(copy, bytes, len);
    return copy;
}

static inline void check_cut(const struct sample *s, const struct type *type, uint32_t cap)
{
    static struct seen seen;
    uint8_t *data = exact_copy(s->bytes, cap);
    struct walk walked;

    assert_int_equal(see_walk(&seen, type, data, cap, s->len, false, 0, &walked), WALK_TRUNCATED);
    assert_int_equal(walked.offset, cap);
    assert_null(walked.problem);
    assert_begins(s, &seen);
    if (seen.last_cut) {
        const struct visit *v = &seen.visits[seen.count - 1];

        assert_ptr_equal(v->data + v->len, data + cap);
        assert_memory_equal(v->data, s->bytes + v->offset, v->len);
    }
    check_roles(&seen, type, data, cap, s->len, false, WALK_TRUNCATED, &walked);

    assert_int_equal(see_walk(&seen, type, data, cap, cap, false, 0, &walked), WALK_MALFORMED);
    assert_non_null(walked.problem);
    assert_string_not_equal(walked.problem, "bytes are left over");
    assert_true(walked.offset <= cap);
    assert_begins(s, &seen);
    check_roles(&seen, type, data, cap, cap, false, WALK_MALFORMED, &walked);
    free(data);
}

static inline void check_left_over(const struct sample *s, const struct type *type, uint32_t cap)
{
    static struct seen seen;
    uint8_t *data = exact_copy(s->bytes, cap);
    struct walk walked;

    assert_int_equal(see_walk(&seen, type, data, cap, s->len + 4, false, 0, &walked),
                     WALK_MALFORMED);
    assert_string_equal(walked.problem, "bytes are left over");
    assert_int_equal(walked.offset, s->len);
    assert_string_equal(seen.text.lines, s->lines);
    check_roles(&seen, type, data, cap, s->len + 4, false, WALK_MALFORMED, &walked);
    free(data);
}

static inline void check_elided(const struct sample *s, const struct type *type)
{
    static struct seen seen;
    uint32_t len = s->len - s->data_len, cap, behind = s->data_start + s->data_len;
    uint8_t without[sizeof(s->bytes)], *data;
    struct walk walked;

    memcpy(without, s->bytes, s->data_start);
    memcpy(without + s->data_start, s->bytes + behind, s->len - behind);
    for (cap = 0; cap <= len; cap++) {
        enum walk_result expected = cap < len ? WALK_TRUNCATED : WALK_OK;

        data = exact_copy(without, cap);
        assert_int_equal(see_walk(&seen, type, data, cap, s->len, true, 0, &walked), expected);
        if (cap == len)
            assert_string_equal(seen.text.lines, s->lines);
        assert_begins(s, &seen);
        check_roles(&seen, type, data, cap, s->len, true, expected, &walked);
        free(data);
    }
}

/* All of the above. */
static inline void check_sample(const struct sample *s, const struct type *type)
{
    static struct seen seen;
    uint8_t *data = exact_copy(s->bytes, s->len);
    struct walk walked;
    uint32_t cap;

    assert_int_equal(see_walk(&seen, type, data, s->len, s->len, false, 0, &walked), WALK_OK);
    assert_string_equal(seen.text.lines, s->lines);
    assert_int_equal(walked.offset, s->len);
    assert_false(seen.last_cut);
    check_roles(&seen, type, data, s->len, s->len, false, WALK_OK, &walked);
    free(data);
    for (cap = 0; cap < s->len; cap++)
        check_cut(s, type, cap);
    check_left_over(s, type, s->len);
    check_left_over(s, type, s->len + 4);
    check_elided(s, type);
}

#endif
