/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded.h
 *
 * Texts of the original that stand encoded in the anonymized file (decode.h): names, paths, targets
 * of links, hosts, addresses as text, metadata; and digests of what has few values, so that they
 * can be tried: addresses, ids of users and groups, hosts.  Looked at is every value of a message
 * that may not stay, and all that stands beside packets; what stands in neither may not be there at
 * all (form.h, padding, surplus).
 *
 * Beside packets 6 bytes of a text are found, which chance does not write.  In values of messages
 * ENCODED_LEAST bytes, when so much of the pseudonyms would be like it with a probability below
 * CHANCE_LIMIT for all texts and encodings together: names of 12 bytes in any file with less than
 * some 10^7 characters of pseudonyms, those of 8 in small ones.  Shorter ones are found
 * as whole values, when these are too many for chance (encoded_short.h).
 *
 * Memory: encoded_short.h, the patterns of secret.h, ENCODED_VALUES times 10 of digests for each
 * class, a search, two chains, ENCODED_HITS.
 */
#ifndef NFSDIGEST_AUDIT_ENCODED_H
#define NFSDIGEST_AUDIT_ENCODED_H

#include "audit/blocks.h"
#include "audit/secret.h"
#include "link/frame.h"

enum { ENCODED_LEAST = 8, ENCODED_VALUES = 4096, ENCODED_HITS = 1 << 13 };

struct audit;
struct audit_message;
struct items;
struct encoded;

struct encoded *encoded_new(struct err *err);
void encoded_free(struct encoded *e);

/* Digests of a value in the way it is written: bytes, or a text. */
int encoded_digests(struct encoded *e, enum secret_class cls, const void *data, size_t len,
                    uint64_t frame, struct err *err);
/* The same of numbers and addresses, in all ways. */
int encoded_number(struct encoded *e, uint32_t number, uint64_t frame, struct err *err);
int encoded_address(struct encoded *e, const struct address *address, uint64_t frame,
                    struct err *err);

/* When all is gathered: takes over the texts. */
int encoded_ready(struct audit *a, struct err *err);

/* The value |index| of a message; |mask|: which of its bytes may stay. */
int encoded_value(struct audit *a, const struct audit_message *m, const struct items *items,
                  uint32_t index, const uint8_t *mask, struct err *err);
/* What of a block is no packet. */
int encoded_block(struct audit *a, const struct block *block, struct err *err);
/* When all was seen, and the chains are complete. */
void encoded_judge(struct audit *a);

#endif
