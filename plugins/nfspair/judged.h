/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/judged.h
 *
 * What model/lint finds while the messages of a capture are read: where a server or a client breaks
 * RFC 1813.  Messages are added once, in order.  This file does not use Wireshark.
 *
 * Memory: that of lint (lint.h), 8 bytes for each operation, and 24 bytes and a text for each
 * finding.
 */
#ifndef NFSDIGEST_NFSPAIR_JUDGED_H
#define NFSDIGEST_NFSPAIR_JUDGED_H

#include "engine.h"
#include "lint/lint.h"

struct judged_finding {
    const struct lint_rule *rule;
    const char *text;
    uint32_t earlier; /* operation that it contradicts, or 0 */
};

struct judged;

struct judged *judged_new(struct err *err);
void judged_free(struct judged *judged);
/* Takes a record of a flow. */
int judged_flow(struct judged *judged, const struct record_flow *flow, struct err *err);
/* Takes a message that is no copy. */
int judged_message(struct judged *judged, const struct engine_message *message, struct err *err);
/* No message follows. */
int judged_end(struct judged *judged, struct err *err);
/* Calls |show| for each finding of an operation. */
void judged_each(const struct judged *judged, uint32_t operation,
                 void (*show)(void *ctx, const struct judged_finding *finding), void *ctx);

#endif
