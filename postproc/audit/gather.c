/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/gather.c
 *
 * Takes out of the original what is secret: values of messages, texts and addresses of frames,
 * metadata of pcapng files.  Most values that were met lately are passed over.  gather_look runs in
 * the thread that reads the capture, so that only notes on frames are handed over.  secret.c keeps
 * the patterns.  For audit_align.c and audit.c.  The contract is in audit_parts.h.
 */
#include "audit/blocks.h"
#include "audit/audit_parts.h"
#include "base/digest.h"

#include <arpa/inet.h>

enum {
    DATA_STEP = 16,
    SMALL_WINDOW = 8,
    RUN_LEAST = 6 /* as next_run has it */,
    OPAQUE_SHORTEST = 4
};

bool seen_lately(uint64_t *memory, uint32_t places, uint64_t seed, const void *data, size_t len)
{
    uint64_t hash = XXH3_64bits_withSeed(data, len, seed);
    uint64_t *place = &memory[hash % places];
    bool seen = *place == hash;

    *place = hash;
    return seen;
}

bool gather_is_seen(struct audit *a, unsigned cls, const void *data, size_t len)
{
    return seen_lately(a->seen, SEEN_PLACES, cls, data, len);
}

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c >= 0x80;
}

/* A name, and the longer words in it: "quarterly" and "report" of "quarterly-report.txt". */
static int gather_name(struct audit *a, enum secret_class cls, const uint8_t *name, size_t len,
                       uint64_t frame, struct err *err)
{
    int rc = secrets_text(&a->secrets, cls, name, len, frame, err);

    for (size_t start = 0, i = 0; rc == 0 && i <= len; i++) {
        if (i < len && is_word(name[i]))
            continue;
        if (i - start >= SECRET_LONG && i - start < len)
            rc = secrets_text(&a->secrets, cls, name + start, i - start, frame, err);
        start = i + 1;
    }
    return rc;
}

static int gather_path(struct audit *a, enum secret_class cls, const struct item *item,
                       uint64_t frame, struct err *err)
{
    const uint8_t *p = item->data, *end = p + item->len;
    int rc = secrets_text(&a->secrets, cls, item->data, item->len, frame, err);

    while (rc == 0 && p < end) {
        const uint8_t *slash = memchr(p, '/', (size_t)(end - p));
        const uint8_t *stop = slash ? slash : end;

        rc = gather_name(a, cls, p, (size_t)(stop - p), frame, err);
        p = stop + 1;
    }
    return rc;
}

bool text_address(const uint8_t *data, uint32_t len, struct address *out, bool *exact)
{
    char text[64];
    char *cut;

    *exact = true;
    memset(out, 0, sizeof(*out));
    if (!len || len >= sizeof(text))
        return false;
    memcpy(text, data, len);
    text[len] = '\0';
    cut = strchr(text, '/');
    if (cut) {
        *cut = '\0';
        *exact = false;
    }
    for (unsigned tries = 0; tries < 2; tries++) {
        out->version = 4;
        if (inet_pton(AF_INET, text, out->bytes) == 1)
            return true;
        out->version = 6;
        if (inet_pton(AF_INET6, text, out->bytes) == 1)
            return true;
        for (unsigned i = 0; i < 2; i++) { /* the port's two bytes */
            cut = strrchr(text, '.');
            if (!cut)
                return false;
            *cut = '\0';
        }
    }
    return false;
}

static int gather_address(struct audit *a, const struct address *address, uint64_t frame,
                          struct err *err)
{
    int rc = secrets_address(&a->secrets, address, frame, err);

    return rc < 0 ? rc : encoded_address(a->encoded, address, frame, err);
}

static int gather_host(struct audit *a, const struct item *item, uint64_t frame, struct err *err)
{
    struct address address;
    bool exact;

    if (text_address(item->data, item->len, &address, &exact))
        return gather_address(a, &address, frame, err);
    if (allow_text(&a->allow, item->data, item->len))
        return 0;
    if (encoded_digests(a->encoded, SECRET_HOST, item->data, item->len, frame, err) < 0)
        return -err->code;
    return gather_name(a, SECRET_HOST, item->data, item->len, frame, err);
}

static int gather_number(struct audit *a, enum secret_class cls, const struct item *item,
                         unsigned least, uint64_t frame, struct err *err)
{
    struct secret plain = { .cls = (uint8_t)cls, .len = (uint8_t)item->len, .frame = frame };
    struct secret reversed;
    int rc;

    if (!secret_is_telling(item->data, item->len, least)) {
        a->secrets.classes[cls].dull++;
        return 0;
    }
    memcpy(plain.data, item->data, item->len);
    reversed = plain;
    reversed.form = FORM_REVERSED;
    for (unsigned i = 0; i < item->len; i++)
        reversed.data[i] = item->data[item->len - 1 - i];
    rc = secrets_add(&a->secrets, &plain, err);
    return rc < 0 ? rc : secrets_add(&a->secrets, &reversed, err);
}

static int gather_opaque(struct audit *a, const struct item *item, uint64_t frame, struct err *err)
{
    if (allow_text(&a->allow, item->data, item->len))
        return 0;
    if (item->len < SMALL_WINDOW)
        return item->len >= OPAQUE_SHORTEST && secret_is_telling(item->data, item->len, 3)
                   ? secrets_text(&a->secrets, SECRET_OPAQUE, item->data, item->len, frame, err)
                   : 0;
    return secrets_windows(&a->secrets, SECRET_OPAQUE, item->data, item->len, SMALL_WINDOW, 1,
                           frame, err);
}

static int gather_item(struct audit *a, const struct item *item, uint64_t frame, struct err *err)
{
    struct secrets *s = &a->secrets;

    if (item->cls == CLASS_DATA && item->len < SECRET_LEN_MAX)
        return secrets_windows(s, SECRET_DATA, item->data, item->len, SMALL_WINDOW, 1, frame, err);
    if (item->cls == CLASS_DATA)
        return secrets_windows(s, SECRET_DATA, item->data, item->len, SECRET_LEN_MAX, DATA_STEP,
                               frame, err);
    if (gather_is_seen(a, item->cls, item->data, item->len))
        return 0;
    switch (item->cls) {
    case CLASS_NAME:
        return gather_name(a, SECRET_NAME, item->data, item->len, frame, err);
    case CLASS_PATH:
        return gather_path(a, item->field->role & ROLE_LINK_TEXT ? SECRET_LINK : SECRET_PATH, item,
                           frame, err);
    case CLASS_HOST:
        return gather_host(a, item, frame, err);
    case CLASS_ADDRESS:
        return item->is_bytes ? gather_host(a, item, frame, err) : 0;
    case CLASS_HANDLE: /* of some handles only longer pieces are of their own */
        return secrets_windows(s, SECRET_HANDLE, item->data, item->len, SMALL_WINDOW, 1, frame,
                               err) < 0
                   ? -err->code
                   : secrets_windows(s, SECRET_HANDLE, item->data, item->len, SECRET_LEN_MAX, 4,
                                     frame, err);
    case ITEM_STAMP:
        return gather_number(a, SECRET_STAMP, item, 3, frame, err);
    case CLASS_UID:
    case CLASS_GID:
        return allow_number(&a->allow, item->cls == CLASS_UID ? DOMAIN_UID : DOMAIN_GID,
                            item->value)
                   ? 0
                   : encoded_number(a->encoded, (uint32_t)item->value, frame, err);
    case CLASS_FILEID:
    case CLASS_FSID:
        return item->len == 8 ? gather_number(a, SECRET_NUMBER, item, 5, frame, err) : 0;
    case CLASS_COOKIE:
    case CLASS_VERIFIER:
        if (!item->is_bytes || item->len == 8)
            return gather_number(a, SECRET_NUMBER, item, 5, frame, err);
        return gather_opaque(a, item, frame, err);
    case CLASS_LOCK_OWNER:
    case CLASS_OPAQUE:
    case ITEM_CREDENTIAL:
        return item->is_bytes ? gather_opaque(a, item, frame, err) : 0;
    default:
        return 0;
    }
}

/* In a body that no table describes or that is encrypted, and in bytes after a body, any byte can
 * be secret. */
static int gather_unread(struct audit *a, const struct audit_message *m, const struct items *items,
                         struct err *err)
{
    enum { FINE = 256, FINE_STEP = 4 };
    uint32_t at = items->read_to, fine;
    int rc;

    if (at >= m->cap_len)
        return 0;
    fine = m->cap_len - at < FINE ? m->cap_len - at : FINE;
    rc = secrets_windows(&a->secrets, SECRET_OPAQUE, m->data + at, fine, SMALL_WINDOW, FINE_STEP,
                         m->frame, err);
    return rc < 0
               ? rc
               : secrets_windows(&a->secrets, SECRET_OPAQUE, m->data + at + fine,
                                 m->cap_len - at - fine, SECRET_LEN_MAX, DATA_STEP, m->frame, err);
}

int gather_message(struct audit *a, const struct audit_message *m, const struct items *items,
                   struct err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < 2; i++)
        if (!gather_is_seen(a, ITEM_CLASSES, &m->address[i], sizeof(m->address[i])))
            rc = gather_address(a, &m->address[i], m->frame, err);
    for (uint32_t i = 0; rc == 0 && i < items->count; i++)
        rc = gather_item(a, &items->all[i], m->frame, err);
    return rc < 0 ? rc : gather_unread(a, m, items, err);
}

/* --- frames as they are --- */

static bool is_printable(uint8_t c)
{
    return (uint8_t)(c - 0x20) < 0x5f;
}

/* A bit for each of 64 bytes that is printable. */
static inline uint64_t printable_64(const uint8_t *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t all = 0;

    for (unsigned i = 0; i < 8; i++) {
        uint64_t word = load_le64(p + 8 * i), low = word & ~high;
        uint64_t printable = (low + 0x60 * ones) & ~(low + ones) & ~word & high;

        /* byte by byte their bits, side by side in the upper byte */
        all |= ((printable >> 7) * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
    }
    return all;
}

/* The next run of RUN_LEAST printable bytes or more from |at| on, where none reaches from before:
 * its length, 0 at the end.  |at|: where it is. */
static uint32_t next_run(const uint8_t *p, uint32_t len, uint32_t *at)
{
    uint32_t start = *at, end;

    while (len - start >= 64) {
        uint64_t all = printable_64(p + start), two = all & all >> 1,
                 six = two & two >> 2 & two >> 4;

        if (six) {
            start += (uint32_t)__builtin_ctzll(six);
            break;
        }
        start += 64 - (RUN_LEAST - 1); /* one may begin in the last ones */
    }
    for (end = start; len - start >= RUN_LEAST; start = end) {
        /* the last bytes that one needs are looked at first, so most bytes never are */
        for (end = start + RUN_LEAST; end > start && is_printable(p[end - 1]);)
            end--;
        if (end > start)
            continue;
        for (end = start + RUN_LEAST; end < len && is_printable(p[end]);)
            end++;
        *at = start;
        return end - start;
    }
    return 0;
}

/* Each run behind its length. */
static int note_runs(const struct frame *frame, struct buf *note)
{
    uint32_t run, at = 0;
    int rc = 0;

    while (rc == 0 && (run = next_run(frame->data, frame->cap_len, &at))) {
        rc = buf_append(note, &run, sizeof(run));
        if (rc == 0)
            rc = buf_append(note, frame->data + at, run);
        at += run;
    }
    return rc;
}

int gather_look(void *ctx, const struct frame *frame, struct buf *note, struct err *err)
{
    struct peek peek;

    (void)ctx;
    peek_frame(frame, &peek);
    return buf_append(note, &peek, sizeof(peek)) < 0 || note_runs(frame, note) < 0
               ? err_memory(err, "a frame's texts")
               : 0;
}

static int gather_runs(struct audit *a, uint64_t frame, const uint8_t *runs, size_t len,
                       struct err *err)
{
    int rc = 0;

    for (size_t at = 0; rc == 0 && at < len;) {
        uint32_t run;

        memcpy(&run, runs + at, sizeof(run));
        at += sizeof(run);
        if (!allow_text(&a->allow, runs + at, run))
            rc = secrets_text(&a->secrets, SECRET_STRING, runs + at, run, frame, err);
        at += run;
    }
    return rc;
}

static int gather_hardware(struct audit *a, const uint8_t *p, uint64_t frame, struct err *err)
{
    struct secret secret = { .cls = SECRET_HARDWARE, .len = 6, .frame = frame };
    struct pair_entry entry = { .key = { XXH3_64bits(p, 6) }, .frame = frame };
    struct pair_side *side = &a->hardware;
    static const uint8_t zeros[6];

    if (p[0] & 1 || memcmp(p, zeros, 6) == 0) /* groups, loopback */
        return 0;
    if (side->count < SEEN_PLACES && !pair_side_has(side, entry.key[0]) &&
        pair_side_add(side, &entry, err) < 0)
        return -ERR_SYSTEM;
    if (!secret_is_telling(p, 6, 3)) {
        a->secrets.classes[SECRET_HARDWARE].dull++;
        return 0;
    }
    memcpy(secret.data, p, 6);
    return secrets_add(&a->secrets, &secret, err);
}

int gather_frame(struct audit *a, uint64_t frame, const void *note, size_t len, struct err *err)
{
    const struct peek *peek = note;
    int rc = gather_runs(a, frame, (const uint8_t *)note + sizeof(*peek), len - sizeof(*peek), err);

    for (unsigned i = 0; rc == 0 && i < peek->hardware_count; i++)
        if (!gather_is_seen(a, ITEM_CLASSES + 1, peek->hardware[i], 6))
            rc = gather_hardware(a, peek->hardware[i], frame, err);
    for (unsigned i = 0; rc == 0 && i < peek->address_count; i++)
        if (!gather_is_seen(a, ITEM_CLASSES, &peek->address[i], sizeof(peek->address[i])))
            rc = gather_address(a, &peek->address[i], frame, err);
    return rc;
}

/* --- what a pcapng file says besides packets --- */

static int gather_printable(struct audit *a, const uint8_t *p, uint32_t len, struct err *err)
{
    uint32_t start = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i <= len; i++) {
        if (i < len && p[i] >= 0x20 && p[i] != 0x7f)
            continue;
        if (!allow_text(&a->allow, p + start, i - start) &&
            !allow_covers(&a->allow, p, len, start, i - start))
            rc = secrets_text(&a->secrets, SECRET_METADATA, p + start, i - start, 0, err);
        start = i + 1;
    }
    return rc;
}

static int on_option(void *ctx, const struct block *block, unsigned code, const uint8_t *text,
                     uint32_t len, struct err *err)
{
    enum { IF_HARDWARE = 6, IF_IPV4 = 4, IF_IPV6 = 5 };
    struct address address = { 0 };

    if (block->kind == BLOCK_INTERFACE && code == IF_HARDWARE && len == 6)
        return gather_hardware(ctx, text, 0, err);
    if (block->kind == BLOCK_INTERFACE &&
        ((code == IF_IPV4 && len >= 4) || (code == IF_IPV6 && len >= 16))) {
        address.version = code == IF_IPV4 ? 4 : 6;
        memcpy(address.bytes, text, address_len(&address));
        return secrets_address(&((struct audit *)ctx)->secrets, &address, 0, err);
    }
    if (block->kind == BLOCK_PACKET && code != 1) /* only comments are texts there */
        return 0;
    return gather_printable(ctx, text, len, err);
}

static int on_block(void *ctx, const struct block *block, struct err *err)
{
    if (!block->pcapng)
        return 0;
    if (block->kind == BLOCK_NAMES || block->kind == BLOCK_OTHER)
        return block->len > 12 ? gather_printable(ctx, block->data + 8, block->len - 12, err) : 0;
    return block_options(block, on_option, ctx, err);
}

int gather_metadata(struct audit *a, struct err *err)
{
    return blocks_read(a->options->original, on_block, a, err);
}
