/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/search.h
 *
 * Searches any bytes for all secrets at once.  For short secrets, a filter checks two bytes at each
 * place; for others, a filter of the size that they need checks five bytes at every other place.
 * Then come a filter over the next three or six bytes, a table, and a comparison.  Runs of zeros
 * cost next to nothing.
 *
 * Memory: 4 MiB, and 50 bytes for each secret.
 */
#ifndef NFSDIGEST_AUDIT_SEARCH_H
#define NFSDIGEST_AUDIT_SEARCH_H

#include "audit/secret.h"

struct search;

/* |secrets| must outlive it unchanged. */
struct search *search_new(const struct secrets *secrets, struct err *err);
void search_free(struct search *search);

/* Gets a hit: |at| is the place of the secret in |data|.  Returns 0 or a negative code. */
typedef int search_hit(void *ctx, uint32_t secret, size_t at, struct err *err);

/* Finds every secret that begins in [from, to) of the |len| bytes. */
int search_bytes(const struct search *search, const uint8_t *data, size_t len, size_t from,
                 size_t to, search_hit *hit, void *ctx, struct err *err);

#endif
