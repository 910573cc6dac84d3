/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/cipher.h
 *
 * The parts of libgcrypt that engine/anon uses: AES blocks, an AES-CTR stream, HMAC-SHA256,
 * HKDF-SHA256.  Opening one of these initializes libgcrypt, if the process has not done so (tshark
 * has).  Once opened, they cannot fail, because their arguments are always valid.  If libgcrypt
 * refuses them nevertheless, the result is zeros, never the input.
 */
#ifndef NFSDIGEST_ANON_CIPHER_H
#define NFSDIGEST_ANON_CIPHER_H

#include "base/bytes.h"
#include "base/bytes.h"
#include "base/err.h"

#include <gcrypt.h>

enum { CIPHER_BLOCK = 16, HMAC_LEN = 32 };

/* AES by the key's length: 16, 24 or 32 bytes. */
int aes_open(gcry_cipher_hd_t *aes, const void *key, size_t len, struct err *err);
/* |len|: a multiple of CIPHER_BLOCK; in place, each block by itself. */
void aes_blocks(gcry_cipher_hd_t aes, void *blocks, size_t len);

/* AES-256-CTR: the stream that |iv| begins, piece by piece. */
int stream_open(gcry_cipher_hd_t *stream, const uint8_t key[32], struct err *err);
void stream_begin(gcry_cipher_hd_t stream, const uint8_t iv[CIPHER_BLOCK]);
void stream_next(gcry_cipher_hd_t stream, void *out, size_t len);

int hmac_open(gcry_md_hd_t *hmac, const void *key, size_t len, struct err *err);
/* Computes the HMAC of |head| followed by |data|; either may be empty. */
void hmac_compute(gcry_md_hd_t hmac, struct bytes head, struct bytes data, uint8_t out[HMAC_LEN]);

struct hkdf_input {
    struct bytes salt, secret, info; /* |salt| may be empty */
};

/* Derives |len| bytes (RFC 5869), at most 255 * HMAC_LEN. */
int hkdf(const struct hkdf_input *input, void *out, size_t len, struct err *err);

/* Close a handle.  A handle of zero is ignored. */
void cipher_close(gcry_cipher_hd_t cipher);
void hmac_close(gcry_md_hd_t hmac);

#endif
