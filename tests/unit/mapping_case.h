/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One mapping under the policy of anon_build.h, for all tests of a program. */
#ifndef NFSDIGEST_TESTS_MAPPING_CASE_H
#define NFSDIGEST_TESTS_MAPPING_CASE_H

#include "anon_build.h"

static struct policy policy;
static struct mapping *mapping;

static int setup(void **state)
{
    (void)state;
    policy = build_policy();
    mapping = build_mapping(&policy, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mapping_free(mapping);
    return 0;
}

#endif
