/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/leak.c
 *
 * First every byte of the file is searched and every hit noted with its place.  Then the messages
 * are read once more: they say which hits lie in values that are meant to stay, and secrets that
 * segments tear apart are found in them.  What no message explains is a finding; of short secrets,
 * and of those below SECRET_WINDOW in pseudonyms that are texts, when there are more than chance
 * has.
 */
#include "audit/blocks.h"
#include "audit/internal.h"
#include "base/digest.h"

#include <stdlib.h>

enum {
    EXPLAINED_BYTES = 4, /* so few bytes beside values that stay may be equal by chance */
    CONTEXT = 8,
    LEAKS_MAX = 1000, /* of a class: then no more need be known */
    HEADERS = 70,     /* about what stands before a message in a frame */
};

enum hit_state { HIT_OPEN, HIT_EXPLAINED, HIT_FOUND };

struct hit {
    uint64_t offset, frame;
    uint32_t secret;
    uint8_t state;    /* enum hit_state */
    uint8_t block;    /* enum block_kind */
    bool is_doubtful; /* may be chance: a short secret, or one in a pseudonym that is a text */
};

struct leak {
    struct audit *audit;
    struct hit *hits; /* by frame, as they came */
    uint32_t count, cap;
    struct table contexts; /* of short hits: the same bytes around count once */
    bool overflow;
    const struct block *block;
    /* the message that is looked at: */
    const struct audit_message *message;
    struct items items;
    uint8_t *mask;
    uint32_t mask_cap;
};

static const struct secret *secret_of(const struct leak *l, uint32_t index)
{
    return &l->audit->secrets.all[index];
}

/* --- the file --- */

static bool is_known_context(struct leak *l, uint32_t secret, const uint8_t *data, size_t len,
                             size_t at)
{
    size_t n = secret_of(l, secret)->len, from = at < CONTEXT ? 0 : at - CONTEXT;
    size_t to = len - at < n + CONTEXT ? len : at + n + CONTEXT;
    uint64_t hash = XXH3_64bits_withSeed(data + from, to - from, secret);
    uint32_t place;

    if (table_first(&l->contexts, hash, &place) != TABLE_NONE)
        return true;
    if (l->contexts.used < HITS_MAX && table_add(&l->contexts, hash, 0) < 0)
        l->overflow = true;
    return false;
}

static int on_raw_hit(void *ctx, uint32_t index, size_t at, struct err *err)
{
    struct leak *l = ctx;
    const struct block *b = l->block;
    const struct secret *s = secret_of(l, index);
    const uint8_t *data = b->data - b->before;
    size_t len = b->before + b->len;
    struct leak_row *row = &l->audit->leaks[s->cls];

    if (at + s->len <= b->before) /* seen with the block before */
        return 0;
    if (allow_covers(&l->audit->allow, data, len, at, s->len)) {
        row->allowed++;
        return 0;
    }
    if (s->len >= SECRET_LONG)
        row->hits++;
    else if (is_known_context(l, index, data, len, at))
        return 0;
    if (l->count == HITS_MAX) {
        l->overflow = true;
        return 0;
    }
    if (l->count == l->cap) {
        uint32_t cap = l->cap ? l->cap * 2 : 4096;
        struct hit *grown = realloc(l->hits, cap * sizeof(*grown));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory for hits");
        l->hits = grown;
        l->cap = cap;
    }
    l->hits[l->count++] = (struct hit){ .offset = b->offset - b->before + at,
                                        .frame = b->frame,
                                        .secret = index,
                                        .block = b->kind,
                                        .is_doubtful = s->len < SECRET_LONG };
    return 0;
}

/* Headers are much the same all over: what was there lately tells nothing new. */
static void chain_headers(struct leak *l, const uint8_t *data, uint32_t len)
{
    enum { PIECE = 8, HEADER_PIECES = ITEM_CLASSES + 4 };

    for (uint32_t at = 0; at < len; at += PIECE) {
        uint32_t n = len - at < PIECE ? len - at : PIECE;

        if (!gather_is_seen(l->audit, HEADER_PIECES, data + at, n))
            chains_bytes(&l->audit->chains, data + at, n);
    }
}

static int on_block(void *ctx, const struct block *b, struct err *err)
{
    struct leak *l = ctx;
    uint32_t head = b->kind == BLOCK_PACKET ? b->frame_at : b->len;

    l->block = b;
    l->audit->bytes_searched += b->len;
    if (b->frame_len)
        head += b->frame_len < HEADERS ? b->frame_len : HEADERS;
    chain_headers(l, b->data, head < b->len ? head : b->len);
    return search_bytes(l->audit->search, b->data - b->before, b->before + b->len, 0,
                        b->before + b->len, on_raw_hit, l, err);
}

/* --- the messages --- */

static uint32_t first_hit(const struct leak *l, uint64_t frame)
{
    uint32_t low = 0, high = l->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (l->hits[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t item_at(const struct items *items, uint32_t offset)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < items->count; i++)
        if (items->all[i].offset <= offset)
            found = i;
    return found;
}

static void find_leak(struct leak *l, const struct secret *s, const struct hit *raw, uint32_t at)
{
    struct audit *a = l->audit;
    struct finding f = { .kind = FOUND_LEAK,
                         .what = secret_class_name(s->cls),
                         .offset = raw ? (int64_t)raw->offset : -1,
                         .frame = raw ? raw->frame : 0,
                         .original_frame = s->frame };

    if (l->message) {
        f.frame = l->message->frame;
        item_path(l->message, &l->items, item_at(&l->items, at), f.place);
    } else {
        snprintf(f.place, sizeof(f.place), "%s",
                 raw && raw->block == BLOCK_PACKET ? "outside of messages"
                                                   : block_kind_name(raw ? raw->block : 0));
    }
    f.original = f.anonymized = quote_bytes(s->data, s->len);
    snprintf(f.text, sizeof(f.text), "%s%s", s->form == FORM_REVERSED ? "reversed" : "",
             s->frame ? "" : "from the original file's metadata");
    a->leaks[s->cls].findings += s->len >= SECRET_LONG;
    audit_find(a, &f);
}

/* A short secret in a value that had it there before: the value is what counts. */
static bool is_known_value(struct leak *l, uint32_t secret, uint32_t at)
{
    const struct item *item = &l->items.all[item_at(&l->items, at)];
    uint64_t hash;
    uint32_t place;

    if (!l->items.count || at < item->offset ||
        at + secret_of(l, secret)->len > item->offset + item->len)
        return false;
    hash = XXH3_64bits_withSeed(item->data, item->len,
                                ~((uint64_t)(at - item->offset) << 32 | secret));
    if (table_first(&l->contexts, hash, &place) != TABLE_NONE)
        return true;
    if (l->contexts.used < HITS_MAX && table_add(&l->contexts, hash, 0) < 0)
        l->overflow = true;
    return false;
}

/* Pseudonyms that are texts have few different characters: six of them are soon like a name. */
static bool is_in_text(const struct leak *l, const struct secret *s, uint32_t at)
{
    const struct item *item = &l->items.all[item_at(&l->items, at)];
    uint32_t i = 0;

    if (s->len >= SECRET_WINDOW || !l->items.count || !item->is_bytes || item->cls == CLASS_DATA ||
        at < item->offset || at + s->len > item->offset + item->len)
        return false;
    while (i < item->len && item->data[i] >= 0x20 && item->data[i] < 0x7f)
        i++;
    return i == item->len;
}

static int on_message_hit(void *ctx, uint32_t index, size_t at, struct err *err)
{
    struct leak *l = ctx;
    const struct secret *s = secret_of(l, index);
    const struct audit_message *m = l->message;
    struct hit *raw = NULL;
    unsigned free_bytes = 0;
    bool is_long = s->len >= SECRET_LONG && !is_in_text(l, s, (uint32_t)at), explained;

    (void)err;
    if (l->audit->leaks[s->cls].findings >= LEAKS_MAX)
        return 0;
    for (unsigned i = 0; i < s->len; i++)
        free_bytes += !l->mask[at + i];
    if (s->cls == SECRET_ADDRESS_TEXT)
        explained = false;
    else if (s->len >= SECRET_LONG)
        explained = free_bytes < EXPLAINED_BYTES;
    else
        explained = free_bytes < s->len;
    if (s->len >= SECRET_LONG && explained)
        l->audit->leaks[s->cls].kept++;
    if (!is_long && !explained)
        explained = is_known_value(l, index, (uint32_t)at);
    for (uint32_t i = first_hit(l, m->first_frame); i < l->count && l->hits[i].frame <= m->frame;
         i++) {
        if (l->hits[i].secret != index)
            continue;
        raw = &l->hits[i];
        if (explained && raw->state == HIT_OPEN)
            raw->state = HIT_EXPLAINED;
        else if (!explained && raw->state != HIT_FOUND)
            raw->state = is_long ? HIT_FOUND : HIT_OPEN;
        raw->is_doubtful |= !is_long;
    }
    if (is_long && !explained && !allow_covers(&l->audit->allow, m->data, m->cap_len, at, s->len))
        find_leak(l, s, raw, (uint32_t)at);
    return 0;
}

/* Values that come again tell nothing new about which bytes follow which. */
static void chain_message(struct leak *l)
{
    enum { OTHERS = ITEM_CLASSES + 8 }; /* other places of the memory than gather.c's */
    const struct audit_message *m = l->message;

    for (uint32_t i = 0; i < l->items.count; i++) {
        const struct item *item = &l->items.all[i];

        if (item->len && !l->mask[item->offset + item->len / 2] &&
            !gather_is_seen(l->audit, OTHERS + item->cls, item->data, item->len))
            chains_bytes(&l->audit->chains, item->data, item->len);
    }
    for (uint32_t i = 0; i < m->cap_len; i++)
        l->audit->message_kept_bytes += l->mask[i];
    l->audit->message_bytes += m->cap_len;
}

static int read_message(struct leak *l, const struct audit_message *m, struct err *err)
{
    if (m->cap_len > l->mask_cap) {
        uint8_t *grown = realloc(l->mask, m->cap_len);

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory for a message");
        l->mask = grown;
        l->mask_cap = m->cap_len;
    }
    l->message = m;
    if (items_read(&l->items, m, err) < 0 || mask_message(l->audit, m, &l->items, l->mask, err) < 0)
        return -err->code;
    chain_message(l);
    return search_bytes(l->audit->search, m->data, m->cap_len, 0, m->cap_len, on_message_hit, l,
                        err);
}

static void find_in_header(struct leak *l, const struct frame *frame, const char *what,
                           const struct quote *quote)
{
    struct finding f = { .kind = FOUND_SAME_FIELD,
                         .what = what,
                         .offset = -1,
                         .frame = frame->number,
                         .original = *quote,
                         .anonymized = *quote };

    snprintf(f.place, sizeof(f.place), "the frame's headers");
    audit_find(l->audit, &f);
}

static int on_frame(void *ctx, const struct frame *frame, struct err *err)
{
    struct leak *l = ctx;
    struct audit *a = l->audit;
    struct peek peek;
    struct quote quote;

    (void)err;
    peek_frame(frame, &peek);
    for (unsigned i = 0; i < peek.hardware_count; i++) {
        quote = quote_bytes(peek.hardware[i], 6);
        if (pair_side_has(&a->hardware, XXH3_64bits(peek.hardware[i], 6)))
            find_in_header(l, frame, "hardware", &quote);
    }
    for (unsigned i = 0; i < peek.address_count; i++) {
        const struct address *address = &peek.address[i];
        struct pair_value value = { address->bytes, address_len(address) };

        quote = quote_bytes(address->bytes, address_len(address));
        if (secrets_have(&a->secrets, SECRET_ADDRESS, address->bytes, value.len) &&
            !pairs_is_pseudonym(&a->pairs, DOMAIN_ADDRESS, address->version == 4 ? 32 : 128, value))
            find_in_header(l, frame, "address", &quote);
    }
    return 0;
}

static int read_messages(struct leak *l, struct err *err)
{
    const struct source_hooks hooks = { on_frame, NULL, l };
    struct source *source =
        source_open(l->audit->options->anonymized, l->audit->options->engine, &hooks, err);
    struct audit_message *m;
    int rc = source ? 0 : -err->code;

    while (rc == 0 && (rc = source_next(source, &m, err)) == 1) {
        rc = read_message(l, m, err);
        free(m);
    }
    source_close(source);
    items_free(&l->items);
    l->message = NULL;
    return rc;
}

/* --- what remains --- */

struct doubtful {
    uint32_t count, first; /* index of a hit */
};

static double expected_hits(const struct audit *a, const struct secret *s, uint64_t seen)
{
    if (s->len >= SECRET_WINDOW)
        return 0;
    return s->len < SECRET_LONG ? chains_expected(&a->chains, s->data, s->len, seen)
                                : chain_expected(&a->chains.texts, s->data, s->len, seen);
}

static int judge_doubtful(struct leak *l, struct err *err)
{
    struct audit *a = l->audit;
    struct doubtful *found = calloc(a->secrets.count + 1, sizeof(*found));

    if (!found)
        return err_set(err, ERR_SYSTEM, "out of memory for hits");
    for (uint32_t i = 0; i < l->count; i++) {
        struct doubtful *x = &found[l->hits[i].secret];

        if (l->hits[i].is_doubtful && l->hits[i].state == HIT_OPEN && !x->count++)
            x->first = i;
    }
    for (uint32_t i = 0; i < a->secrets.count; i++) {
        const struct secret *s = secret_of(l, i);
        struct leak_row *row = &a->leaks[s->cls];

        row->short_count += s->len < SECRET_LONG;
        row->doubtful += found[i].count;
        row->expected += expected_hits(a, s, found[i].count);
    }
    for (unsigned c = 0; c < SECRET_MAX; c++)
        a->leaks[c].probability =
            chance_of(a->leaks[c].doubtful, MODEL_ERROR * a->leaks[c].expected);
    for (uint32_t i = 0; i < a->secrets.count; i++) {
        const struct secret *s = secret_of(l, i);
        double limit = CHANCE_LIMIT / a->secrets.classes[s->cls].count;

        if (found[i].count &&
            (a->leaks[s->cls].probability < CHANCE_LIMIT ||
             chance_of(found[i].count, MODEL_ERROR * expected_hits(a, s, found[i].count)) < limit))
            find_leak(l, s, &l->hits[found[i].first], 0);
    }
    free(found);
    return 0;
}

static void judge_long(struct leak *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (!l->hits[i].is_doubtful && l->hits[i].state == HIT_OPEN &&
            l->audit->leaks[secret_of(l, l->hits[i].secret)->cls].findings < LEAKS_MAX)
            find_leak(l, secret_of(l, l->hits[i].secret), &l->hits[i], 0);
}

int leak_search(struct audit *a, struct err *err)
{
    struct leak *l = calloc(1, sizeof(*l));
    struct finding f = { .kind = FOUND_UNCHECKED, .what = "hits", .offset = -1 };
    int rc;

    if (!l)
        return err_set(err, ERR_SYSTEM, "out of memory");
    l->audit = a;
    rc = blocks_read(a->options->anonymized, on_block, l, err);
    if (rc == 0)
        rc = read_messages(l, err);
    if (rc == 0) {
        judge_long(l);
        rc = judge_doubtful(l, err);
    }
    for (unsigned c = 0; c < SECRET_MAX; c++)
        if (a->leaks[c].findings >= LEAKS_MAX) {
            f.what = secret_class_name((enum secret_class)c);
            snprintf(f.text, sizeof(f.text), "no more than %d leaks of a class are listed",
                     LEAKS_MAX);
            audit_find(a, &f);
        }
    if (l->overflow) {
        f.what = "hits";
        snprintf(f.text, sizeof(f.text), "there are more than %d", HITS_MAX);
        audit_find(a, &f);
    }
    table_free(&l->contexts);
    free(l->mask);
    free(l->hits);
    free(l);
    return rc;
}
