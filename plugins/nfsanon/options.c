/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#define AT(member) offsetof(struct anon_options, member)

static const struct option words[] = {
    { "key", OPTION_TEXT, "FILE", "the key that decides the pseudonyms (made by nfsdigest key new)",
      AT(key), false, "a file name", true },
    { "policy", OPTION_TEXT, "NAME|FILE", "public (the default), lab, strict, or a policy file",
      AT(policy), false, "a name or a file name" },
    { "force", OPTION_FLAG, NULL, "replace the file that out= names", AT(force) },
    { "stats", OPTION_FLAG, NULL, "print on standard error what was changed and left out",
      AT(stats) },
    { NULL }
};

const struct option_set nfsanon_options = {
    .name = "nfsanon",
    .purpose = "Writes an anonymized pcapng file from the RPC messages of a capture.",
    .out = "the capture",
    .size = sizeof(struct anon_options),
    .words = words,
};
