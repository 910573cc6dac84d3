/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/credential.h
 *
 * Records each credential once.  Two RPCSEC_GSS credentials are equal if their context is equal,
 * because each call has another sequence number.
 *
 * Memory: CREDENTIALS_MAX bodies.  If there are more, all are forgotten, and those that come again
 * get new ids.
 */
#ifndef NFSDIGEST_FLOW_CREDENTIAL_H
#define NFSDIGEST_FLOW_CREDENTIAL_H

#include "base/arena.h"
#include "base/table.h"
#include "record/record.h"
#include "wire/rpc.h"

enum { CREDENTIALS_MAX = 16384 };

struct credential {
    const uint8_t *body;
    uint32_t body_len, flavor, service, id;
};

struct credentials {
    struct sink sink;
    struct credential *all; /* CREDENTIALS_MAX */
    uint32_t count, last_id;
    struct table by_body;
    struct arena arena;
};

int credentials_init(struct credentials *c, const struct sink *sink, struct err *err);
void credentials_free(struct credentials *c);

/* Returns the id of a credential's record.  Puts the record first if the credential is new.
 * Returns 0 with |err| filled on failure. */
uint32_t credential_id(struct credentials *c, const struct rpc_auth *auth, struct err *err);

/* Learns a credential from the record that an earlier process put. */
int credentials_learn(struct credentials *c, const struct record_credential *record,
                      struct err *err);

#endif
