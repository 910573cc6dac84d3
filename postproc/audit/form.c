/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/form.c
 *
 * Checks the blocks of a file: their order, lengths, options, and the texts of their comments.  The
 * first fault of a block is the one that is told.  form_frame.c checks the frames.  For audit.c.
 * The contract is in form.h.
 */
#include "audit/form.h"

#include <stdio.h>
#include <string.h>

/* draft-ietf-opsawg-pcapng s4; everything stands in little-endian order */
enum {
    OPTION_COMMENT = 1,
    OPTION_APPLICATION = 4,
    OPTION_RESOLUTION = 9,
    PACKET_HEAD = 28,
    SIMPLE = 3,
    SIMPLE_HEAD = 12
};

/* --- options, of which each must be the expected one --- */

struct cursor {
    const uint8_t *data;
    uint32_t at, end;
};

static bool next_option(struct cursor *c, unsigned code, const char **text, uint32_t *len)
{
    uint32_t padded;

    if (c->end - c->at < 4 || load_le32(c->data + c->at) << 16 >> 16 != code)
        return false;
    *len = load_le32(c->data + c->at) >> 16;
    padded = (*len + 3) & ~3u;
    if (padded > c->end - c->at - 4 || !bytes_are_zeros(c->data + c->at + 4 + *len, padded - *len))
        return false;
    *text = (const char *)c->data + c->at + 4;
    c->at += 4 + padded;
    return true;
}

static bool at_end(const struct cursor *c)
{
    return c->end - c->at == 4 && bytes_are_zeros(c->data + c->at, 4);
}

/* --- the texts in them --- */

struct text {
    const char *at, *end;
};

static bool take(struct text *t, const char *expected)
{
    size_t len = strlen(expected);

    if ((size_t)(t->end - t->at) < len || memcmp(t->at, expected, len) != 0)
        return false;
    t->at += len;
    return true;
}

static uint32_t take_all(struct text *t, const char *letters)
{
    const char *from = t->at;

    while (t->at < t->end && *t->at && strchr(letters, *t->at))
        t->at++;
    return (uint32_t)(t->at - from);
}

static bool is_provenance(struct form *f, const char *text, uint32_t len)
{
    struct text t = { text, text + len };
    uint32_t n;

    if (!take(&t, "anonymized by nfsdigest "))
        return false;
    n = take_all(&t, "0123456789.");
    if (!n || n >= sizeof(f->version))
        return false;
    memcpy(f->version, t.at - n, n);
    if (!take(&t, "\npolicy "))
        return false;
    n = take_all(&t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    return n && n < 64 && take(&t, ", SHA-256 ") && take_all(&t, "0123456789abcdef") == 64 &&
           t.at == t.end;
}

static bool is_application(const struct form *f, const char *text, uint32_t len)
{
    struct text t = { text, text + len };

    return take(&t, "nfsdigest ") && take(&t, f->version) && t.at == t.end;
}

/* "messages.whole 12": of these groups, no name with other letters. */
static bool is_totals(const char *text, uint32_t len)
{
    static const char *const groups[] = { "messages.", "written.", "held.",    "path.",
                                          "lost.",     "input.",   "changed.", "kept." };
    struct text t = { text, text + len };

    while (t.at < t.end) {
        unsigned i = 0;
        uint32_t n;

        while (i < sizeof(groups) / sizeof(*groups) && !take(&t, groups[i]))
            i++;
        n = take_all(&t, "abcdefghijklmnopqrstuvwxyz_");
        if (i == sizeof(groups) / sizeof(*groups) || !n || n > 20 || !take(&t, " "))
            return false;
        n = take_all(&t, "0123456789");
        if (!n || n > 20 || !take(&t, "\n"))
            return false;
    }
    return true;
}

/* --- blocks --- */

static bool check_section(struct form *f, const struct block *b, struct form_fault *fault)
{
    struct cursor c = { b->data, 24, b->len - 4 };
    const char *text;
    uint32_t len;

    if (f->stage || b->len < 32)
        return form_fails(fault, "block", "a section header that should not be here");
    f->stage = 1;
    if (load_le32(b->data + 8) != 0x1a2b3c4d || load_le32(b->data + 12) != 1 ||
        load_le64(b->data + 16) != UINT64_MAX)
        return form_fails(fault, "block", "another kind of section header");
    if (!next_option(&c, OPTION_COMMENT, &text, &len) || !is_provenance(f, text, len))
        return form_fails(fault, "option", "the section's comment is not that of the anonymizer");
    if (!next_option(&c, OPTION_APPLICATION, &text, &len) || !is_application(f, text, len))
        return form_fails(fault, "option", "the application is not the one of the comment");
    return at_end(&c) || form_fails(fault, "option", "further options of the section");
}

static bool check_interface(struct form *f, const struct block *b, struct form_fault *fault)
{
    static const uint8_t expected[24] = { 1, 0, 0, 0, 0, 0, 0, 0, OPTION_RESOLUTION, 0, 1, 0, 9 };

    if (f->stage != 1)
        return form_fails(fault, "block", "an interface that should not be here");
    f->stage = 2;
    return (b->len == 32 && memcmp(b->data + 8, expected, 20) == 0) ||
           form_fails(fault, "option", "the interface has other properties or options");
}

static bool check_statistics(struct form *f, const struct block *b, struct form_fault *fault)
{
    struct cursor c = { b->data, 20, b->len - 4 };
    const char *text;
    uint32_t len;
    int64_t time;

    if (f->stage != 2 || f->ended || b->len < 28)
        return form_fails(fault, "block", "statistics that should not be here");
    f->ended = true;
    time = (int64_t)((uint64_t)load_le32(b->data + 12) << 32 | load_le32(b->data + 16));
    if (load_le32(b->data + 8) || time != f->last_time)
        return form_fails(fault, "block", "statistics of another interface or time");
    if (!next_option(&c, OPTION_COMMENT, &text, &len) || !is_totals(text, len))
        return form_fails(fault, "option", "the statistics' comment is not that of the anonymizer");
    return at_end(&c) || form_fails(fault, "option", "further options of the statistics");
}

/* Of a packet that has no time; it cannot be cut. */
static bool check_simple(struct form *f, const struct block *b, struct form_fault *fault)
{
    uint32_t len = load_le32(b->data + 8), padded = (len + 3) & ~3u;

    if (f->stage != 2 || f->ended || b->len < SIMPLE_HEAD + 4 || len > b->len ||
        b->len != SIMPLE_HEAD + padded + 4)
        return form_fails(fault, "block", "a packet that should not be here");
    if (!bytes_are_zeros(b->data + SIMPLE_HEAD + len, padded - len))
        return form_fails(fault, "padding", "bytes behind a packet");
    return form_frame(f, b->data + SIMPLE_HEAD, len, len, fault);
}

static bool check_packet(struct form *f, const struct block *b, struct form_fault *fault)
{
    const uint8_t *p = b->data;
    uint32_t cap_len, wire_len, padded;
    int64_t time;

    if (f->stage != 2 || f->ended || load_le32(p) != 6 || b->len < PACKET_HEAD + 4)
        return form_fails(fault, "block", "a packet that should not be here");
    cap_len = load_le32(p + 20);
    wire_len = load_le32(p + 24);
    padded = (cap_len + 3) & ~3u;
    if (load_le32(p + 8) || cap_len > b->len || cap_len > wire_len)
        return form_fails(fault, "block", "a packet of another interface or length");
    if (b->len != PACKET_HEAD + padded + 4)
        return form_fails(fault, "option", "a packet with options");
    if (!bytes_are_zeros(p + PACKET_HEAD + cap_len, padded - cap_len))
        return form_fails(fault, "padding", "bytes behind a packet");
    time = (int64_t)((uint64_t)load_le32(p + 12) << 32 | load_le32(p + 16));
    if (time > f->last_time)
        f->last_time = time;
    return form_frame(f, p + PACKET_HEAD, cap_len, wire_len, fault);
}

static bool check_block(struct form *f, const struct block *b, struct form_fault *fault)
{
    if (!b->pcapng || b->swapped)
        return form_fails(fault, "block", "not a little-endian pcapng file");
    if (b->len < 12 || load_le32(b->data + 4) != b->len ||
        load_le32(b->data + b->len - 4) != b->len)
        return form_fails(fault, "block", "bytes that are not a block");
    switch (b->kind) {
    case BLOCK_SECTION:
        return check_section(f, b, fault);
    case BLOCK_INTERFACE:
        return check_interface(f, b, fault);
    case BLOCK_STATISTICS:
        return check_statistics(f, b, fault);
    case BLOCK_PACKET:
        return load_le32(b->data) == SIMPLE ? check_simple(f, b, fault) : check_packet(f, b, fault);
    default:
        return form_fails(fault, "block", "of a kind that the anonymizer does not write");
    }
}

bool form_block(struct form *f, const struct block *b, struct form_fault *fault)
{
    bool right = check_block(f, b, fault);

    f->differs |= !right;
    return right;
}

bool form_end(const struct form *f, uint64_t dropped, struct form_fault *fault)
{
    if (f->left_count > dropped + f->without_count)
        return form_fails(fault, "ip", "identifications leave out more than was dropped");
    return f->ended || form_fails(fault, "block", "the file has no statistics at its end");
}
