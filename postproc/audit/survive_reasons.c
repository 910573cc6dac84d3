/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive_reasons.c
 *
 * Why values of a class stay.  nfsdigest-policy(5) has the same words under WHAT STAYS, and the
 * topics stand in docs/releasing.md: tests/pipeline/policy_survives.py holds the three together.
 */
#include "audit/survive.h"

static const char zeros[] = "0 and empty values: they mean \"none\"";
static const char words[] = "Words of protocols", sizes[] = "Sizes, offsets, counts",
                  same_everywhere[] = "What means the same everywhere", times[] = "Times",
                  lengths[] = "Lengths";

static const struct survive_reason reasons[SURVIVE_CLASSES] = {
    [CLASS_NONE] = { "none", words, "messages could not be read without them",
                     "texts that all systems use, such as \"udp\"" },
    [CLASS_HANDLE] = { "handle", same_everywhere, NULL, zeros },
    [CLASS_NAME] = { "name", same_everywhere, NULL, "\".\", \"..\" and empty names" },
    [CLASS_PATH] = { "path", same_everywhere, NULL, "\"/\", \".\", \"..\" and empty paths" },
    [CLASS_UID] = { "uid", same_everywhere, NULL,
                    "root and nobody: what they may do is part of the workload" },
    [CLASS_GID] = { "gid", same_everywhere, NULL,
                    "root and nobody: what they may do is part of the workload" },
    [CLASS_HOST] = { "host", same_everywhere, NULL, "empty names: they mean \"none\"" },
    [CLASS_ADDRESS] = { "address", same_everywhere, NULL,
                        "the address of any host, and of a host itself (0.0.0.0, 127.0.0.1, ::1)" },
    [CLASS_TIME] = { "time", times, "ages of files are part of the workload",
                     "constants that are not real times: shifted constants would reveal the "
                     "offset" },
    [CLASS_INTERVAL] = { "interval", times, "clients see by them whether a file was changed",
                         NULL },
    [CLASS_SIZE] = { "size", sizes, "the workload itself", NULL },
    [CLASS_OFFSET] = { "offset", sizes, "the workload itself", NULL },
    [CLASS_COUNT] = { "count", sizes, "the workload itself; elements are counted by them", NULL },
    [CLASS_MODE] = { "mode", "Permissions", "they decide what the server refuses",
                     "modes without bits that the rule removes" },
    [CLASS_TYPE] = { "type", words, "a tree could not be made without them", NULL },
    [CLASS_FILEID] = { "fileid", same_everywhere, NULL, zeros },
    [CLASS_FSID] = { "fsid", same_everywhere, NULL, zeros },
    [CLASS_DEVICE] = { "device", same_everywhere, NULL, zeros },
    [CLASS_COOKIE] = { "cookie", same_everywhere, NULL, "0: the beginning of a listing" },
    [CLASS_VERIFIER] = { "verifier", same_everywhere, NULL, zeros },
    [CLASS_DATA] = { "data", same_everywhere, NULL,
                     "contents that were zeros, and empty contents" },
    [CLASS_STATUS] = { "status", words, "the outcome of an operation", NULL },
    [CLASS_BOOLEAN] = { "boolean", words, "messages could not be read without them", NULL },
    [CLASS_ENUM] = { "enum", words, "messages could not be read without them", NULL },
    [CLASS_LOCK_OWNER] = { "lock_owner", same_everywhere, NULL, zeros },
    [CLASS_OPAQUE] = { "opaque", same_everywhere, NULL, zeros },
    [ITEM_HEADER] = { "header", words, "messages could not be read without them", NULL },
    [ITEM_XID] = { "xid", "XIDs and ports", "replies are matched with calls by them", zeros },
    [ITEM_STAMP] = { "stamp", same_everywhere, NULL, zeros },
    [ITEM_CREDENTIAL] = { "credential", same_everywhere, NULL,
                          "zeros, and empty bodies, as in AUTH_NONE" },
    [SURVIVE_LENGTH] = { "length", lengths, "they decide what fits into a message",
                         "lengths that happen to be the length of a token" },
    [SURVIVE_SUFFIX] = { "suffix", "Suffixes", "kinds of files are part of the workload", NULL },
    [SURVIVE_BITS] = { "mode bits", "Permissions",
                       "the owner's bits decide what the server refuses", NULL },
    [SURVIVE_DISTANCE] = { "age", times, "ages of files are part of the workload", NULL },
    [SURVIVE_CAPTURED] = { "packet time", times, "hours and days are part of the workload", NULL },
    [SURVIVE_INTERVAL] = { "packet interval", times, "load and latencies are measured by them",
                           NULL },
    [SURVIVE_TRANSPORT] = { "transport", words, "messages could not be read without it", NULL },
    [SURVIVE_PORT] = { "port", "XIDs and ports", "readers recognize services by them", NULL },
    [SURVIVE_PREFIX] = { "address prefix", "Addresses", "readers distinguish networks by them",
                         NULL },
    [SURVIVE_MESSAGE] = { "message length", lengths,
                          "if a message cannot be read, nothing else is known of it",
                          "lengths of messages without names; all other lengths follow from "
                          "these" },
    [SURVIVE_END] = { "connection end", "Ends of connections",
                      "readers see by them whether a call is sent again", NULL },
    [SURVIVE_TOTAL] = { "count at the end", "Counts at the file's end",
                        "readers learn from them what is missing, and why", NULL },
};

const struct survive_reason *survive_reason(unsigned cls)
{
    return &reasons[cls];
}
