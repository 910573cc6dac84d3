/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded.c
 *
 * Decodes values, and what stands beside packets, and searches the result for texts and digests of
 * the original.  Beside packets, and where contents should be zeros, a hit is a finding at once.
 * Other hits wait until the chains know all values.  audit.c makes it ready; leak.c and leak_file.c
 * give it what to look at.  encoded_digest.c adds the digests.  The contract is in encoded.h.
 */
#include "audit/encoded_parts.h"
#include "audit/encoded_short.h"
#include "base/bytes.h"
#include "base/grow.h"

#include <gcrypt.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXPLAINED_BYTES = 4 };
enum { PACKET_END = 7 }; /* bytes of padding and length behind it, at the most */

struct encoded *encoded_new(struct err *err)
{
    struct encoded *e = calloc(1, sizeof(*e));

    gcry_check_version(NULL); /* before threads use it, as libgcrypt wants it */
    if (!e) {
        err_memory(err, "the search");
        return NULL;
    }
    secrets_init(&e->patterns, SECRETS_PER_CLASS * 2);
    e->shorts = short_names_new(err);
    if (e->shorts)
        return e;
    encoded_free(e);
    return NULL;
}

void encoded_free(struct encoded *e)
{
    if (!e)
        return;
    search_free(e->search);
    secrets_free(&e->patterns);
    table_free(&e->digested);
    short_names_free(e->shorts);
    free(e->hits);
    free(e);
}

static uint8_t fold(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

int encoded_add(struct encoded *e, const struct secret *like, const uint8_t *data, size_t len,
                struct err *err)
{
    struct secret s = *like;

    s.len = (uint8_t)len;
    for (size_t i = 0; i < len; i++)
        s.data[i] = fold(data[i]);
    return secrets_add(&e->patterns, &s, err);
}

/* --- the search --- */

static bool is_text(const struct secret *s)
{
    switch (s->cls) {
    case SECRET_NAME:
    case SECRET_PATH:
    case SECRET_LINK:
    case SECRET_HOST:
    case SECRET_ADDRESS_TEXT:
    case SECRET_METADATA:
        return s->form == FORM_PLAIN && s->len >= SECRET_LONG;
    default:
        return false;
    }
}

/* Names that are short, and what of them is when their suffix stays. */
static int add_short(const struct audit *a, const struct secret *s, struct err *err)
{
    struct encoded *e = a->encoded;
    size_t suffix;

    if (s->form != FORM_PLAIN || s->cls > SECRET_HOST)
        return 0;
    suffix = allow_suffix(&a->allow, s->data, s->len);
    if (short_names_add(e->shorts, s->data, s->len, s->frame, err) < 0)
        return -err->code;
    return suffix ? short_names_add(e->shorts, s->data, s->len - suffix, s->frame, err) : 0;
}

int encoded_ready(struct audit *a, struct err *err)
{
    struct encoded *e = a->encoded;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < a->secrets.count; i++) {
        const struct secret *s = &a->secrets.all[i];

        rc = add_short(a, s, err);
        if (rc == 0 && is_text(s))
            rc = encoded_add(e, s, s->data, s->len, err);
    }
    if (rc < 0)
        return rc;
    e->audit = a;
    e->search = search_new(&e->patterns, err);
    return e->search ? 0 : -err->code;
}

/* Whether the bytes are a secret as they are: then they were searched for as such. */
static bool is_secret(const struct audit *a, const uint8_t *data, size_t len)
{
    for (unsigned c = 0; c < SECRET_MAX; c++)
        if (secrets_have(&a->secrets, c, data, len))
            return true;
    return false;
}

static int keep(struct encoded *e, const struct encoded_hit *hit, struct err *err)
{
    if (e->count == ENCODED_HITS) {
        e->overflow = true;
        return 0;
    }
    if (GROW(e->hits, e->count, e->cap) < 0)
        return err_memory(err, "hits");
    e->hits[e->count++] = *hit;
    return 0;
}

static void fill_finding(const struct encoded *e, const struct secret *s, enum decode_code code,
                         uint32_t from, uint32_t to, struct finding *f)
{
    memset(f, 0, sizeof(*f));
    f->kind = FOUND_LEAK;
    f->what = secret_class_name(s->cls);
    f->original_frame = s->frame;
    f->original = quote_bytes(s->data, s->len);
    f->anonymized = quote_bytes(e->data + from, to - from);
    if (e->block) {
        f->offset = (int64_t)(e->block->offset + (size_t)(e->data - e->block->data) + from);
        snprintf(f->place, sizeof(f->place), "%s", block_kind_name(e->block->kind));
    } else {
        f->offset = -1;
        f->frame = e->message->frame;
        item_path(e->message, e->items, e->index, f->place);
    }
    if (s->form == FORM_DIGEST)
        snprintf(f->text, sizeof(f->text), "a digest of a value that can be tried%s%s",
                 code == DECODE_CASE ? "" : ", ", code == DECODE_CASE ? "" : decode_name(code));
    else
        snprintf(f->text, sizeof(f->text), "%s", decode_name(code));
}

struct looking { /* at a decoded text */
    struct encoded *e;
    const struct decoded *decoded;
};

static int on_hit(void *ctx, uint32_t index, size_t at, struct err *err)
{
    const struct looking *l = ctx;
    struct encoded *e = l->e;
    const struct decoded *d = l->decoded;
    const struct secret *s = &e->patterns.all[index];
    size_t last = at + s->len - 1;
    uint32_t from = d->from[at] < d->from[last] ? d->from[at] : d->from[last];
    uint32_t to = d->to[at] > d->to[last] ? d->to[at] : d->to[last];
    struct encoded_hit hit = { .secret = index, .code = (uint8_t)d->code };

    if (d->code == DECODE_CASE && s->form != FORM_DIGEST &&
        is_secret(e->audit, e->data + from, s->len))
        return 0;
    fill_finding(e, s, d->code, from, to, &hit.finding);
    if (!e->mask) {
        if (!allow_covers(&e->audit->allow, e->data, e->len, from, to - from))
            audit_find(e->audit, &hit.finding);
        return 0;
    }
    for (uint32_t i = from; i < to && hit.len < ENCODED_RAW; i++)
        if (!e->mask[i])
            hit.raw[hit.len++] = e->data[i];
    if (s->len < ENCODED_LEAST || hit.len < EXPLAINED_BYTES)
        return 0;
    return keep(e, &hit, err);
}

static int on_decoded(void *ctx, const struct decoded *decoded, struct err *err)
{
    struct looking l = { ctx, decoded };

    return search_bytes(l.e->search, decoded->text, decoded->len, 0, decoded->len, on_hit, &l, err);
}

static int look(struct encoded *e, const uint8_t *data, uint32_t len, const uint8_t *mask,
                struct err *err)
{
    e->data = data;
    e->len = len;
    e->mask = mask;
    return decode_each(data, len, &e->room, on_decoded, e, err);
}

/* Which bytes follow which in what depends on the key, in lower case. */
static void chain_value(struct encoded *e, const struct item *item, const uint8_t *mask)
{
    uint8_t text[256];
    uint32_t n = 0;

    for (uint32_t i = 0; i <= item->len; i++) {
        if (i < item->len && !mask[i] && n < sizeof(text)) {
            text[n++] = fold(item->data[i]);
            continue;
        }
        chains_bytes(&e->chains, text, n);
        n = 0;
    }
}

/* The pieces of a value between what may stay. */
static int look_short(struct encoded *e, const struct item *item, const uint8_t *mask,
                      struct err *err)
{
    uint32_t start = 0;

    for (uint32_t i = 0; i <= item->len; i++) {
        enum decode_code code = DECODE_CASE;
        struct secret name;
        struct short_hit *hit;
        int rc;

        if (i < item->len && !mask[i])
            continue;
        rc = short_names_see(e->shorts, item->data + start, i - start, &name, &code, err);
        hit = &e->short_hits[code];
        if (rc < 0)
            return rc;
        if (rc == 1 && hit->count < FINDINGS_SHOWN)
            fill_finding(e, &name, code, start, i, &hit->findings[hit->count++]);
        start = i + 1;
    }
    return 0;
}

int encoded_value(struct audit *a, const struct audit_message *m, const struct items *items,
                  uint32_t index, const uint8_t *mask, struct err *err)
{
    const struct item *item = &items->all[index];
    struct encoded *e = a->encoded;
    bool zeros = item->cls == CLASS_DATA && (a->data_zero || !a->data_noise);

    if (!zeros)
        chain_value(e, item, mask);
    if (!item->len || !memchr(mask, 0, item->len))
        return 0;
    e->data = item->data;
    e->block = NULL;
    e->message = m;
    e->items = items;
    e->index = index;
    if (item->cls != CLASS_DATA && item->is_bytes && look_short(e, item, mask, err) < 0)
        return -err->code;
    if (item->len < DECODE_LEAST)
        return 0;
    return look(e, item->data, item->len, zeros ? NULL : mask, err);
}

int encoded_block(struct audit *a, const struct block *b, struct err *err)
{
    uint32_t start = b->kind == BLOCK_PACKET ? b->frame_at + b->frame_len : 0;

    if (start + PACKET_END >= b->len)
        return 0;
    a->encoded->block = b;
    return look(a->encoded, b->data + start, b->len - start, NULL, err);
}

/* --- chance --- */

/* How often chance would have it. */
static double expected(const struct audit *a, const struct encoded_hit *hit)
{
    const struct encoded *e = a->encoded;
    const struct secret *s = &e->patterns.all[hit->secret];
    uint8_t folded[ENCODED_RAW];
    double times = 1;

    if (hit->code == DECODE_BASE64) {
        /* its letters have their case; those that they stand for any */
        for (unsigned i = 0; i < s->len; i++)
            times *= s->data[i] >= 'a' && s->data[i] <= 'z' ? 2 : 1;
        return times * chains_expected(&a->chains, hit->raw, hit->len, 1);
    }
    for (unsigned i = 0; i < hit->len; i++)
        folded[i] = fold(hit->raw[i]);
    return chains_expected(&e->chains, folded, hit->len, 1);
}

static void judge_short(struct audit *a)
{
    const struct encoded *e = a->encoded;
    struct short_names_row rows[DECODE_CODES];

    short_names_count(e->shorts, rows);
    for (unsigned c = 0; c < DECODE_CODES; c++) {
        if (chance_of(rows[c].hits, rows[c].expected) >= CHANCE_LIMIT / DECODE_CODES)
            continue;
        for (uint32_t i = 0; i < e->short_hits[c].count; i++) {
            struct finding f = e->short_hits[c].findings[i];

            snprintf(f.text, sizeof(f.text),
                     "a short name %s: %llu values are such, by chance %.3g",
                     decode_name((enum decode_code)c), (unsigned long long)rows[c].hits,
                     rows[c].expected);
            audit_find(a, &f);
        }
    }
}

void encoded_judge(struct audit *a)
{
    const struct encoded *e = a->encoded;
    double tests = (double)e->patterns.count * DECODE_CODES;
    struct finding f = { .kind = FOUND_UNCHECKED, .what = "hits", .offset = -1 };

    judge_short(a);
    for (uint32_t i = 0; i < e->count; i++)
        if (MODEL_ERROR * expected(a, &e->hits[i]) < CHANCE_LIMIT / tests)
            audit_find(a, &e->hits[i].finding);
    if (!e->overflow)
        return;
    snprintf(f.text, sizeof(f.text), "there are more than %d encoded ones", ENCODED_HITS);
    audit_find(a, &f);
}
