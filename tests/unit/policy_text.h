/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/policy_text.h
 *
 * Texts of policies for the tests of them: a whole one, and how to change it.
 */
#ifndef NFSDIGEST_UNIT_POLICY_TEXT_H
#define NFSDIGEST_UNIT_POLICY_TEXT_H

#include "anon/policy_parts.h"

#include <stdio.h>
#include <string.h>

/* The smallest whole policy; line numbers below count in it. */
static const char whole[] = "[policy]\n"
                            "name=mine\n"
                            "[classes]\n" /* line 3 */
                            "handle=keyed\nname=token\npath=token\nuid=keyed\ngid=keyed\n"
                            "host=token\naddress=keyed\ntime=keep\ninterval=keep\nsize=keep\n"
                            "offset=keep\ncount=keep\nmode=keep\ntype=keep\nfileid=keyed\n"
                            "fsid=keyed\ndevice=keyed\ncookie=keyed\nverifier=keyed\ndata=zero\n"
                            "status=keep\nboolean=keep\nenum=keep\nlock_owner=token\n"
                            "opaque=token\nnone=keep\n" /* lines 4 to 29 */
                            "[messages]\n"
                            "stamp=keyed\ncredential=zero\nxid=keep\nport=keep\nunread=header\n";

static inline struct policy *read_ok(const char *text)
{
    struct policy *policy;
    struct err err = { 0 };

    if (policy_read("f", text, strlen(text), &policy, &err) < 0)
        fail_msg("%s", err.text);
    return policy;
}

static inline struct policy *read_more(const char *more)
{
    char text[4096];

    snprintf(text, sizeof(text), "%s%s", whole, more);
    return read_ok(text);
}

/* |whole| with the line that begins with |from| replaced by |to|. */
static inline void replaced(char text[4096], const char *from, const char *to)
{
    const char *at = strstr(whole, from), *end;

    assert_non_null(at);
    end = strchr(at, '\n');
    snprintf(text, 4096, "%.*s%s%s", (int)(at - whole), whole, to, end + (*to ? 0 : 1));
}

/* What the line of a class begins with; "name=" alone would also be the policy's. */
static inline const char *class_line(const char *name, char from[40])
{
    if (strcmp(name, "name") == 0)
        return "name=token";
    snprintf(from, 40, "%s=", name);
    return from;
}

#endif
