/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping_bytes.c
 *
 * Maps strings and opaques.  Class and rule decide how: permuted at its length, a token, noise,
 * zeros, or as text (mapping_text.c).  Frequent values are kept in a cache.  Only permuted values,
 * and addresses within texts, can be mapped back.  For rewrite.c and unmask.c.  The contract is in
 * mapping.h and mapping_parts.h.
 */
#include "anon/mapping_parts.h"

#include <string.h>

enum { FF1_BYTES = 128, KIND_SAME = 32, KIND_TEXT = 64, KIND_SHORT = 128 };

int map_append(struct mapping *m, const void *data, uint32_t len, struct err *err)
{
    return buf_append(&m->out, data, len) < 0 ? err_memory(err, "a value") : 0;
}

int map_set(struct mapping *m, const void *data, uint32_t len, struct err *err)
{
    m->out.len = 0;
    return map_append(m, data, len, err);
}

/* Base 32, RFC 4648 s7, in lower case: safe in any file system and shell. */
void map_token(struct mapping *m, enum field_class cls, const uint8_t *data, uint32_t len,
               uint8_t token[TOKEN_LEN])
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuv";
    uint8_t hash[HMAC_LEN];

    hmac_compute(m->hmacs[cls], (struct bytes){ 0 }, (struct bytes){ data, len }, hash);
    for (unsigned i = 0; i < TOKEN_LEN; i++) {
        unsigned bit = 5 * i, pair = (unsigned)(hash[bit / 8] << 8 | hash[bit / 8 + 1]);

        token[i] = (uint8_t)letters[pair >> (11 - bit % 8) & 31];
    }
}

/* --- bytes of kept length --- */

static void permute_byte(struct ff1 *bits, bool back, uint8_t *byte)
{
    uint16_t digits[8];
    unsigned value = 0;

    for (unsigned i = 0; i < 8; i++)
        digits[i] = *byte >> (7 - i) & 1;
    (back ? ff1_decrypt : ff1_encrypt)(bits, digits, 8);
    for (unsigned i = 0; i < 8; i++)
        value = value << 1 | digits[i];
    *byte = (uint8_t)value;
}

/* Numbers of the protocol that stand in opaques: NLM's cookies, verifiers. */
static bool is_number(enum field_class cls, uint32_t len)
{
    return (len == 4 || len == 8) && cls != CLASS_HANDLE && cls != CLASS_OPAQUE &&
           cls != CLASS_ADDRESS && cls != CLASS_DATA;
}

static int permute_number(struct mapping *m, enum field_class cls, bool back, const uint8_t *data,
                          uint32_t len, struct err *err)
{
    uint64_t value = len == 8 ? load_be64(data) : load_be32(data);
    uint8_t bytes[8];

    value = back ? mapping_number_back(m, cls, RULE_KEYED, 8 * len, value)
                 : mapping_number(m, cls, RULE_KEYED, 8 * len, value);
    if (len == 8)
        store_be64(bytes, value);
    else
        store_be32(bytes, (uint32_t)value);
    return map_set(m, bytes, len, err);
}

int map_permuted(struct mapping *m, enum field_class cls, bool back, const uint8_t *data,
                 uint32_t len, struct err *err)
{
    uint16_t few[FF1_BYTES], *digits = few;

    if (is_number(cls, len))
        return permute_number(m, cls, back, data, len, err);
    if (map_set(m, data, len, err) < 0)
        return -ERR_SYSTEM;
    if (len < 2) {
        if (len)
            permute_byte(m->bits[cls], back, m->out.data);
        return 0;
    }
    if (len > FF1_BYTES) {
        m->digits.len = 0;
        if (buf_reserve(&m->digits, (size_t)len * sizeof(*digits)) < 0)
            return err_memory(err, "a value");
        digits = (uint16_t *)(void *)m->digits.data;
    }
    for (uint32_t i = 0; i < len; i++)
        digits[i] = data[i];
    if (len <= FF1_BYTES)
        (back ? ff1_decrypt : ff1_encrypt)(m->permutations[cls], digits, len);
    else
        (back ? wide_decrypt : wide_encrypt)(&m->wide, cls, 256, digits, len);
    for (uint32_t i = 0; i < len; i++)
        m->out.data[i] = (uint8_t)digits[i];
    return 0;
}

/* --- the other ways --- */

static int map_zeros(struct mapping *m, uint32_t len, struct bytes *out, struct err *err)
{
    if (m->zeros.len < len) {
        size_t more = len - m->zeros.len;

        if (buf_reserve(&m->zeros, more) < 0)
            return err_memory(err, "zeros");
        memset(m->zeros.data + m->zeros.len, 0, more);
        m->zeros.len = len;
    }
    *out = (struct bytes){ m->zeros.data, len };
    return 0;
}

static int map_noise(struct mapping *m, enum field_class cls, const uint8_t *data, uint32_t len,
                     struct err *err)
{
    uint8_t hash[HMAC_LEN];

    m->out.len = 0;
    if (buf_reserve(&m->out, len) < 0)
        return err_memory(err, "a value");
    hmac_compute(m->hmacs[cls], (struct bytes){ 0 }, (struct bytes){ data, len }, hash);
    stream_begin(m->wide.stream, hash);
    stream_next(m->wide.stream, m->out.data, len);
    m->out.len = len;
    return 0;
}

/* RFC 5665 s5.1, RFC 8267, and what other systems' rpcbind answers with; r_owner in CLASS_OPAQUE.
 */
static bool is_well_known(enum field_class cls, const uint8_t *data, uint32_t len)
{
    static const char *const words[] = { "tcp",    "udp",      "tcp6",      "udp6",    "rdma",
                                         "rdma6",  "sctp",     "sctp6",     "local",   "unix",
                                         "ticots", "ticlts",   "ticotsord", "raw",     "inet",
                                         "inet6",  "loopback", "-",         "NOPROTO", NULL };
    static const char *const owners[] = { "superuser", "unknown", NULL };

    for (const char *const *word = cls == CLASS_NONE ? words : owners; *word; word++)
        if (strlen(*word) == len && memcmp(*word, data, len) == 0)
            return true;
    return false;
}

/* A text of a class without a way of its own. */
static int map_text(struct mapping *m, enum field_class cls, enum rule rule, const uint8_t *data,
                    uint32_t len, struct err *err)
{
    uint8_t token[TOKEN_LEN];

    if ((cls == CLASS_NONE || cls == CLASS_OPAQUE) && is_well_known(cls, data, len))
        return map_set(m, data, len, err);
    if (rule == RULE_KEYED || rule == RULE_SAME)
        return map_set(m, data, len, err) < 0
                   ? -ERR_SYSTEM
                   : same_permute(m->texts, m->out.data, len, 0, len, false, NULL, NULL, err);
    map_token(m, cls, data, len, token);
    return map_set(m, token, TOKEN_LEN, err);
}

static int map_opaque(struct mapping *m, enum field_class cls, enum rule rule, uint32_t max,
                      const uint8_t *data, uint32_t len, struct err *err)
{
    uint8_t hash[HMAC_LEN];

    if (rule != RULE_TOKEN || (max && max < TOKEN_LEN))
        return map_permuted(m, cls, false, data, len, err);
    hmac_compute(m->hmacs[cls], (struct bytes){ 0 }, (struct bytes){ data, len }, hash);
    return map_set(m, hash, TOKEN_LEN, err);
}

static int compute(struct mapping *m, enum field_class cls, enum rule rule, bool text, uint32_t max,
                   const uint8_t *data, uint32_t len, struct err *err)
{
    switch (cls) {
    case CLASS_NAME:
        return map_name(m, rule, false, data, len, err);
    case CLASS_PATH:
        return map_path(m, rule, false, max, data, len, err);
    case CLASS_HOST:
        return map_host(m, rule, false, data, len, err);
    case CLASS_DATA:
        return map_noise(m, cls, data, len, err);
    case CLASS_ADDRESS:
        return text ? map_universal(m, false, data, len, err)
                    : map_permuted(m, cls, false, data, len, err);
    case CLASS_VERIFIER: /* as the number that it is */
        if (len == 8 && rule == RULE_KEYED) {
            uint8_t eight[8];

            store_be64(eight, mapping_number(m, cls, rule, 64, load_be64(data)));
            return map_set(m, eight, sizeof(eight), err);
        }
        return map_opaque(m, cls, rule, max, data, len, err);
    default:
        return text ? map_text(m, cls, rule, data, len, err)
                    : map_opaque(m, cls, rule, max, data, len, err);
    }
}

/* What comes again and again. */
static struct bytes_cache *cache_for(struct mapping *m, enum field_class cls)
{
    switch (cls) {
    case CLASS_HANDLE:
    case CLASS_OPAQUE:
    case CLASS_LOCK_OWNER:
        return &m->handle_cache;
    case CLASS_NAME:
    case CLASS_HOST:
        return &m->name_cache;
    default:
        return NULL;
    }
}

/* Of what is in a cache: what the result depends on besides the bytes. */
static uint8_t kind_of(enum field_class cls, enum rule rule, bool text, uint32_t max)
{
    return (uint8_t)((unsigned)cls | (rule == RULE_TOKEN ? 0 : KIND_SAME) | (text ? KIND_TEXT : 0) |
                     (max && max < TOKEN_LEN ? KIND_SHORT : 0));
}

int mapping_bytes(struct mapping *m, enum field_class cls, enum rule rule, bool text, uint32_t max,
                  const uint8_t *data, uint32_t len, struct bytes *out, struct err *err)
{
    struct bytes_cache *cache = cache_for(m, cls);
    uint8_t kind = kind_of(cls, rule, text, max);

    if (rule == RULE_KEEP && cls == CLASS_NONE && text)
        rule = RULE_TOKEN; /* kept are numbers and well-known words */
    if (rule == RULE_KEEP || !len) {
        *out = (struct bytes){ data, len };
        return 0;
    }
    if (rule == RULE_UNSET || rule == RULE_ZERO)
        return map_zeros(m, len, out, err);
    if (cache && bytes_cache_get(cache, kind, data, len, out))
        return 0;
    if (compute(m, cls, rule, text, max, data, len, err) < 0)
        return -ERR_SYSTEM;
    *out = (struct bytes){ m->out.data, (uint32_t)m->out.len };
    if (cache)
        bytes_cache_put(cache, kind, data, len, out);
    return 0;
}

void mapping_expect_handle(struct mapping *m, const uint8_t *data, uint32_t len)
{
    enum rule rule = m->policy->rules[CLASS_HANDLE];

    if (rule != RULE_KEEP)
        bytes_cache_expect(&m->handle_cache, kind_of(CLASS_HANDLE, rule, false, 0), data, len);
}

int map_name_cached(struct mapping *m, enum rule rule, const uint8_t *data, uint32_t len,
                    struct bytes *out, struct err *err)
{
    return mapping_bytes(m, CLASS_NAME, rule, true, 0, data, len, out, err);
}

int mapping_bytes_back(struct mapping *m, enum field_class cls, enum rule rule, const uint8_t *data,
                       uint32_t len, struct bytes *out, struct err *err)
{
    int result;

    if (rule == RULE_KEEP || !len) {
        *out = (struct bytes){ data, len };
        return 0;
    }
    if (cls == CLASS_NAME && rule == RULE_SAME)
        result = map_name(m, rule, true, data, len, err);
    else if (cls == CLASS_PATH && rule == RULE_SAME)
        result = map_path(m, rule, true, 0, data, len, err);
    else if (cls == CLASS_HOST && (rule == RULE_SAME || rule == RULE_TOKEN))
        result = map_host(m, rule, true, data, len, err);
    else if (cls == CLASS_ADDRESS && rule == RULE_KEYED)
        result = map_universal(m, true, data, len, err);
    else if (rule == RULE_KEYED && cls != CLASS_OPAQUE && cls != CLASS_DATA)
        result = map_permuted(m, cls, true, data, len, err);
    else
        return err_set(err, ERR_INPUT, "a %s under the rule \"%s\" cannot be mapped back",
                       class_name(cls), rule_name(rule));
    *out = (struct bytes){ m->out.data, (uint32_t)m->out.len };
    return result;
}
