/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/leak.c
 *
 * First every byte of the file is searched, and every hit is noted with its place.  Then the
 * messages are read again.  They show which hits are in values that are meant to stay, and they
 * reveal secrets that are split over segments.  A hit that no message explains is a finding.  Short
 * secrets, and those inside pseudonyms (except in the parts that are kept), are findings only if
 * there are more than chance gives.  Chance is estimated from the bytes that depend on the key.
 */
#include "audit/blocks.h"
#include "audit/leak.h"
#include "audit/slab.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/queue.h"

#include <stdlib.h>

enum {
    TAIL = 3, /* zeros that a file has behind a message at the most */
};
_Static_assert(TAIL <= (int)MESSAGE_TAIL, "a message has them");

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

/* Pseudonyms have each value that their kind allows: a few bytes of them, fewest of texts, are soon
 * like a secret.  Whether all bytes of one that may not stay lie in such; contents that are zeros
 * otherwise are none.  |run|: the longest row of these bytes. */
struct run {
    uint32_t at, len;
};

static bool is_in_pseudonyms(const struct leak *l, const struct secret *s, uint32_t at,
                             struct run *run)
{
    const struct audit *a = l->audit;
    const struct item *item = NULL;
    struct run now = { 0, 0 };

    *run = now;
    for (uint32_t i = 0; i < s->len; i++) {
        if (l->mask[at + i]) {
            now = (struct run){ i + 1, 0 };
            continue;
        }
        if (!item || at + i >= item->offset + item->len)
            item = l->items.count ? &l->items.all[leak_item_at(&l->items, at + i)] : NULL;
        if (!item || at + i < item->offset || at + i >= item->offset + item->len ||
            (item->cls == CLASS_DATA && (a->data_zero || !a->data_noise)))
            return false;
        now.len++;
        if (now.len > run->len)
            *run = now;
    }
    return true;
}

/* A short secret that lies across the border of two values: one of them may come thousands of times
 * with ever other neighbours, as an fsid before fileids does.  Then only its neighbour's bytes are
 * chance, so of |run| the shortest part within one value is what counts.  Whether there is a
 * border. */
static bool keep_shortest_part(const struct leak *l, uint32_t at, struct run *run)
{
    struct run shortest = *run, now;
    uint32_t end = run->at + run->len;

    for (now.at = run->at; now.at < end; now.at += now.len) {
        const struct item *item = &l->items.all[leak_item_at(&l->items, at + now.at)];
        uint32_t left = item->offset + item->len - (at + now.at);

        now.len = left < end - now.at ? left : end - now.at;
        if (now.len < shortest.len)
            shortest = now;
    }
    now = *run;
    *run = shortest;
    return shortest.len < now.len;
}

/* A doubtful hit in a value that had it there before: the value is what counts. */
static bool is_known_value(struct leak *l, uint32_t secret, uint32_t at, uint32_t len)
{
    const struct item *item = &l->items.all[leak_item_at(&l->items, at)];
    uint64_t hash;
    uint32_t place;

    if (!l->items.count || at < item->offset || at + len > item->offset + item->len)
        return false;
    hash = XXH3_64bits_withSeed(item->data, item->len,
                                ~((uint64_t)(at - item->offset) << 32 | secret));
    if (table_first(&l->contexts, hash, &place) != TABLE_NONE)
        return true;
    if (l->contexts.used < HITS_MAX && table_add(&l->contexts, hash, 0) < 0)
        l->overflow = true;
    return false;
}

static int on_message_hit(void *ctx, uint32_t index, size_t at, struct err *err)
{
    struct leak *l = ctx;
    const struct secret *s = leak_secret(l, index);
    const struct audit_message *m = l->message;
    struct hit *raw = NULL;
    unsigned free_bytes = 0;
    struct run run;
    bool in_pseudonyms = is_in_pseudonyms(l, s, (uint32_t)at, &run), explained;
    bool is_long = s->len >= SECRET_LONG && !in_pseudonyms;
    bool crosses =
        in_pseudonyms && s->len < SECRET_LONG && keep_shortest_part(l, (uint32_t)at, &run);

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
        explained = is_known_value(l, index, (uint32_t)at + run.at, run.len ? run.len : s->len);
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
        raw->crosses = crosses;
        raw->free_at = (uint8_t)run.at;
        raw->free_len = run.len < s->len ? (uint8_t)run.len : 0;
    }
    if (!raw && at + s->len > m->cap_len) /* these zeros are not there */
        return 0;
    if (is_long && !explained &&
        !allow_covers(&l->audit->allow, m->data, m->cap_len + TAIL, at, s->len))
        leak_find(l, s, raw, (uint32_t)at);
    return 0;
}

/* Of zeros and ones. */
static uint64_t sum_of(const uint8_t *p, uint32_t len)
{
    uint64_t sum = 0;
    uint32_t i = 0;

    for (; len - i >= 8; i += 8)
        sum += load_le64(p + i) * UINT64_C(0x0101010101010101) >> 56;
    for (; i < len; i++)
        sum += p[i];
    return sum;
}

/* Which bytes that depend on the key follow which.  Values that come again tell nothing new. */
static int chain_message(struct leak *l, struct err *err)
{
    enum { OTHERS = ITEM_CLASSES + 8 }; /* other places of the memory than gather.c's */
    const struct audit_message *m = l->message;

    for (uint32_t i = 0; i < l->items.count; i++) {
        const struct item *item = &l->items.all[i];

        if (!item->len || item->offset + item->len > m->cap_len ||
            gather_is_seen(l->audit, OTHERS + item->cls, item->data, item->len))
            continue;
        for (uint32_t at = 0, end; at < item->len; at = end + 1) {
            const uint8_t *from = l->mask + item->offset + at;
            const uint8_t *kept = memchr(from, 1, item->len - at);

            end = kept ? at + (uint32_t)(kept - from) : item->len;
            chains_bytes(&l->audit->chains, item->data + at, end - at);
        }
        if (encoded_value(l->audit, m, &l->items, i, l->mask + item->offset, err) < 0)
            return -err->code;
    }
    l->audit->message_kept_bytes += sum_of(l->mask, m->cap_len);
    l->audit->message_bytes += m->cap_len;
    return 0;
}

/* The end of what stands before a message, a record mark or a UDP checksum, with its first bytes,
 * which may stay.  The mark follows from the message's length. */
static void explain_lead(struct leak *l)
{
    enum { MARK = 4, CHECKSUM = 2, IP_TCP = 6 };
    const struct audit_message *m = l->message;
    bool tcp = m->transport == IP_TCP;
    uint8_t mark[MARK];

    store_be32(mark, 0x80000000u | m->wire_len);
    for (uint32_t i = first_hit(l, m->first_frame);
         i < l->count && l->hits[i].frame == m->first_frame; i++) {
        struct hit *hit = &l->hits[i];
        const struct secret *s = leak_secret(l, hit->secret);
        uint32_t lead_most = tcp ? MARK : CHECKSUM;

        for (uint32_t lead = 1; hit->state == HIT_OPEN && lead <= lead_most && lead < s->len;
             lead++) {
            uint32_t rest = s->len - lead, free_bytes = tcp ? 0 : lead;

            if (rest > m->cap_len || memcmp(s->data + lead, m->data, rest) != 0 ||
                (tcp && memcmp(s->data, mark + MARK - lead, lead) != 0))
                continue;
            for (uint32_t k = 0; k < rest; k++)
                free_bytes += !l->mask[k];
            if (free_bytes < EXPLAINED_BYTES)
                hit->state = HIT_EXPLAINED;
        }
    }
}

static int read_message(struct leak *l, const struct audit_message *m, struct err *err)
{
    size_t room = (size_t)m->cap_len + TAIL;

    if (GROW_TO(l->mask, room, l->room) < 0)
        return err_memory(err, "a message");
    l->message = m;
    memset(l->mask + m->cap_len, 1, TAIL);
    if (items_read(&l->items, m, err) < 0 || mask_message(l->audit, m, &l->items, l->mask, err) < 0)
        return -err->code;
    if (chain_message(l, err) < 0)
        return -err->code;
    explain_lead(l);
    return 0;
}

static void find_in_header(struct leak *l, uint64_t frame, const char *what,
                           const struct quote *quote)
{
    struct finding f = { .kind = FOUND_SAME_FIELD,
                         .what = what,
                         .offset = -1,
                         .frame = frame,
                         .original = *quote,
                         .anonymized = *quote };

    snprintf(f.place, sizeof(f.place), "the frame's headers");
    audit_find(l->audit, &f);
}

static int on_frame(void *ctx, uint64_t number, void *note, size_t len, struct err *err)
{
    struct leak *l = ctx;
    struct audit *a = l->audit;
    const struct peek *peek = note;
    struct quote quote;

    (void)len;
    (void)err;
    for (unsigned i = 0; i < peek->hardware_count; i++) {
        quote = quote_bytes(peek->hardware[i], 6);
        if (pair_side_has(&a->hardware, XXH3_64bits(peek->hardware[i], 6)))
            find_in_header(l, number, "hardware", &quote);
    }
    for (unsigned i = 0; i < peek->address_count; i++) {
        const struct address *address = &peek->address[i];
        struct pair_value value = { address->bytes, address_len(address) };

        quote = quote_bytes(address->bytes, address_len(address));
        if (secrets_have(&a->secrets, SECRET_ADDRESS, address->bytes, value.len) &&
            !pairs_is_pseudonym(&a->pairs, DOMAIN_ADDRESS, address->version == 4 ? 32 : 128, value))
            find_in_header(l, number, "address", &quote);
    }
    return 0;
}

/* --- ahead of them, in the source's thread --- */

static int look_at_frame(void *ctx, const struct frame *frame, struct buf *note, struct err *err)
{
    struct peek peek;

    (void)ctx;
    peek_frame(frame, &peek);
    return buf_append(note, &peek, sizeof(peek)) < 0 ? err_memory(err, "a frame's addresses") : 0;
}

/* Where a secret stands in a message, or that there are more than a note has. */
struct match {
    uint32_t secret, at;
};
enum { MATCHES_MAX = 4096, TOO_MANY = 1 };

static int note_match(void *ctx, uint32_t index, size_t at, struct err *err)
{
    const struct match match = { index, (uint32_t)at };
    struct buf *note = ctx;

    if (note->len == MATCHES_MAX * sizeof(match)) {
        ((struct match *)note->data)->secret = UINT32_MAX;
        return TOO_MANY;
    }
    return buf_append(note, &match, sizeof(match)) < 0 ? err_memory(err, "hits") : 0;
}

static int look_at_message(void *ctx, const struct audit_message *m, struct buf *note,
                           struct err *err)
{
    const struct leak *l = ctx;

    return search_bytes(l->audit->search, m->data, m->cap_len + TAIL, 0, m->cap_len, note_match,
                        note, err);
}

static int on_matches(struct leak *l, const struct match *match, size_t len, struct err *err)
{
    const struct audit_message *m = l->message;
    size_t count = len / sizeof(*match);
    int rc = 0;

    if (count && match->secret == UINT32_MAX)
        return search_bytes(l->audit->search, m->data, m->cap_len + TAIL, 0, m->cap_len,
                            on_message_hit, l, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = on_message_hit(l, match[i].secret, match[i].at, err);
    return rc;
}

static int read_messages(struct leak *l, struct err *err)
{
    const struct source_hooks hooks = { .frame = on_frame,
                                        .ctx = l,
                                        .look_at_frame = look_at_frame,
                                        .look_at_message = look_at_message,
                                        .look = l,
                                        .progress = l->audit->options->progress,
                                        .step = "searching messages of" };
    struct source *source =
        source_open(l->audit->options->anonymized, l->audit->options->engine, &hooks, err);
    struct audit_message *m;
    int rc = source ? 0 : -err->code;

    while (rc == 0 && (rc = source_next(source, &m, err)) == 1) {
        size_t len;
        const struct match *matches = source_note(source, &len);

        rc = read_message(l, m, err);
        if (rc == 0)
            rc = on_matches(l, matches, len, err);
        slab_put(m);
    }
    source_close(source);
    items_free(&l->items);
    l->message = NULL;
    return rc;
}

int leak_search(struct audit *a, struct err *err)
{
    struct leak *l = calloc(1, sizeof(*l));
    struct finding f = { .kind = FOUND_UNCHECKED, .what = "hits", .offset = -1 };
    int rc;

    if (!l)
        return err_memory(err, "the search");
    l->audit = a;
    rc = leak_search_file(l, err);
    if (rc == 0)
        rc = read_messages(l, err);
    if (rc == 0) {
        leak_judge_long(l);
        rc = leak_judge_doubtful(l, err);
        encoded_judge(a);
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
