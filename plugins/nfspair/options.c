/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

const struct option_set nfspair_options = {
    .name = "nfspair",
    .purpose = "Writes the NFS operations of a capture as a record stream (.nfsr).",
    .out = "the stream",
    .size = sizeof(struct options),
    .objects = true,
};
