/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/nfs3_case.h
 *
 * What the NFSv3 tests share: one sample that is built and checked again and again.
 */
#ifndef NFSDIGEST_TESTS_NFS3_CASE_H
#define NFSDIGEST_TESTS_NFS3_CASE_H

#include "wire_check.h"

static struct sample s;

static inline const struct procedure *nfs(uint32_t number, const char *name)
{
    const struct procedure *procedure = procedure_find(100003, 3, number);

    assert_non_null(procedure);
    assert_string_equal(procedure->name, name);
    sample_reset(&s);
    return procedure;
}

static inline void done(const struct type *type)
{
    check_sample(&s, type);
    sample_reset(&s);
}

static inline void failed(const char *name, uint32_t status)
{
    size_t outer = enter(&s, name);

    u32(&s, "status", status);
    leave(&s, outer);
}

static inline void ok(const char *name)
{
    failed(name, 0);
}

/* A failure that carries optional attributes, under each of two statuses. */
static inline void attributes_fail(const struct type *type, const char *name,
                                   const char *attributes)
{
    int follows;

    for (follows = 0; follows < 2; follows++) {
        failed(name, follows ? 10008 : 4711); /* a status that is in no list, too */
        post_op_attr(&s, attributes, follows);
        done(type);
    }
}

static inline void wcc_fail(const struct type *type, const char *name, const char *wcc)
{
    int which;

    for (which = 0; which < 4; which++) {
        failed(name, 13);
        wcc_data(&s, wcc, which & 1, which & 2);
        done(type);
    }
}

static inline void where(const char *path, const char *name)
{
    size_t outer = enter(&s, path);

    handle(&s, "dir", 28, 10);
    string(&s, "name", name);
    leave(&s, outer);
}

#endif
