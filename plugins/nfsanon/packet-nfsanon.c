/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfsanon: a Wireshark plugin with which tshark writes anonymized captures of NFS traffic.
 * README.md says how it is used.  This file is what libwireshark's loader looks for. */
#include "compat.h"
#include "anonymize.h"

#include <epan/packet.h>
#include <epan/tap.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT const char plugin_version[] = NFSDIGEST_VERSION;
EXPORT const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
EXPORT const int plugin_want_minor = WIRESHARK_VERSION_MINOR;
EXPORT void plugin_register(void);
EXPORT uint32_t plugin_describe(void);

void plugin_register(void)
{
    static tap_plugin tap = { anonymize_register };
    tap_register_plugin(&tap);
}

uint32_t plugin_describe(void)
{
    return COMPAT_IS_TAP_LISTENER;
}
