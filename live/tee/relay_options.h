/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/relay_options.h
 *
 * The options of nfstee relay.
 */
#ifndef NFSDIGEST_TEE_RELAY_OPTIONS_H
#define NFSDIGEST_TEE_RELAY_OPTIONS_H

#include "base/err.h"
#include "net/address.h"
#include "show/args.h"

#include <stdbool.h>
#include <stdint.h>

/* Texts are those of |argv|; NULL: not given. */
enum { RELAY_RULES_MAX = 64 }; /* of --inject; FAULTS_MAX by the control socket */

struct relay_options {
    const char *listen, *to, *mount_listen, *mount_to, *nlm_listen, *nsm_listen;
    const char *attach, *bind, *ports, *control, *upgrade, *portmap;
    struct net_address metrics; /* AF_UNSPEC: none */
    uint64_t ring_size, connections, of_address;
    int64_t duration; /* ns; 0: until a signal */
    int64_t drain;    /* ns */
    const char *inject[RELAY_RULES_MAX];
    uint32_t inject_count;
    uint64_t seed; /* of the rules */
    bool transparent, no_udp, quiet, json;
    bool has_ring, has_drain, has_seed; /* given */
};

/* Fills the table of options, which set |o|, and gives |o| the defaults.  "nfstee run" has the same
 * options. */
enum { RELAY_ARGS = 25 }; /* at most, with the end */
void relay_options_begin(struct relay_options *o, struct arg *args);
/* Returns 1 or -ERR_USAGE. */
int relay_options_check(const struct relay_options *o, struct err *err);

/* Returns 1, 0 if only help was wanted and printed, or -ERR_USAGE. */
int relay_options_parse(struct relay_options *o, int argc, char **argv, struct err *err);

#endif
