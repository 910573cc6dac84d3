/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded_digest.c
 *
 * Digests of values of which there are so few that all can be tried.
 */
#include "audit/encoded_parts.h"
#include "base/bytes.h"
#include "base/digest.h"

#include <gcrypt.h>
#include <stdio.h>

enum { DIGEST_MAX = 32, DIGEST_PIECE = 8 };

/* Its first bytes and its last ones: a digest that was cut has one of both. */
static int add_digest(struct encoded *e, const struct secret *like, const uint8_t *digest,
                      size_t len, struct err *err)
{
    int rc = encoded_add(e, like, digest, DIGEST_PIECE, err);

    if (rc < 0 || len == DIGEST_PIECE)
        return rc;
    return encoded_add(e, like, digest + len - DIGEST_PIECE, DIGEST_PIECE, err);
}

int encoded_digests(struct encoded *e, enum secret_class cls, const void *data, size_t len,
                    uint64_t frame, struct err *err)
{
    static const int algorithms[] = { GCRY_MD_MD5, GCRY_MD_SHA1, GCRY_MD_SHA256 };
    const struct secret like = { .cls = (uint8_t)cls, .form = FORM_DIGEST, .frame = frame };
    uint64_t hash = XXH3_64bits_withSeed(data, len, cls);
    uint64_t words[] = { XXH3_64bits(data, len), XXH64(data, len, 0) };
    uint8_t digest[DIGEST_MAX];
    uint32_t at;
    int rc = 0;

    if (!len || e->digested_count[cls] >= ENCODED_VALUES ||
        table_first(&e->digested, hash, &at) != TABLE_NONE)
        return 0;
    e->digested_count[cls]++;
    if (table_add(&e->digested, hash, 0) < 0)
        return err_memory(err, "digests");
    for (unsigned i = 0; rc == 0 && i < sizeof(algorithms) / sizeof(*algorithms); i++) {
        gcry_md_hash_buffer(algorithms[i], digest, data, len);
        rc = add_digest(e, &like, digest, gcry_md_get_algo_dlen(algorithms[i]), err);
    }
    for (unsigned i = 0; rc == 0 && i < 2; i++) {
        store_be64(digest, words[i]);
        rc = add_digest(e, &like, digest, 8, err);
        store_be64(digest, __builtin_bswap64(words[i]));
        if (rc == 0)
            rc = add_digest(e, &like, digest, 8, err);
    }
    return rc;
}

int encoded_number(struct encoded *e, uint32_t number, uint64_t frame, struct err *err)
{
    uint8_t bytes[4];
    char text[16];
    int rc;

    store_be32(bytes, number);
    rc = encoded_digests(e, SECRET_NUMBER, bytes, 4, frame, err);
    store_be32(bytes, __builtin_bswap32(number));
    if (rc == 0)
        rc = encoded_digests(e, SECRET_NUMBER, bytes, 4, frame, err);
    snprintf(text, sizeof(text), "%u", number);
    return rc < 0 ? rc : encoded_digests(e, SECRET_NUMBER, text, strlen(text), frame, err);
}

int encoded_address(struct encoded *e, const struct address *address, uint64_t frame,
                    struct err *err)
{
    char text[80];
    uint8_t reversed[16];
    unsigned len = address_len(address);
    int rc;

    if (secret_is_special_address(address))
        return 0;
    for (unsigned i = 0; i < len; i++)
        reversed[i] = address->bytes[len - 1 - i];
    rc = encoded_digests(e, SECRET_ADDRESS, address->bytes, len, frame, err);
    if (rc == 0)
        rc = encoded_digests(e, SECRET_ADDRESS, reversed, len, frame, err);
    if (rc == 0)
        rc = encoded_digests(e, SECRET_ADDRESS, address_text(address, text), strlen(text), frame,
                             err);
    return rc;
}
