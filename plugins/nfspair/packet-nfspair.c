/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfspair: a Wireshark plugin that pairs NFS calls and replies, and knows objects and paths.
 * README.md says how it is used, nfspair.h what its files do.
 * This one is what libwireshark's loader looks for. */
#include "compat.h"
#include "nfspair.h"

#include <epan/proto.h>
#include <epan/tap.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT const char plugin_version[] = NFSDIGEST_VERSION;
EXPORT const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
EXPORT const int plugin_want_minor = WIRESHARK_VERSION_MINOR;
EXPORT void plugin_register(void);
EXPORT uint32_t plugin_describe(void);

int proto_nfspair = -1;

static void register_protocol(void)
{
    proto_nfspair = proto_register_protocol("NFS Pair", "NFS Pair", "nfspair");
    tree_register();
    menu_register();
}

void plugin_register(void)
{
    static proto_plugin protocol = { register_protocol, tree_handoff };
    static tap_plugin tap = { record_register };
    proto_register_plugin(&protocol);
    tap_register_plugin(&tap);
}

uint32_t plugin_describe(void)
{
    return COMPAT_IS_DISSECTOR | COMPAT_IS_TAP_LISTENER;
}
