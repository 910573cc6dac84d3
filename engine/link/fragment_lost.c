/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment_lost.c
 *
 * Datagrams that lost a fragment, and doubtful ones: when they are given up, how much of them is
 * certain, and whose checksums can be trusted.  They wait in a list until fragments_lost returns
 * them.  For fragment.c, fragment_set.c and link.c.  The contract is in fragment.h and
 * fragment_set.h.
 */
#include "base/digest.h"
#include "link/fragment_set.h"

#include <stdlib.h>
#include <string.h>

enum { PROTOCOL_UDP = 17, UDP_HEADER = 8, XID = 4 };

int fragment_trust(const struct fragments *f, const struct fragment_key *key)
{
    size_t at = XXH3_64bits(&key->source, sizeof(key->source)) % FRAGMENT_SOURCES;

    return (f->sources[at].good > f->sources[at].bad) - (f->sources[at].good < f->sources[at].bad);
}

void fragment_note_checksum(struct fragments *f, const struct fragment_key *key, enum checksum sum)
{
    size_t at = XXH3_64bits(&key->source, sizeof(key->source)) % FRAGMENT_SOURCES;

    f->surprises += (sum == CHECKSUM_BAD && f->sources[at].good) ||
                    (sum == CHECKSUM_GOOD && f->sources[at].bad);
    f->sources[at].good += sum == CHECKSUM_GOOD;
    f->sources[at].bad += sum == CHECKSUM_BAD;
}

/* What the datagram with this header and XID is known by to its answer. */
static uint64_t answer_hash(const struct address *client, const struct address *server,
                            uint16_t client_port, uint16_t server_port, const uint8_t *xid)
{
    struct {
        struct address client, server;
        uint16_t client_port, server_port;
        uint8_t xid[XID];
    } key;
    uint64_t hash;

    memset(&key, 0, sizeof(key));
    key.client = *client;
    key.server = *server;
    key.client_port = client_port;
    key.server_port = server_port;
    memcpy(key.xid, xid, XID);
    hash = XXH3_64bits(&key, sizeof(key));
    return hash ? hash : 1;
}

int fragment_expect_answer(struct fragments *f, uint32_t slot)
{
    struct fragment_set *set = &f->sets[slot];
    const uint8_t *p = set->data;

    if (set->protocol != PROTOCOL_UDP || set->end < UDP_HEADER + XID ||
        !fragment_set_has(set, UDP_HEADER / FRAGMENT_BLOCK))
        return 0;
    set->answer = answer_hash(&set->key.source, &set->key.destination, load_be16(p),
                              load_be16(p + 2), p + UDP_HEADER);
    if (table_add(&f->answers, set->answer, slot) == 0)
        return 0;
    set->answer = 0;
    return -ERR_SYSTEM;
}

/* How many bytes are of this set's datagram for sure. What lies behind the first fragment may be of
 * another; the first one, too, when a younger rival or the delivered datagram has it. */
static uint32_t certain(const struct fragments *f, uint32_t slot, const struct datagram *delivered)
{
    const struct fragment_set *set = &f->sets[slot];
    uint32_t rivals[FRAGMENT_RIVALS + 2], n = fragment_sets_of(f, &set->key, rivals);

    for (uint32_t i = 0; i < n; i++)
        if (f->sets[rivals[i]].serial > set->serial && f->sets[rivals[i]].first_len &&
            !memcmp(f->sets[rivals[i]].data, set->data, FRAGMENT_BLOCK))
            return 0;
    if (delivered && delivered->len >= FRAGMENT_BLOCK &&
        !memcmp(delivered->data, set->data, FRAGMENT_BLOCK))
        return 0;
    return set->first_len;
}

/* A copy of a datagram that was complete: nothing of it is lost. */
static bool is_copy(const struct fragments *f, const struct fragment_set *set)
{
    const struct fragment_done *done = &f->done[set->hash % FRAGMENT_DONE_MAX];

    return set->copy && (!set->first_len || done->hash != set->hash || set->end < FRAGMENT_HEAD ||
                         !memcmp(done->head, set->data, FRAGMENT_HEAD));
}

void fragment_give_up(struct fragments *f, uint32_t slot, const struct datagram *delivered)
{
    struct fragment_set *set = &f->sets[slot];
    bool whole = set->doubtful && !delivered &&
                 (set->doubtful == CHECKSUM_NONE || fragment_trust(f, &set->key) < 0);
    uint32_t len = 0;

    if (!whole && is_copy(f, set)) {
        f->counters->kinds[COUNT_FRAGMENTS_DUPLICATE] += set->fragments;
        fragment_set_remove(f, slot);
        return;
    }
    if (whole)
        count(f->counters, COUNT_REASSEMBLED);
    else if (!set->shadow)
        count(f->counters, COUNT_INCOMPLETE);
    if (set->first_len && set->protocol == PROTOCOL_UDP)
        len = whole ? set->total : certain(f, slot, delivered);
    if (len < UDP_HEADER + XID) {
        fragment_set_remove(f, slot);
        return;
    }
    fragment_set_unlink(f, slot);
    set->end = len;
    if (!whole)
        set->doubtful = 0;
    set->newer = TABLE_NONE;
    *(f->lost == TABLE_NONE ? &f->lost : &f->sets[f->last_lost].newer) = slot;
    f->last_lost = slot;
}

int fragments_lost(struct fragments *f, struct datagram *datagram)
{
    uint32_t slot = f->lost;
    struct fragment_set *set;

    free(f->remains);
    f->remains = NULL;
    if (slot == TABLE_NONE)
        return 0;
    set = &f->sets[slot];
    *datagram = (struct datagram){ .data = set->data,
                                   .len = set->end,
                                   .protocol = set->protocol,
                                   .source = set->key.source,
                                   .destination = set->key.destination,
                                   .wire_len = load_be16(set->data + 4),
                                   .first_frame = set->first_frame,
                                   .frame = set->last_frame,
                                   .time = set->last_time };
    if (set->doubtful || datagram->wire_len < datagram->len)
        datagram->wire_len = datagram->len;
    f->remains = set->data;
    f->lost = set->newer;
    set->data = NULL;
    set->newer = f->free;
    f->free = slot;
    return 1;
}

void fragment_set_due(struct fragments *f, uint32_t slot, int64_t now)
{
    int64_t due = now > INT64_MAX - FRAGMENT_DOUBT ? INT64_MAX - 1 : now + FRAGMENT_DOUBT;

    if (now == TIME_NONE)
        return;
    if (due < f->sets[slot].due)
        f->sets[slot].due = due;
    if (due < f->due)
        f->due = due;
}

void fragments_answered(struct fragments *f, const struct ip_payload *ip, struct bytes datagram,
                        int64_t now)
{
    const uint8_t *data = datagram.data;
    uint64_t hash;
    uint32_t at, slot;

    if (!f->answers.used || datagram.len < UDP_HEADER + XID)
        return;
    hash = answer_hash(&ip->destination, &ip->source, load_be16(data + 2), load_be16(data),
                       data + UDP_HEADER);
    for (slot = table_first(&f->answers, hash, &at); slot != TABLE_NONE;
         slot = table_next(&f->answers, hash, &at))
        fragment_set_due(f, slot, now);
}

void fragments_end(struct fragments *f)
{
    while (f->used)
        fragment_give_up(f, f->oldest, NULL);
    f->due = INT64_MAX;
}

void fragments_settle(struct fragments *f, int64_t now)
{
    uint32_t next;

    if (now < f->due)
        return;
    f->due = INT64_MAX;
    for (uint32_t slot = f->oldest; slot != TABLE_NONE; slot = next) {
        const struct fragment_set *set = &f->sets[slot];
        next = set->newer;
        if (set->due == INT64_MAX)
            continue;
        if (set->due <= now)
            fragment_give_up(f, slot, NULL);
        else if (set->due < f->due)
            f->due = set->due;
    }
}
