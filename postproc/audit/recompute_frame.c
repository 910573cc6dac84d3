/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/recompute_frame.c
 *
 * Reads a block as a frame, says how much two blocks are alike, and finds what differs in them
 * beside payloads.  What only follows from another difference is passed over: hardware addresses
 * follow from those of IP, sequence numbers from lengths, checksums from all.  For recompute.c.
 * The contract is in recompute.h.
 */
#include "audit/recompute.h"
#include "link/pcapng_numbers.h"

/* RFC 791, RFC 8200, RFC 9293, RFC 768 */
enum { ETHERNET = 14, IPV4 = 20, IPV6 = 40, TCP = 20, UDP = 8, RECORD_MARK = 4, XID = 4 };
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };
enum { HEAD_MAX = ETHERNET + IPV6 + 60 };

void recompute_find(struct recompute *r, const char *what, const char *place,
                    const struct quote *expected, const struct quote *is, const char *text)
{
    struct finding f = { .kind = FOUND_RECOMPUTED,
                         .what = what,
                         .offset = -1,
                         .frame = r->file.frames,
                         .original_frame = r->original_frame };

    snprintf(f.place, sizeof(f.place), "%s", place);
    snprintf(f.text, sizeof(f.text), "%s", text);
    if (expected && is) {
        f.expected = *expected;
        f.anonymized = *is;
    }
    audit_find(r->audit, &f);
}

/* --- reading --- */

static bool read_frame(struct recompute_block *b)
{
    const uint8_t *p = b->frame;
    bool v4 = b->cap_len > ETHERNET + IPV4 && load_be16(p + 12) == 0x0800 && p[14] == 0x45;

    b->v6 = b->cap_len > ETHERNET + IPV6 && load_be16(p + 12) == 0x86dd;
    if (!v4 && !b->v6)
        return false;
    b->next = ETHERNET + (b->v6 ? IPV6 : IPV4);
    b->protocol = p[b->v6 ? 20 : 23];
    if (b->protocol == PROTOCOL_TCP && b->cap_len >= b->next + TCP)
        b->payload = b->next + (p[b->next + 12] >> 4) * 4u;
    else if (b->protocol == PROTOCOL_UDP)
        b->payload = b->next + UDP;
    return b->payload && b->payload <= b->cap_len && b->wire_len >= b->cap_len;
}

void recompute_read(struct recompute_block *b, const uint8_t *data, uint32_t len)
{
    uint32_t head;

    *b = (struct recompute_block){ .data = data, .len = len, .type = load_le32(data) };
    b->is_packet = b->type == PCAPNG_PACKET || b->type == PCAPNG_PACKET_SIMPLE ||
                   b->type == PCAPNG_PACKET_OBSOLETE;
    head = b->type == PCAPNG_PACKET ? PCAPNG_PACKET_HEAD : PCAPNG_PACKET_SIMPLE_HEAD;
    if (!b->is_packet || b->type == PCAPNG_PACKET_OBSOLETE || len < head + 4)
        return;
    b->time = TIME_NONE;
    b->cap_len = b->wire_len = load_le32(data + 8);
    if (b->type == PCAPNG_PACKET) {
        b->time = (int64_t)((uint64_t)load_le32(data + 12) << 32 | load_le32(data + 16));
        b->cap_len = load_le32(data + 20);
        b->wire_len = load_le32(data + 24);
    }
    b->frame = data + head;
    b->is_frame = b->cap_len <= len - head - 4 && read_frame(b);
}

/* --- finding what belongs together --- */

/* What stands where the first frame of a message has its XID. */
static uint64_t xid_of(const struct recompute_block *b)
{
    uint32_t at = b->payload + (b->protocol == PROTOCOL_TCP ? RECORD_MARK : 0);

    return at + XID <= b->cap_len ? load_be32(b->frame + at) : UINT64_MAX;
}

static uint8_t flags_of(const struct recompute_block *b)
{
    return b->protocol == PROTOCOL_TCP ? b->frame[b->next + 13] : 0;
}

unsigned recompute_alike(const struct recompute_block *e, const struct recompute_block *n)
{
    bool same_way;

    if (!e->is_frame || !n->is_frame)
        return e->type == n->type ? RECOMPUTE_ALIKE : 0;
    same_way = e->v6 == n->v6 && e->protocol == n->protocol && flags_of(e) == flags_of(n) &&
               memcmp(e->frame + e->next, n->frame + n->next, 4) == 0; /* ports */
    return (e->time == n->time) + same_way + (xid_of(e) == xid_of(n)) +
           (e->wire_len == n->wire_len);
}

/* --- comparing --- */

struct pair { /* heads of two frames, in which is zeroed what was looked at */
    struct recompute *r;
    const struct recompute_block *e, *n;
    uint8_t ours[HEAD_MAX], theirs[HEAD_MAX];
};

static bool pass_over(struct pair *p, uint32_t at, uint32_t len)
{
    bool same = memcmp(p->ours + at, p->theirs + at, len) == 0;

    memset(p->ours + at, 0, len);
    memset(p->theirs + at, 0, len);
    return same;
}

static struct quote quote_at(const uint8_t *p, uint32_t len, bool number)
{
    return !number ? quote_bytes(p, len) : quote_number(len == 2 ? load_be16(p) : load_be32(p));
}

static bool check(struct pair *p, const char *what, const char *place, uint32_t at, uint32_t len,
                  bool number)
{
    struct quote ours = quote_at(p->ours + at, len, number),
                 theirs = quote_at(p->theirs + at, len, number);

    if (pass_over(p, at, len))
        return true;
    recompute_find(p->r, what, place, &ours, &theirs, "");
    return false;
}

static bool check_ip(struct pair *p)
{
    bool v6 = p->e->v6, same_lengths = p->e->wire_len == p->n->wire_len;
    uint32_t width = v6 ? 16 : 4, addresses = v6 ? 22 : 26;
    bool same = check(p, "address", "IP source", addresses, width, false);

    same &= check(p, "address", "IP destination", addresses + width, width, false);
    if (same) /* else these follow from them */
        same = check(p, "hardware", "hardware addresses", 0, 12, false);
    else
        pass_over(p, 0, 12);
    if (!v6)
        same &= check(p, "ip", "IP identification", 18, 2, true);
    if (!same_lengths)
        pass_over(p, v6 ? 18 : 16, 2);
    return same;
}

static bool check_next(struct pair *p)
{
    uint32_t next = p->e->next;
    bool same = check(p, "port", "source port", next, 2, true);

    same &= check(p, "port", "destination port", next + 2, 2, true);
    if (p->e->protocol == PROTOCOL_UDP) {
        if (p->e->wire_len != p->n->wire_len)
            pass_over(p, next + 4, 2);
        return same;
    }
    same &= check(p, "tcp", "TCP flags", next + 13, 1, false);
    if (p->r->lengths_differ) {
        pass_over(p, next + 4, 8);
        return same;
    }
    same &= check(p, "tcp", "TCP sequence number", next + 4, 4, true);
    return check(p, "tcp", "TCP acknowledgement", next + 8, 4, true) && same;
}

static void check_heads(struct recompute *r, const struct recompute_block *e,
                        const struct recompute_block *n)
{
    struct pair p = { .r = r, .e = e, .n = n };
    bool tcp = e->protocol == PROTOCOL_TCP, same, sums;
    bool same_payload =
        e->cap_len == n->cap_len &&
        memcmp(e->frame + e->payload, n->frame + e->payload, e->cap_len - e->payload) == 0;

    memcpy(p.ours, e->frame, e->payload);
    memcpy(p.theirs, n->frame, e->payload);
    same = check_ip(&p);
    same &= check_next(&p);
    sums = e->v6 || pass_over(&p, 24, 2);
    sums &= pass_over(&p, e->next + (tcp ? 16 : 6), 2);
    if (memcmp(p.ours, p.theirs, e->payload) != 0)
        recompute_find(r, "header", "IP, TCP or UDP header", NULL, NULL,
                       "other bytes in it differ");
    else if (!sums && same && same_payload && e->wire_len == n->wire_len && !r->lengths_differ)
        recompute_find(r, "checksum", "IP, TCP or UDP header", NULL, NULL,
                       "a checksum differs, and nothing else does");
}

/* What another version of the program has written says so there. */
static void check_section(struct recompute *r)
{
    struct audit *a = r->audit;

    if (strcmp(a->provenance, "anonymized by nfsdigest " NFSDIGEST_VERSION) != 0)
        a->recomputed.other_version = true;
    else
        recompute_find(r, "section", "section header", NULL, NULL,
                       "it does not name this policy as it is now, or was changed");
}

static void check_frame_block(struct recompute *r, const struct recompute_block *e,
                              const struct recompute_block *n)
{
    struct quote ours = quote_number((uint64_t)e->time), theirs = quote_number((uint64_t)n->time);
    uint32_t behind = (uint32_t)(e->frame - e->data) + e->cap_len;

    if (e->time != n->time)
        recompute_find(r, "time", "time of a frame, ns", &ours, &theirs, "");
    if (e->type != n->type || (e->type == PCAPNG_PACKET && load_le32(n->data + 8)) ||
        (e->cap_len == n->cap_len &&
         (e->len != n->len || memcmp(e->data + behind, n->data + behind, e->len - behind) != 0)))
        recompute_find(r, "block", "block of a frame", NULL, NULL,
                       "its type, interface, options or padding differ");
    if (e->v6 != n->v6 || e->protocol != n->protocol || e->payload != n->payload ||
        e->payload > HEAD_MAX) {
        recompute_find(r, "header", "IP, TCP or UDP header", NULL, NULL,
                       "other protocols than they should be");
        return;
    }
    check_heads(r, e, n);
    if (e->protocol == PROTOCOL_TCP && e->wire_len != n->wire_len)
        r->lengths_differ = true;
}

void recompute_blocks(struct recompute *r, const struct recompute_block *e,
                      const struct recompute_block *n)
{
    if (e->type == PCAPNG_SECTION)
        check_section(r);
    else if (e->type == PCAPNG_STATISTICS)
        recompute_find(r, "totals", "statistics at the end", NULL, NULL,
                       "they are not what anonymizing counts");
    else if (e->is_frame && n->is_frame)
        check_frame_block(r, e, n);
    else
        recompute_find(r, "block", "a block", NULL, NULL, "it holds something else");
}
