/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

static const struct option words[] = {
    { "same-server", OPTION_SAME, "A=B",
      "the server at address A is reached at address B, too; may be given several times" },
    { NULL },
};

const struct option_set nfspair_options = {
    .name = "nfspair",
    .purpose = "Writes the NFS operations of a capture as an .nfsr record stream.",
    .out = "the stream",
    .size = sizeof(struct options),
    .words = words,
};
