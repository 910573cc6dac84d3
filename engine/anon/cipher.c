/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/cipher.c
 *
 * Wraps libgcrypt in the few functions that pseudonyms need: keys, HMAC, AES and hashes.  The
 * contract is in cipher.h.
 */
#include "anon/cipher.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* The oldest one with all that is used here. */
#define GCRYPT_OLDEST "1.8.0"

static bool usable;

static void start(void)
{
    /* libgcrypt is the process's: who has finished its initialisation is not to be disturbed */
    bool finished = gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P);

    usable = gcry_check_version(GCRYPT_OLDEST) != NULL;
    if (finished || !usable)
        return;
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0); /* of 32 KiB: too small for all the subkeys */
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

static int init(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
    return usable ? 0
                  : err_set(err, ERR_SYSTEM, "libgcrypt is %s: %s or later is needed",
                            gcry_check_version(NULL), GCRYPT_OLDEST);
}

static int refused(const char *what, gcry_error_t error, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "libgcrypt: %s: %s", what, gcry_strerror(error));
}

static int open_cipher(gcry_cipher_hd_t *cipher, int algorithm, int mode, struct bytes key,
                       struct err *err)
{
    gcry_error_t error;

    *cipher = NULL;
    if (init(err) < 0)
        return -ERR_SYSTEM;
    error = gcry_cipher_open(cipher, algorithm, mode, 0);
    if (!error)
        error = gcry_cipher_setkey(*cipher, key.data, key.len);
    if (!error)
        return 0;
    cipher_close(*cipher);
    *cipher = NULL;
    return refused("AES", error, err);
}

int aes_open(gcry_cipher_hd_t *aes, const void *key, size_t len, struct err *err)
{
    return open_cipher(aes,
                       len == 16   ? GCRY_CIPHER_AES128
                       : len == 24 ? GCRY_CIPHER_AES192
                                   : GCRY_CIPHER_AES256,
                       GCRY_CIPHER_MODE_ECB, (struct bytes){ key, (uint32_t)len }, err);
}

void aes_blocks(gcry_cipher_hd_t aes, void *blocks, size_t len)
{
    if (gcry_cipher_encrypt(aes, blocks, len, NULL, 0))
        memset(blocks, 0, len);
}

int stream_open(gcry_cipher_hd_t *stream, const uint8_t key[32], struct err *err)
{
    return open_cipher(stream, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_CTR, (struct bytes){ key, 32 },
                       err);
}

void stream_begin(gcry_cipher_hd_t stream, const uint8_t iv[CIPHER_BLOCK])
{
    gcry_cipher_setctr(stream, iv, CIPHER_BLOCK);
}

void stream_next(gcry_cipher_hd_t stream, void *out, size_t len)
{
    memset(out, 0, len);
    if (gcry_cipher_encrypt(stream, out, len, NULL, 0))
        memset(out, 0, len);
}

int hmac_open(gcry_md_hd_t *hmac, const void *key, size_t len, struct err *err)
{
    gcry_error_t error;

    *hmac = NULL;
    if (init(err) < 0)
        return -ERR_SYSTEM;
    error = gcry_md_open(hmac, GCRY_MD_SHA256, GCRY_MD_FLAG_HMAC);
    if (!error)
        error = gcry_md_setkey(*hmac, key, len);
    if (!error)
        return 0;
    hmac_close(*hmac);
    *hmac = NULL;
    return refused("HMAC-SHA256", error, err);
}

void hmac_compute(gcry_md_hd_t hmac, struct bytes head, struct bytes data, uint8_t out[HMAC_LEN])
{
    const uint8_t *result;

    gcry_md_reset(hmac); /* keeps the key */
    if (head.len)
        gcry_md_write(hmac, head.data, head.len);
    if (data.len)
        gcry_md_write(hmac, data.data, data.len);
    result = gcry_md_read(hmac, GCRY_MD_SHA256);
    if (result)
        memcpy(out, result, HMAC_LEN);
    else
        memset(out, 0, HMAC_LEN);
}

int hkdf(const struct hkdf_input *input, void *out, size_t len, struct err *err)
{
    static const uint8_t no_salt[HMAC_LEN]; /* RFC 5869 s2.2: not given is as many zeros */
    uint8_t block[HMAC_LEN], *to = out;
    gcry_md_hd_t hmac;
    size_t block_len = 0;

    if (len > 255 * HMAC_LEN)
        return err_set(err, ERR_USAGE, "%zu bytes are more than a key can give", len);
    if (hmac_open(&hmac, input->salt.len ? input->salt.data : no_salt,
                  input->salt.len ? input->salt.len : HMAC_LEN, err) < 0)
        return -ERR_SYSTEM;
    hmac_compute(hmac, (struct bytes){ 0 }, input->secret, block);
    hmac_close(hmac);
    if (hmac_open(&hmac, block, HMAC_LEN, err) < 0) {
        explicit_bzero(block, sizeof(block));
        return -ERR_SYSTEM;
    }
    for (uint8_t i = 1; len; i++) {
        size_t take = len < HMAC_LEN ? len : HMAC_LEN;

        gcry_md_reset(hmac);
        gcry_md_write(hmac, block, block_len);
        gcry_md_write(hmac, input->info.data, input->info.len);
        gcry_md_write(hmac, &i, 1);
        memcpy(block, gcry_md_read(hmac, GCRY_MD_SHA256), HMAC_LEN);
        memcpy(to, block, take);
        block_len = HMAC_LEN;
        to += take;
        len -= take;
    }
    hmac_close(hmac);
    explicit_bzero(block, sizeof(block));
    return 0;
}

void cipher_close(gcry_cipher_hd_t cipher)
{
    if (cipher)
        gcry_cipher_close(cipher);
}

void hmac_close(gcry_md_hd_t hmac)
{
    if (hmac)
        gcry_md_close(hmac);
}
