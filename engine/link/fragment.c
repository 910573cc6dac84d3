/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment.c
 *
 * Joins IP fragments into datagrams: finds the set of a fragment, and checks whether it is
 * complete.  fragment_set.c keeps the sets, fragment_lost.c handles those that stay incomplete, and
 * fragment_save.c saves and restores.  For ip.c.  The contract is in fragment.h.
 */
#include "link/fragment.h"

#include "link/fragment_set.h"

#include <stdlib.h>
#include <string.h>

enum { PROTOCOL_UDP = 17 };

static bool is_older(int64_t time, int64_t now, int64_t age)
{
    uint64_t apart = now > time ? (uint64_t)now - (uint64_t)time : (uint64_t)time - (uint64_t)now;

    if (time == TIME_NONE || now == TIME_NONE)
        return false;
    return apart > (uint64_t)age; /* a clock that went back so far is as good as one forward */
}

static bool set_is_old(struct fragment_set *set, int64_t now)
{
    if (set->time == TIME_NONE) /* it ages from the first time that is known */
        set->time = now;
    return is_older(set->time, now, set->copy ? FRAGMENT_COPY_AGE : LINK_FRAGMENT_AGE);
}

/* Copies the blocks of |fragment| that |set| doesn't have; returns how many those are. */
static uint32_t take_blocks(struct fragment_set *set, const struct fragment *fragment)
{
    uint32_t block = fragment->offset / FRAGMENT_BLOCK, taken = 0;
    uint32_t stop = (fragment->offset + fragment->len + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK;

    while (block < stop) {
        uint32_t bit = block % 64, n = stop - block < 64 - bit ? stop - block : 64 - bit;
        uint64_t mask = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << bit;
        uint64_t *word = &set->filled[block / 64];

        if (*word & mask) { /* some are there: one by one */
            n = 1;
            mask = UINT64_C(1) << bit;
        }
        if (!(*word & mask)) {
            uint32_t from = block * FRAGMENT_BLOCK - fragment->offset, len = n * FRAGMENT_BLOCK;

            memcpy(set->data + block * FRAGMENT_BLOCK, fragment->data + from,
                   len < fragment->len - from ? len : fragment->len - from);
            *word |= mask;
            taken += n;
        }
        block += n;
    }
    set->blocks += taken;
    return taken;
}

/* What a fragment is to a set. */
enum relation { CONTRADICTS, REPEATS, ADDS };

static enum relation relation(const struct fragment_set *set, const struct fragment *piece)
{
    uint32_t end = piece->offset + piece->len, filled = 0, from, len;
    uint32_t block = piece->offset / FRAGMENT_BLOCK;
    uint32_t stop = (end + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK, blocks = stop - block;

    if ((set->total && (end > set->total || (!piece->more && end != set->total))) ||
        (!piece->more && end < set->end))
        return CONTRADICTS;
    if (piece->offset >= set->end)
        return ADDS;
    for (; block < stop; block++) {
        if (!fragment_set_has(set, block))
            continue;
        from = block * FRAGMENT_BLOCK - piece->offset;
        len = piece->len - from < FRAGMENT_BLOCK ? piece->len - from : FRAGMENT_BLOCK;
        if (memcmp(set->data + block * FRAGMENT_BLOCK, piece->data + from, len) != 0)
            return CONTRADICTS;
        filled++;
    }
    return filled == blocks ? REPEATS : ADDS;
}

/* Whether a fragment is what the sender sends behind the one that came last: senders begin at
 * either end. Where the begin of a set is lost, an end may be the begin of another datagram. */
static bool follows(const struct fragment_set *set, const struct fragment *piece)
{
    bool up = piece->offset == set->last_to, down = piece->offset + piece->len == set->last_from;

    if (is_older(set->last_time, piece->sent, FRAGMENT_GAP))
        return false;
    if (set->upward || set->downward)
        return (up && set->upward) || (down && set->downward);
    return (up || down) && piece->offset && piece->more;
}

/* Adds what |set| doesn't have. */
static int take(struct fragments *f, uint32_t slot, const struct fragment *piece)
{
    uint32_t end = piece->offset + piece->len, taken;
    struct fragment_set *set;

    if (fragment_set_reserve(f, slot, end) < 0)
        return -ERR_SYSTEM;
    set = &f->sets[slot];
    if (!set->fragments++)
        set->first_frame = piece->frame;
    taken = take_blocks(set, piece);
    if (taken < (piece->len + FRAGMENT_BLOCK - 1) / FRAGMENT_BLOCK)
        count(f->counters, COUNT_FRAGMENTS_OVERLAPPING);
    set->last_frame = piece->frame;
    set->last_time = piece->sent;
    set->last_from = piece->offset;
    set->last_to = end;
    if (!piece->more)
        set->total = end;
    if (end > set->end)
        set->end = end;
    if (piece->offset || set->first_len)
        return 0;
    set->first_len = piece->len;
    set->protocol = piece->protocol;
    return fragment_expect_answer(f, slot);
}

static int begin(struct fragments *f, const struct fragment *piece, bool shadow)
{
    uint32_t slot = fragment_set_new(f, &piece->key, piece->time);
    struct fragment_set *set;
    const struct fragment_done *done;

    if (slot == TABLE_NONE)
        return -ERR_SYSTEM;
    set = &f->sets[slot];
    done = &f->done[set->hash % FRAGMENT_DONE_MAX];
    set->shadow = shadow;
    set->upward = !piece->offset;
    set->downward = !piece->more;
    set->copy = done->hash == set->hash && !is_older(done->time, piece->time, FRAGMENT_COPY_AGE);
    return take(f, slot, piece);
}

/* Before a set is ended by a fragment: the one that came last may be of that one's datagram
 * already, when that begins out of order. */
static int end(struct fragments *f, uint32_t slot, const struct fragment *piece)
{
    const struct fragment_set *set = &f->sets[slot];
    uint32_t len = set->last_to - set->last_from;
    struct fragment last = *piece;
    uint8_t *data;
    int rc;

    if (set->fragments < 2 || is_older(set->last_time, piece->sent, FRAGMENT_GAP))
        return 0;
    if (!(data = malloc(len))) /* making room below may take the set */
        return -ERR_SYSTEM;
    memcpy(data, set->data + set->last_from, len);
    last.data = data;
    last.offset = set->last_from;
    last.len = len;
    last.more = set->last_to != set->total;
    last.frame = set->last_frame;
    last.time = set->last_time == TIME_NONE ? piece->time : set->last_time;
    last.sent = set->last_time;
    rc = begin(f, &last, true);
    if (rc == 0 && relation(&f->sets[f->newest], piece) == ADDS)
        rc = take(f, f->newest, piece);
    free(data);
    return rc;
}

/* Whether all that |set| has is in the datagram at |data|. */
static bool is_part(const struct fragment_set *set, const uint8_t *data, uint32_t len)
{
    if (set->end > len || (set->total && set->total != len))
        return false;
    for (uint32_t at = 0; at < set->end; at += FRAGMENT_BLOCK)
        if (fragment_set_has(set, at / FRAGMENT_BLOCK) &&
            memcmp(set->data + at, data + at,
                   set->end - at < FRAGMENT_BLOCK ? set->end - at : FRAGMENT_BLOCK) != 0)
            return false;
    return true;
}

static void deliver(struct fragments *f, uint32_t slot, int64_t now, struct datagram *datagram)
{
    struct fragment_set *set = &f->sets[slot];
    struct fragment_done *done = &f->done[set->hash % FRAGMENT_DONE_MAX];
    struct fragment_key key = set->key;
    uint32_t rivals[FRAGMENT_RIVALS + 2], n;
    uint64_t serial = set->serial;

    count(f->counters, COUNT_REASSEMBLED);
    *done = (struct fragment_done){ set->hash, now, { 0 } };
    memcpy(done->head, set->data, set->total < FRAGMENT_HEAD ? set->total : FRAGMENT_HEAD);
    free(f->assembled);
    f->assembled = set->data;
    datagram->data = set->data;
    datagram->len = set->total;
    datagram->protocol = set->protocol;
    f->bytes -= set->cap;
    set->cap = 0;
    set->data = NULL;
    fragment_set_remove(f, slot);
    n = fragment_sets_of(f, &key, rivals);
    for (uint32_t i = 0; i < n; i++) {
        const struct fragment_set *rival = &f->sets[rivals[i]];
        if (is_part(rival, datagram->data, datagram->len))
            fragment_set_remove(f, rivals[i]);
        else if (rival->doubtful || rival->serial < serial)
            fragment_give_up(f, rivals[i], datagram);
    }
}

static enum checksum verdict(const struct fragment_set *set)
{
    if (set->protocol != PROTOCOL_UDP) /* others are not looked at */
        return CHECKSUM_GOOD;
    return checksum_udp(&set->key.source, &set->key.destination, set->data, set->total);
}

/* Room for another set of a key. The oldest is the likeliest to be one datagram's, and what comes
 * now follows the youngest. */
static void make_way(struct fragments *f, const struct fragment_key *key)
{
    uint32_t slots[FRAGMENT_RIVALS + 2], n;

    while ((n = fragment_sets_of(f, key, slots)) >= FRAGMENT_RIVALS) {
        if (f->sets[slots[1]].doubtful)
            fragment_give_up(f, slots[1], NULL);
        else
            fragment_set_remove(f, slots[1]);
    }
}

/* Gives out a set that is complete, if there is one and nothing speaks against it. */
static int settle_complete(struct fragments *f, const struct fragment *piece,
                           struct datagram *datagram)
{
    uint32_t slots[FRAGMENT_RIVALS + 2], n = fragment_sets_of(f, &piece->key, slots),
                                         best = TABLE_NONE;
    enum checksum sum = CHECKSUM_NONE;
    bool rival = false;
    int trust;

    for (uint32_t i = 0; i < n && (best == TABLE_NONE || sum != CHECKSUM_GOOD); i++) {
        if (f->sets[slots[i]].doubtful)
            continue;
        if (fragment_set_whole(&f->sets[slots[i]])) {
            best = slots[i];
            sum = verdict(&f->sets[best]);
        }
    }
    if (best == TABLE_NONE)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        rival |= !fragment_set_whole(&f->sets[slots[i]]);
    trust = fragment_trust(f, &piece->key);
    if (sum == CHECKSUM_BAD && trust < 0)
        sum = CHECKSUM_NONE;
    if (sum == CHECKSUM_GOOD || (!rival && (sum == CHECKSUM_NONE || trust == 0))) {
        if (f->sets[best].protocol == PROTOCOL_UDP)
            fragment_note_checksum(f, &piece->key, sum);
        deliver(f, best, piece->time, datagram);
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct fragment_set *set = &f->sets[slots[i]];
        if (set->doubtful || !fragment_set_whole(set))
            continue;
        set->doubtful = (uint8_t)sum;
        fragment_set_due(f, slots[i], piece->time);
    }
    if (rival)
        return 0;
    make_way(f, &piece->key);
    return begin(f, piece, true);
}

/* What became of a fragment among the sets of its key. */
struct meeting {
    uint32_t kept; /* sets that stay */
    bool followed, repeated, had;
};

/* Gives a fragment to a set of its key; |last|: the youngest.  1 if the set stays, else 0 or
 * negative: no memory. */
static int meet(struct fragments *f, uint32_t slot, const struct fragment *piece, bool last,
                struct meeting *m)
{
    struct fragment_set *set = &f->sets[slot];
    uint64_t serial = set->serial;

    if (!serial) /* making room took it */
        return 0;
    if (set_is_old(set, piece->time)) {
        fragment_give_up(f, slot, NULL);
        return 0;
    }
    if (set->doubtful)
        return 1;
    switch (relation(set, piece)) {
    case CONTRADICTS:
        count(f->counters, COUNT_FRAGMENTS_CONFLICTING);
        if (last && end(f, slot, piece) < 0)
            return -ERR_SYSTEM;
        if (f->sets[slot].serial == serial)
            fragment_give_up(f, slot, NULL);
        return 0;
    case REPEATS:
        m->repeated = last && !is_older(set->last_time, piece->sent, FRAGMENT_GAP);
        m->had = true;
        break;
    case ADDS:
        m->followed |= follows(set, piece);
        if (take(f, slot, piece) < 0)
            return -ERR_SYSTEM;
        break;
    }
    return f->sets[slot].serial != 0;
}

int fragments_add(struct fragments *f, const struct fragment *fragment, struct datagram *datagram,
                  struct err *err)
{
    struct fragment piece = *fragment;
    uint32_t slots[FRAGMENT_RIVALS + 2], n;
    struct meeting m = { 0 };

    if (piece.more) /* a block that isn't whole can't be told from one that is: RFC 791 s2.3 */
        piece.len -= piece.len % FRAGMENT_BLOCK;
    if (!piece.len || piece.len > FRAGMENT_DATAGRAM_MAX - piece.offset ||
        piece.offset > FRAGMENT_DATAGRAM_MAX) {
        count(f->counters, COUNT_FRAGMENTS_MALFORMED);
        return 0;
    }
    while (f->used && set_is_old(&f->sets[f->oldest], piece.time))
        fragment_give_up(f, f->oldest, NULL);
    n = fragment_sets_of(f, &piece.key, slots);
    for (uint32_t i = 0; i < n; i++) {
        int rc = meet(f, slots[i], &piece, i + 1 == n, &m);
        if (rc < 0)
            return err_memory(err, "IP fragments");
        if (rc)
            slots[m.kept++] = slots[i];
    }
    if (m.had)
        count(f->counters, COUNT_FRAGMENTS_DUPLICATE);
    if (!m.followed && !m.repeated) {
        make_way(f, &piece.key);
        if (begin(f, &piece, m.kept > 0) < 0)
            return err_memory(err, "IP fragments");
    }
    switch (settle_complete(f, &piece, datagram)) {
    case 0:
        return 0;
    case 1:
        return 1;
    default:
        return err_memory(err, "IP fragments");
    }
}
