/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/listings.c
 *
 * Listings in several parts, which wait until both servers' have ended: servers cut them
 * differently.  Names that clients change meanwhile are noted: a server may or may not list them.
 */
#include "base/escape.h"
#include "base/grow.h"
#include "teelog/teelog_parts.h"

#include <stdlib.h>
#include <string.h>

#define OF_COOKIES (UINT64_C(1) << 63) /* in numbers of listings that the cookies tell */

void tee_listing_free(struct teelog *log, struct tee_listing *l)
{
    log->listing_bytes -= l->bytes;
    for (int side = 0; side < SIDES; side++) {
        for (uint32_t i = 0; i < l->count[side]; i++)
            free(l->parts[side][i].operation);
        free(l->parts[side]);
    }
    for (uint32_t i = 0; i < l->changed_count; i++)
        free(l->changed[i]);
    free(l->changed);
    *l = (struct tee_listing){ .number = 0 };
}

static void give_up_oldest(struct teelog *log, const struct tee_listing *except)
{
    struct tee_listing *oldest = NULL;

    for (uint32_t i = 0; i < TEELOG_LISTINGS; i++) {
        struct tee_listing *l = &log->listings[i];

        if (l->number && l != except && (!oldest || l->order < oldest->order))
            oldest = l;
    }
    if (!oldest)
        return;
    tee_listing_free(log, oldest);
    log->counts.listings_left++;
}

static struct tee_listing *find(struct teelog *log, uint64_t number)
{
    for (uint32_t i = 0; i < TEELOG_LISTINGS; i++)
        if (log->listings[i].number == number)
            return &log->listings[i];
    return NULL;
}

void tee_listings_drop(struct teelog *log, uint32_t object)
{
    for (uint32_t i = 0; i < TEELOG_LISTINGS; i++)
        if (log->listings[i].number && log->listings[i].object == object) {
            tee_listing_free(log, &log->listings[i]);
            log->counts.listings_left++;
        }
}

/* --- by cookies */

static int take_cookie(void *ctx, const struct effect_entry *entry)
{
    *(uint64_t *)ctx = entry->cookie;
    return 0;
}

static bool is_whole(const struct effect *e)
{
    return !e->succeeded || (e->has_eof && e->eof);
}

static struct tee_listing *find_open(struct teelog *log, const struct tee_pair *pair,
                                     uint64_t cookie)
{
    const struct record_operation *op = pair->reference;

    for (uint32_t i = 0; i < TEELOG_LISTINGS; i++) {
        struct tee_listing *l = &log->listings[i];

        if (l->number & OF_COOKIES && l->object == pair->object[TEE_OBJECT] &&
            l->flow == op->flow && l->procedure == op->procedure && l->next == cookie)
            return l;
    }
    return NULL;
}

void tee_listing_of(struct teelog *log, struct tee_pair *pair)
{
    const struct effect *e = &log->pair.half[REF].effect;
    struct tee_listing *l = NULL;
    uint64_t last = e->asked.cookie;

    if (effect_action(e) != ACTION_LIST || pair->listing || !pair->object[TEE_OBJECT])
        return;
    if (e->asked.cookie && !(l = find_open(log, pair, e->asked.cookie)))
        return;
    if (!l && is_whole(e) && is_whole(&log->pair.half[SUT].effect))
        return;
    effect_entries(e, take_cookie, &last);
    pair->listing = l ? l->number : OF_COOKIES | ++log->listing_numbers;
    pair->listing_ends = is_whole(e);
    log->next_cookie = last;
}

/* --- parts */

static int add_part(struct teelog *log, struct tee_listing *l, int side,
                    const struct record_operation *op, struct err *err)
{
    struct record_operation *kept = op ? tee_operation_keep(op) : NULL;
    uint64_t bytes;

    if (!op)
        return 0;
    if (!kept || GROW(l->parts[side], l->count[side], l->cap[side]) < 0) {
        free(kept);
        return err_memory(err, "a listing");
    }
    l->parts[side][l->count[side]++].operation = kept;
    bytes = sizeof(*kept) + kept->arguments.len + kept->result.len;
    l->bytes += bytes;
    log->listing_bytes += bytes;
    return 0;
}

static int note_name(struct tee_listing *l, struct bytes name, struct err *err)
{
    struct buf text = { 0 };

    if (!name.len || l->crowded)
        return 0;
    if (l->changed_count == NAMES_CHANGED_MAX) {
        l->crowded = true;
        return 0;
    }
    if (escape_name(name, false, &text) < 0 || buf_append(&text, "", 1) < 0 ||
        GROW(l->changed, l->changed_count, l->changed_cap) < 0) {
        buf_free(&text);
        return err_memory(err, "a listing");
    }
    l->changed[l->changed_count++] = (char *)text.data;
    return 0;
}

int tee_listing_take(struct teelog *log, const struct tee_pair *pair,
                     const struct record_operation *sut, struct tee_listing **listing,
                     struct err *err)
{
    struct tee_listing *l = find(log, pair->listing);
    struct bytes left = pair->changing;

    if (!l && !(l = find(log, 0))) {
        give_up_oldest(log, NULL);
        l = find(log, 0);
    }
    if (!l->number) {
        l->number = pair->listing;
        l->order = ++log->listing_order;
        l->pair = *pair;
        l->known = true;
        l->object = pair->object[TEE_OBJECT];
    }
    l->next = log->next_cookie;
    if (pair->reference) {
        l->flow = pair->reference->flow;
        l->procedure = pair->reference->procedure;
    }
    l->overlap |= pair->overlap;
    l->known &= pair->known[TEE_OBJECT];
    l->names_left |= pair->names_left;
    *listing = l;
    while (left.len)
        if (note_name(l, tee_next_name(&left), err) < 0)
            return -err->code;
    if (add_part(log, l, REF, pair->reference, err) < 0 || add_part(log, l, SUT, sut, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < pair->further_count; i++)
        if (tee_sut_read(log, &pair->further[i], err) < 0 ||
            add_part(log, l, SUT, log->sut.last, err) < 0)
            return -err->code;
    while (log->listing_bytes > TEELOG_LISTING_BYTES && log->listing_bytes > l->bytes)
        give_up_oldest(log, l);
    l->crowded |= l->bytes > TEELOG_LISTING_BYTES;
    return 0;
}

int teelog_names(struct teelog *log, const uint32_t object[TEE_OBJECTS], const struct effect *e,
                 struct err *err)
{
    for (uint32_t i = 0; effect_changes_names(e) && i < TEELOG_LISTINGS; i++) {
        struct tee_listing *l = &log->listings[i];

        if (!l->number)
            continue;
        if (l->pair.object[TEE_OBJECT] == object[TEE_OBJECT] && note_name(l, e->name, err) < 0)
            return -err->code;
        if (l->pair.object[TEE_OBJECT] == object[TEE_PARENT2] && note_name(l, e->name2, err) < 0)
            return -err->code;
    }
    return 0;
}

static bool is_noted(const struct tee_listing *l, struct bytes name)
{
    struct buf text = { 0 };
    bool found = false;

    if (l->changed_count && escape_name(name, false, &text) == 0 && buf_append(&text, "", 1) == 0)
        for (uint32_t i = 0; !found && i < l->changed_count; i++)
            found = strcmp((const char *)text.data, l->changed[i]) == 0;
    buf_free(&text);
    return found;
}

bool tee_is_changing(const struct teelog *log, struct bytes name)
{
    struct bytes left = log->changing;

    if (log->listing)
        return is_noted(log->listing, name);
    while (left.len) {
        struct bytes one = tee_next_name(&left);

        if (one.len == name.len && memcmp(one.data, name.data, one.len) == 0)
            return true;
    }
    return false;
}
