/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/secret.c
 *
 * Keeps patterns in one array and finds them by their hash.  A class that has too many is halved by
 * hash.  Pieces of a text are hashed and looked up several at a time, so that memory is fetched
 * meanwhile.  gather.c adds the original's secrets; encoded.c keeps patterns of its own here.  The
 * contract is in secret.h.
 */
#include "audit/secret.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/grow.h"
#include "link/frame.h"

#include <stdio.h>
#include <stdlib.h>

const char *secret_class_name(enum secret_class cls)
{
    static const char *const names[SECRET_MAX] = {
        [SECRET_NAME] = "name",         [SECRET_PATH] = "path",
        [SECRET_LINK] = "symlink",      [SECRET_HOST] = "host",
        [SECRET_ADDRESS] = "address",   [SECRET_ADDRESS_TEXT] = "address_text",
        [SECRET_HARDWARE] = "hardware", [SECRET_HANDLE] = "handle",
        [SECRET_NUMBER] = "number",     [SECRET_STAMP] = "stamp",
        [SECRET_OPAQUE] = "opaque",     [SECRET_DATA] = "data",
        [SECRET_METADATA] = "metadata", [SECRET_STRING] = "string",
    };

    return names[cls];
}

void secrets_init(struct secrets *s, uint32_t per_class)
{
    memset(s, 0, sizeof(*s));
    s->per_class = per_class ? per_class : SECRETS_PER_CLASS;
}

void secrets_free(struct secrets *s)
{
    free(s->all);
    table_free(&s->by_hash);
    memset(s, 0, sizeof(*s));
}

static uint64_t hash_of(const uint8_t *data, size_t len)
{
    return XXH3_64bits(data, len);
}

static bool is_sampled(const struct secrets *s, unsigned cls, uint64_t hash)
{
    /* the table uses the upper bits */
    return !(hash & ((UINT64_C(1) << s->classes[cls].halvings) - 1));
}

static int no_memory(struct err *err)
{
    return err_memory(err, "the original's secrets");
}

/* Takes out half of a class. */
static int thin_out(struct secrets *s, unsigned cls, struct err *err)
{
    uint32_t kept = 0;

    s->classes[cls].halvings++;
    s->classes[cls].count = 0;
    table_clear(&s->by_hash);
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t hash = hash_of(s->all[i].data, s->all[i].len);

        if (s->all[i].cls == cls && !is_sampled(s, cls, hash))
            continue;
        s->classes[cls].count += s->all[i].cls == cls;
        s->all[kept] = s->all[i];
        if (table_add(&s->by_hash, hash, kept++) < 0)
            return no_memory(err);
    }
    s->count = kept;
    return 0;
}

static struct secret *find(const struct secrets *s, const struct secret *like, uint64_t hash)
{
    uint32_t at, slot;

    for (slot = table_first(&s->by_hash, hash, &at); slot != TABLE_NONE;
         slot = table_next(&s->by_hash, hash, &at)) {
        struct secret *x = &s->all[slot];

        if (x->len == like->len && memcmp(x->data, like->data, like->len) == 0)
            return x;
    }
    return NULL;
}

bool secrets_have(const struct secrets *s, enum secret_class cls, const uint8_t *data, size_t len)
{
    struct secret like = { .len = (uint8_t)len };
    const struct secret *known;

    memcpy(like.data, data, len);
    known = find(s, &like, hash_of(data, len));
    return known && known->cls == cls;
}

/* |hash|: of the secret, whose length is allowed. */
static int add_hashed(struct secrets *s, const struct secret *secret, uint64_t hash,
                      struct err *err)
{
    struct secret *known;

    s->classes[secret->cls].seen++;
    if (!is_sampled(s, secret->cls, hash)) /* first: of file contents that is nearly all */
        return 0;
    known = find(s, secret, hash);
    if (known) { /* what a field says is better than that it was somewhere */
        if (known->cls == SECRET_STRING && secret->cls != SECRET_STRING) {
            s->classes[SECRET_STRING].count--;
            s->classes[secret->cls].count++;
            *known = *secret;
        }
        return 0;
    }
    if (GROW(s->all, s->count, s->cap) < 0)
        return no_memory(err);
    if (table_add(&s->by_hash, hash, s->count) < 0)
        return no_memory(err);
    s->all[s->count++] = *secret;
    s->classes[secret->cls].count++;
    while (s->classes[secret->cls].count > s->per_class)
        if (thin_out(s, secret->cls, err) < 0)
            return -ERR_SYSTEM;
    return 0;
}

int secrets_add(struct secrets *s, const struct secret *secret, struct err *err)
{
    if (secret->len < SECRET_SHORTEST || secret->len > SECRET_LEN_MAX)
        return 0;
    return add_hashed(s, secret, hash_of(secret->data, secret->len), err);
}

/* Pieces of one length, which are looked up together: the memory for one is fetched while others
 * are hashed. */
enum { PIECES = 16 };
struct pieces {
    const uint8_t *at[PIECES];
    uint64_t hash[PIECES];
    unsigned count;
};

static int add_pieces(struct secrets *s, enum secret_class cls, struct pieces *p, size_t len,
                      uint64_t frame, struct err *err)
{
    struct secret secret = { .cls = (uint8_t)cls, .len = (uint8_t)len, .frame = frame };
    int rc = 0;

    for (unsigned i = 0; i < p->count; i++) {
        uint32_t at, slot = TABLE_NONE;

        if (is_sampled(s, cls, p->hash[i]))
            slot = table_first(&s->by_hash, p->hash[i], &at);
        if (slot != TABLE_NONE)
            __builtin_prefetch(&s->all[slot]);
    }
    for (unsigned i = 0; rc == 0 && i < p->count; i++) {
        memcpy(secret.data, p->at[i], len);
        rc = add_hashed(s, &secret, p->hash[i], err);
    }
    p->count = 0;
    return rc;
}

static int add_piece(struct secrets *s, enum secret_class cls, struct pieces *p,
                     const uint8_t *data, size_t len, uint64_t frame, struct err *err)
{
    p->at[p->count] = data;
    p->hash[p->count] = hash_of(data, len);
    if (is_sampled(s, cls, p->hash[p->count]))
        table_prefetch(&s->by_hash, p->hash[p->count]);
    return ++p->count == PIECES ? add_pieces(s, cls, p, len, frame, err) : 0;
}

int secrets_text(struct secrets *s, enum secret_class cls, const uint8_t *data, size_t len,
                 uint64_t frame, struct err *err)
{
    size_t width = len < SECRET_WINDOW ? len : SECRET_WINDOW;
    struct pieces pieces;
    int rc = 0;

    if (len < SECRET_SHORTEST)
        return 0;
    pieces.count = 0;
    for (size_t at = 0; rc == 0 && at + width <= len; at += SECRET_STEP)
        rc = add_piece(s, cls, &pieces, data + at, width, frame, err);
    if (rc == 0 && len > width && len % SECRET_STEP)
        rc = add_piece(s, cls, &pieces, data + len - width, width, frame, err);
    return rc < 0 ? rc : add_pieces(s, cls, &pieces, width, frame, err);
}

bool secret_is_telling(const uint8_t *data, size_t len, unsigned least)
{
    uint64_t seen[4] = { 1 }; /* 0 tells nothing */
    unsigned different = 0;

    for (size_t i = 0; i < len && different < least; i++) {
        uint64_t *word = &seen[data[i] >> 6], bit = UINT64_C(1) << (data[i] & 63);

        different += !(*word & bit);
        *word |= bit;
    }
    return different >= least;
}

int secrets_windows(struct secrets *s, enum secret_class cls, const uint8_t *data, size_t len,
                    unsigned width, unsigned step, uint64_t frame, struct err *err)
{
    struct pieces pieces;
    int rc = 0;

    pieces.count = 0;
    for (size_t at = 0; rc == 0 && at + width <= len; at += step) {
        if (secret_is_telling(data + at, width, cls == SECRET_DATA ? 6 : 5))
            rc = add_piece(s, cls, &pieces, data + at, width, frame, err);
        else
            s->classes[cls].dull++;
    }
    return rc < 0 ? rc : add_pieces(s, cls, &pieces, width, frame, err);
}

/* Unset, broadcast, loopback, link-local without more, multicast: RFC 6890, RFC 4291 s2. */
bool secret_is_special_address(const struct address *a)
{
    static const uint8_t zeros[15];

    if (a->version == 4)
        return a->bytes[0] == 0 || a->bytes[0] == 127 || a->bytes[0] >= 224;
    return a->version != 6 || a->bytes[0] == 0xff ||
           (memcmp(a->bytes, zeros, 15) == 0 && a->bytes[15] <= 1);
}

static int add_text(struct secrets *s, const char *text, enum secret_form form, uint64_t frame,
                    struct err *err)
{
    struct secret secret = {
        .cls = SECRET_ADDRESS_TEXT, .form = (uint8_t)form, .bounded = true, .frame = frame
    };
    size_t len = strlen(text);

    if (len <= SECRET_LEN_MAX) {
        secret.len = (uint8_t)len;
        memcpy(secret.data, text, len);
        return secrets_add(s, &secret, err);
    }
    return secrets_text(s, SECRET_ADDRESS_TEXT, (const uint8_t *)text, len, frame, err);
}

int secrets_address(struct secrets *s, const struct address *a, uint64_t frame, struct err *err)
{
    struct secret plain = { .cls = SECRET_ADDRESS, .len = (uint8_t)address_len(a), .frame = frame };
    struct secret reversed = plain;
    char text[80];
    const uint8_t *b = a->bytes;
    int rc;

    if (secret_is_special_address(a))
        return 0;
    for (unsigned i = 0; i < plain.len; i++) {
        plain.data[i] = b[i];
        reversed.data[plain.len - 1 - i] = b[i];
    }
    reversed.form = FORM_REVERSED;
    rc = secrets_add(s, &plain, err);
    if (rc == 0)
        rc = secrets_add(s, &reversed, err);
    if (rc == 0)
        rc = add_text(s, address_text(a, text), FORM_PLAIN, frame, err);
    if (rc < 0)
        return rc;
    if (a->version == 4) {
        snprintf(text, sizeof(text), "%u.%u.%u.%u", b[3], b[2], b[1], b[0]);
        return add_text(s, text, FORM_REVERSED, frame, err);
    }
    /* the interface's half alone: that it stays would tell the machine */
    if (secret_is_telling(b + 8, 8, 4))
        rc = secrets_text(s, SECRET_ADDRESS, b + 8, 8, frame, err);
    for (unsigned i = 0; i < 16; i++) /* RFC 3596 s2.5 */
        snprintf(text + 4 * i, sizeof(text) - 4 * i, "%x.%x.", b[15 - i] & 15, b[15 - i] >> 4);
    text[63] = '\0';
    return rc < 0 ? rc : add_text(s, text, FORM_REVERSED, frame, err);
}
