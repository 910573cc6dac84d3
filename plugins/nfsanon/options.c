/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#define AT(member) offsetof(struct anon_options, member)

static const struct option words[] = {
    { "key", OPTION_TEXT, "FILE", "the key that pseudonyms depend on (nfsdigest key new)", AT(key),
      false, "a file name", true },
    { "policy", OPTION_TEXT, "NAME|FILE", "public (the default), lab, strict, or a policy file",
      AT(policy), false, "a name or a file name" },
    { "force", OPTION_FLAG, NULL, "replace the capture that out= names", AT(force) },
    { "stats", OPTION_FLAG, NULL, "say on standard error what was changed, and what left out",
      AT(stats) },
    { NULL }
};

const struct option_set nfsanon_options = {
    .name = "nfsanon",
    .purpose = "Writes the RPC messages of a capture anew, anonymized, as a pcapng capture.",
    .out = "the capture",
    .size = sizeof(struct anon_options),
    .words = words,
};
