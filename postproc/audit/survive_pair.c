/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive_pair.c
 *
 * Compares two messages that belong together, place by place.
 */
#include "audit/survive_parts.h"
#include "base/digest.h"
#include "base/grow.h"

/* --- what may stay under any rule --- */

static bool is_special_address(const struct address *a)
{
    return bytes_are_zeros(a->bytes, address_len(a)) || (a->version == 4 && a->bytes[0] == 127) ||
           (a->version == 6 && bytes_are_zeros(a->bytes, 15) && a->bytes[15] == 1);
}

static bool is_special_text(const struct audit *a, const struct item *i)
{
    struct address address;
    bool exact;

    if (bytes_are_zeros(i->data, i->len) || allow_text(&a->allow, i->data, i->len))
        return true;
    if (i->cls == CLASS_NAME || i->cls == CLASS_PATH) /* ".", "..", "/" */
        return (i->len <= 2 && memcmp(i->data, "..", i->len) == 0) ||
               (i->len == 1 && *i->data == '/');
    return (i->cls == CLASS_ADDRESS || i->cls == CLASS_HOST) &&
           text_address(i->data, i->len, &address, &exact) && is_special_address(&address);
}

static bool is_special(const struct audit *a, const struct item *i)
{
    if (i->is_bytes)
        return is_special_text(a, i);
    if (i->cls == CLASS_TIME)
        return is_constant_time(i->value);
    if (i->cls == CLASS_MODE)
        return !(i->value & 077);
    return !i->value || (i->cls == CLASS_UID && allow_number(&a->allow, DOMAIN_UID, i->value)) ||
           (i->cls == CLASS_GID && allow_number(&a->allow, DOMAIN_GID, i->value));
}

/* --- rows of items --- */

static uint64_t mix(uint64_t hash, const void *p)
{
    uint64_t value = (uintptr_t)p;

    return XXH3_64bits_withSeed(&value, sizeof(value), hash);
}

static uint32_t row_of(const struct survive *s, uint64_t hash)
{
    uint32_t at;

    return table_first(&s->row_of, hash, &at);
}

struct places {
    struct survive *s;
    const struct items *items;
    uint32_t index;
    struct err *err;
    int rc;
};

static int note_place(struct places *p, uint32_t index, uint64_t hash, const char *place)
{
    const struct item *i = &p->items->all[index];

    p->rc =
        survive_row(p->s, hash, place, i->cls, i->is_bytes ? SURVIVE_BYTE_STRING : SURVIVE_NUMBER,
                    i->field ? i->field->wireshark : NULL, &p->s->item_rows[index], p->err);
    return p->rc;
}

static int visit(void *ctx, const struct visit *v)
{
    struct places *p = ctx;
    const struct walk *w = v->walk;
    uint64_t hash = mix(1, w->root);
    char place[WALK_PATH_MAX];

    if (v->whole)
        return 0;
    if (p->index == p->items->count)
        return 1;
    for (uint32_t i = 0; i < w->depth; i++) {
        hash = mix(hash, w->steps[i].field);
        hash = mix(hash, w->steps[i + 1].arm);
    }
    hash = mix(hash, v->field);
    p->s->item_rows[p->index] = row_of(p->s, hash);
    if (p->s->item_rows[p->index] == TABLE_NONE)
        note_place(p, p->index, hash, walk_path(w, v->field, place));
    p->index++;
    return p->rc < 0;
}

/* The row of each item, into |item_rows|. */
static int find_places(struct survive *s, const struct audit_message *m, const struct items *items,
                       struct err *err)
{
    struct places p = { s, items, 0, err, 0 };
    const struct visitor visitor = { visit, &p, 0 };
    char place[WALK_PATH_MAX];

    if (GROW_TO(s->item_rows, items->count, s->item_cap) < 0)
        return err_memory(err, "a message's fields");
    for (; p.index < items->count && !items->all[p.index].field; p.index++) {
        uint64_t hash = mix(2 + items->all[p.index].cls, items->all[p.index].name);

        s->item_rows[p.index] = row_of(s, hash);
        if (s->item_rows[p.index] == TABLE_NONE &&
            note_place(&p, p.index, hash, item_path(m, items, p.index, place)) < 0)
            return p.rc;
    }
    items_walk(m, &visitor);
    while (p.index < items->count)
        s->item_rows[p.index++] = TABLE_NONE;
    return p.rc;
}

/* --- what is a part of a value --- */

static int add(struct survive *s, const char *place, unsigned cls, unsigned base, unsigned kind,
               const struct survive_pair *pair, struct err *err)
{
    uint32_t row;

    if (survive_row(s, 0, place, cls, kind, NULL, &row, err) < 0)
        return -err->code;
    if (row == TABLE_NONE) {
        s->left_out++;
        return 0;
    }
    s->rows[row].base = (uint8_t)base;
    return survive_add(s, row, pair, err);
}

/* A further row of the item's: its place, and what of it. */
static int add_part(struct survive *s, uint32_t row, const char *part, unsigned cls, unsigned kind,
                    const struct survive_pair *pair, struct err *err)
{
    char place[WALK_PATH_MAX + 32];

    snprintf(place, sizeof(place), "%s, %s", s->rows[row].place, part);
    place[WALK_PATH_MAX - 1] = '\0';
    return add(s, place, cls, s->rows[row].cls, kind, pair, err);
}

static int add_number(struct survive *s, uint32_t row, const char *part, unsigned cls,
                      uint64_t original, uint64_t anonymized, struct err *err)
{
    struct survive_pair pair = { .numbers = { original, anonymized }, .special = !original };

    return add_part(s, row, part, cls, SURVIVE_NUMBER, &pair, err);
}

static int add_text(struct survive *s, uint32_t row, const char *part, const uint8_t *text,
                    uint32_t len, bool same, struct err *err)
{
    struct survive_pair pair = { .original = { text, len },
                                 .anonymized = { text, same ? len : 0 } };

    return add_part(s, row, part, SURVIVE_SUFFIX, SURVIVE_BYTE_STRING, &pair, err);
}

/* Of a name that was changed: what stayed at its end from a dot on, or what could have; and at its
 * beginning. */
static int add_affixes(struct survive *s, uint32_t row, const struct item *o, const struct item *n,
                       struct err *err)
{
    const uint8_t *end = o->data + o->len, *dot = NULL, *last = NULL;
    uint32_t common = 0, least = o->len < n->len ? o->len : n->len, first = 0;

    while (common < least && end[-1 - (int64_t)common] == n->data[n->len - 1 - common] &&
           end[-1 - (int64_t)common] != '/')
        common++;
    for (const uint8_t *p = o->data + 1; p + 1 < end; p++) {
        if (*p == '/')
            last = dot = NULL;
        if (*p != '.' || p[-1] == '/')
            continue;
        last = p;
        dot = !dot && p >= end - common ? p : dot;
    }
    if (last && add_text(s, row, "suffix", dot ? dot : last, (uint32_t)(end - (dot ? dot : last)),
                         dot != NULL, err) < 0)
        return -err->code;
    if (o->cls != CLASS_NAME || o->len < 2 || *o->data != '.')
        return 0;
    while (first < 4 && first < least && o->data[first] == n->data[first])
        first++;
    return add_text(s, row, "prefix", o->data, first == 4 ? 4 : 1, first > 0, err);
}

/* The port at the end of a universal address (RFC 5665 s5.2.3.3). */
static bool read_port(const struct item *i, uint64_t *port)
{
    uint32_t value = 0, scale = 1, dots = 0, digits = 0, at;

    *port = 0;
    for (at = i->len; at && dots < 2; at--) {
        uint8_t c = i->data[at - 1];

        if (c == '.' && digits) {
            *port += (uint64_t)value << (8 * dots++);
            value = digits = 0;
            scale = 1;
        } else if (c >= '0' && c <= '9' && digits++ < 3) {
            value += scale * (c - '0');
            scale *= 10;
        } else {
            return false;
        }
    }
    return dots == 2 && at;
}

static int add_parts(struct survive *s, const struct audit_message *x,
                     const struct audit_message *y, uint32_t row, const struct item *o,
                     const struct item *n, struct err *err)
{
    bool same = o->is_bytes ? o->len == n->len && memcmp(o->data, n->data, o->len) == 0
                            : o->value == n->value;
    uint64_t ports[2];

    if (o->has_length &&
        add_number(s, row, "length", SURVIVE_LENGTH, o->full_len, n->full_len, err) < 0)
        return -err->code;
    if (o->is_bytes && o->cls == CLASS_ADDRESS && read_port(o, &ports[0]) &&
        read_port(n, &ports[1]))
        return add_number(s, row, "port", SURVIVE_PORT, ports[0], ports[1], err);
    if (same)
        return 0;
    if ((o->cls == CLASS_NAME || o->cls == CLASS_PATH) && o->is_bytes)
        return add_affixes(s, row, o, n, err);
    if (o->cls == CLASS_MODE)
        return add_number(s, row, "bits that stay", SURVIVE_BITS, o->value & n->value,
                          o->value & n->value, err);
    if (o->cls == CLASS_TIME && x->time != TIME_NONE && y->time != TIME_NONE)
        return add_number(s, row, "seconds after the packet", SURVIVE_DISTANCE,
                          o->value - (uint64_t)(x->time / 1000000000),
                          n->value - (uint64_t)(y->time / 1000000000), err);
    return 0;
}

static int add_item(struct survive *s, const struct audit_message *x, const struct audit_message *y,
                    uint32_t row, const struct item *o, const struct item *n, struct err *err)
{
    struct survive_pair pair = {
        .original = { o->data, o->is_bytes ? o->len : 0 },
        .anonymized = { n->data, n->is_bytes ? n->len : 0 },
        .numbers = { o->value, n->value },
        .special = is_special(&s->audit, o),
    };

    if (row == TABLE_NONE) {
        s->left_out++;
        return 0;
    }
    if (survive_add(s, row, &pair, err) < 0)
        return -err->code;
    return add_parts(s, x, y, row, o, n, err);
}

/* --- beside the message --- */

static int add_outer(struct survive *s, const char *place, unsigned cls, unsigned base,
                     uint64_t original, uint64_t anonymized, struct err *err)
{
    struct survive_pair pair = { .numbers = { original, anonymized } };

    return add(s, place, cls, base, SURVIVE_NUMBER, &pair, err);
}

static unsigned shared_prefix(const struct address address[2])
{
    unsigned bits = 0, all = 8 * address_len(&address[0]);

    if (address[0].version != address[1].version)
        return 0;
    while (bits < all &&
           !((address[0].bytes[bits / 8] ^ address[1].bytes[bits / 8]) >> (7 - bits % 8) & 1))
        bits++;
    return bits;
}

static int add_times(struct survive *s, const struct audit_message *o,
                     const struct audit_message *n, struct err *err)
{
    int rc;

    if (o->time == TIME_NONE || n->time == TIME_NONE)
        return 0;
    rc = add_outer(s, "packet time", SURVIVE_CAPTURED, CLASS_TIME, (uint64_t)o->time,
                   (uint64_t)n->time, err);
    if (rc == 0 && s->has_last)
        rc = add_outer(s, "packet time after that of the message before", SURVIVE_INTERVAL,
                       ITEM_HEADER, (uint64_t)(o->time - s->last_time[0]),
                       (uint64_t)(n->time - s->last_time[1]), err);
    s->last_time[0] = o->time;
    s->last_time[1] = n->time;
    s->has_last = true;
    return rc;
}

static uint64_t unread_units(const struct audit_message *m, uint32_t read_to)
{
    return m->wire_len > read_to ? ((uint64_t)m->wire_len - read_to + 4095) / 4096 : 0;
}

static int add_headers(struct survive *s, const struct comparer *c, const struct audit_message *o,
                       const struct audit_message *n, struct err *err)
{
    static const char *const sides[][2] = { { "IP address of the client", "port of the client" },
                                            { "IP address of the server", "port of the server" } };
    int rc = add_times(s, o, n, err);

    for (unsigned i = 0; rc == 0 && i < 2; i++) {
        const struct address *x = &o->address[i], *y = &n->address[i];
        struct survive_pair pair = { .original = { x->bytes, x->version ? address_len(x) : 0 },
                                     .anonymized = { y->bytes, y->version ? address_len(y) : 0 },
                                     .special = is_special_address(x) };

        rc = add(s, sides[i][0], CLASS_ADDRESS, CLASS_ADDRESS, SURVIVE_ADDRESS, &pair, err);
        if (rc == 0)
            rc = add_outer(s, sides[i][1], SURVIVE_PORT, ITEM_HEADER, o->port[i], n->port[i], err);
    }
    if (rc == 0)
        rc = add_outer(s, "prefix that both IP addresses share, bits", SURVIVE_PREFIX, ITEM_HEADER,
                       shared_prefix(o->address), shared_prefix(n->address), err);
    if (rc == 0)
        rc = add_outer(s, "IP protocol", SURVIVE_TRANSPORT, ITEM_HEADER, o->transport, n->transport,
                       err);
    if (rc < 0)
        return rc;
    if (o->procedure)
        return add_outer(s, "length of messages that are read", SURVIVE_MESSAGE, CLASS_NAME,
                         o->wire_len, n->wire_len, err);
    return add_outer(s, "length of bodies that cannot be read, in units of 4 KiB", SURVIVE_MESSAGE,
                     ITEM_HEADER, unread_units(o, c->original.read_to),
                     unread_units(n, c->anonymized.read_to), err);
}

int survive_messages(struct survive *s, const struct comparer *c, const struct audit_message *o,
                     const struct audit_message *n, struct err *err)
{
    const struct items *x = &c->original, *y = &c->anonymized;
    int rc = add_headers(s, c, o, n, err);

    if (rc == 0)
        rc = find_places(s, o, x, err);
    for (uint32_t i = 0; rc == 0 && i < x->count && i < y->count; i++) {
        const struct item *a = &x->all[i], *b = &y->all[i];

        if (a->field != b->field || a->cls != b->cls || a->is_cut || b->is_cut) {
            s->audit.incomplete++;
            break;
        }
        rc = add_item(s, o, n, s->item_rows[i], a, b, err);
    }
    return rc;
}
