/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/sha256.h"

#include <errno.h>
#include <gcrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 18, NEEDLE_MAX = 256, SHA256_LEN = 32 };

/* As engine/anon/cipher.c: who has finished libgcrypt's initialisation is not to be disturbed. */
static int open_sum(gcry_md_hd_t *sum, struct err *err)
{
    gcry_error_t error;

    if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    }
    error = gcry_md_open(sum, GCRY_MD_SHA256, 0);
    return error ? err_set(err, ERR_SYSTEM, "libgcrypt: SHA-256: %s", gcry_strerror(error)) : 0;
}

struct reading {
    uint8_t data[NEEDLE_MAX + PIECE];
    size_t before; /* bytes of the piece before, in front of this one */
};

/* Pieces overlap by the needle's length. */
static bool search(struct reading *r, size_t len, const char *needle)
{
    size_t all = r->before + len, keep = strlen(needle) - 1;
    bool found = memmem(r->data, all, needle, strlen(needle)) != NULL;

    keep = keep < all ? keep : all;
    memmove(r->data, r->data + all - keep, keep);
    r->before = keep;
    return found;
}

static void read_all(FILE *file, gcry_md_hd_t sum, struct reading *r, const char *needle,
                     struct sha256 *of)
{
    size_t len;

    while ((len = fread(r->data + r->before, 1, PIECE, file)) > 0) {
        gcry_md_write(sum, r->data + r->before, len);
        of->size += len;
        if (needle && search(r, len, needle))
            of->found = true;
    }
}

int sha256_file(const char *path, const char *needle, struct sha256 *of, struct err *err)
{
    gcry_md_hd_t sum = NULL;
    FILE *file = fopen(path, "re");
    struct reading *r = calloc(1, sizeof(*r));
    int result = 0;

    *of = (struct sha256){ 0 };
    if (!file || !r)
        result = err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (result == 0)
        result = open_sum(&sum, err);
    if (result == 0) {
        read_all(file, sum, r, needle, of);
        if (ferror(file))
            result = err_set(err, ERR_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
        for (int i = 0; i < SHA256_LEN; i++)
            snprintf(of->hex + 2 * i, 3, "%02x", gcry_md_read(sum, GCRY_MD_SHA256)[i]);
        gcry_md_close(sum);
    }
    if (file)
        fclose(file);
    free(r);
    return result;
}

bool sha256_is(const char *text)
{
    return strlen(text) == SHA256_HEX - 1 && strspn(text, "0123456789abcdef") == SHA256_HEX - 1;
}
