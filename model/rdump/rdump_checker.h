/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_checker.h
 *
 * Shared by the parts of the checker: rdump_check.c (the tree), rdump_check_operation.c,
 * rdump_check_result.c (results of operations and the objects they use).  Memory: also 4 bytes a
 * credential, and 16 for each cookie that is used within the horizon.
 */
#ifndef NFSDIGEST_RDUMP_CHECKER_H
#define NFSDIGEST_RDUMP_CHECKER_H

#include "rdump/rdump_check.h"
#include "wire/field.h"

enum {
    /* The most that an object's number may be above the count of objects and operations so far.
     * Numbers are given in the order of another pass. */
    NUMBER_SLACK = 1 << 20,
};

enum {
    KNOWN_HERE = 1 << 0,
    KNOWN_PLACED = 1 << 1, /* a directory that has an entry */
    KNOWN_ON_WAY = 1 << 2, /* search for loops: on the way up from the current object, */
    KNOWN_DONE = 1 << 3,   /* or on an earlier way */
    KNOWN_USED = 1 << 4,   /* by some operation */
    KNOWN_FORGOTTEN = 1 << 5,
};

struct known_object {
    uint32_t server, copy;
    uint32_t parent; /* of a directory */
    uint8_t type, flags;
};

/* A place in a listing where a later listing may continue. */
struct known_cookie {
    uint64_t operation;
    uint32_t entries;
};

struct rdump_checker {
    struct rdump_summary *out;
    enum rdump_kind kind; /* kind of the current record */
    uint64_t number;      /* its number among those of its kind; operations from 0, others from 1 */
    uint32_t horizon, copies, hosts;
    uint32_t credential;    /* the last one */
    uint32_t last;          /* highest number of the tree's objects in a row */
    struct buf credentials; /* uint32_t, growing */
    struct buf objects;     /* struct known_object by number - 1 */
    struct buf entries;     /* struct entry_key, until all entries were read */
    int64_t begun;          /* latest time of a captured operation */
    struct buf cookies;     /* struct known_cookie, in the order of operations */
    bool results;           /* the dump has values of results */
    bool tree_is_whole;
    bool no_memory;
};

__attribute__((format(printf, 2, 3))) void rdump_finding(struct rdump_checker *c,
                                                         const char *format, ...);

/* Returns the object of this number, even if no record of it was seen.  NULL: the number is 0 or
 * impossible, or no memory.  Valid until the next call. */
struct known_object *rdump_known(struct rdump_checker *c, uint32_t number);

/* Returns true if there is a credential with this number. */
bool rdump_has_credential(const struct rdump_checker *c, uint32_t number);

void rdump_check_operation(struct rdump_checker *c, const struct rdump_operation *operation);

/* Checks the result.  |procedure|: NULL if it is not known; |cookie|: the cookie in its arguments.
 */
void rdump_check_result(struct rdump_checker *c, const struct rdump_operation *operation,
                        const struct procedure *procedure, uint64_t cookie);
/* Checks the objects that it forgets.  Call it last for each operation. */
void rdump_check_forget(struct rdump_checker *c, const struct rdump_operation *operation);

#endif
