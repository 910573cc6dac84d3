/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/digest_steps.h
 *
 * Operations made by hand for the hierarchy: one line each, one second each unless times are given.
 */
#ifndef DIGEST_STEPS_H
#define DIGEST_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tree/learn_parts.h"
#include "base/escape.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>

enum { NFS3_GETATTR = 1, NFS3_SETATTR = 2, NFS3_LOOKUP = 3, NFS3_READ = 6, NFS3_WRITE = 7 };
enum { STEPS_MAX = 64, OK = 0 };

static struct learn l;
static struct err err;
static int64_t now, next_id;
static char ended[4096]; /* entries as they end */

/* One operation; what is left out is none. */
struct op {
    int procedure;
    uint32_t object, object2, made;
    const char *name, *name2;
    int status;
    int64_t call, reply; /* seconds; 0: the next ones */
    uint8_t type;        /* of attributes of |made|, or of |object| without one */
    uint32_t nlink;
    uint64_t size;
    uint64_t before; /* wcc_attr of the object: its size, 0: there is none */
    uint64_t offset, done;
    bool eof, unanswered;
    int how; /* createmode3 and 1; 0: not CREATE */
    uint64_t asked_size;
    bool asks_size;
};

struct made {
    struct effect effect;
    uint8_t fattr3[84], wcc_attr[24];
};
static struct made steps[STEPS_MAX];
static int step_count;

static inline int put_entry(void *ctx, const struct hierarchy *h, const struct entry *e,
                            struct err *unused)
{
    char start[24] = "-", stop[24] = "-";
    size_t len = strlen(ended);
    struct bytes name = text_bytes(e->name);

    (void)ctx, (void)unused;
    if (e->start != BEGINNING)
        snprintf(start, sizeof(start), "%lld", (long long)(e->start / 1000000000));
    if (e->stop != TO_THE_END)
        snprintf(stop, sizeof(stop), "%lld", (long long)(e->stop / 1000000000));
    snprintf(ended + len, sizeof(ended) - len, "%s%lld/%.*s=%lld %s..%s", len ? ", " : "",
             (long long)node_number(h, e->parent), (int)name.len, (const char *)name.data,
             (long long)node_number(h, e->node), start, stop);
    return 0;
}

static inline int setup_at(int64_t moment)
{
    const struct hierarchy_host host = { .entry = put_entry };

    wire_init();
    memset(&err, 0, sizeof(err));
    memset(steps, 0, sizeof(steps));
    now = step_count = 0;
    next_id = 1;
    ended[0] = '\0';
    return learn_init(&l, moment, &host, &err);
}

static inline int setup(void **state)
{
    (void)state;
    return setup_at(BEGINNING);
}

static inline int teardown(void **state)
{
    (void)state;
    learn_free(&l);
    return 0;
}

static inline struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, s ? (uint32_t)strlen(s) : 0 };
}

/* The effect that decoding would give: roles are those of the tables. */
static inline struct effect *make(const struct op *op)
{
    struct made *m = &steps[step_count++];
    struct effect *e = &m->effect;
    const struct procedure *p = procedure_find(100003, 3, (uint32_t)op->procedure);
    enum whose whose = op->made ? OF_NEW_OBJECT : OF_OBJECT;
    uint32_t in = p->arguments->roles;

    assert_true(step_count < STEPS_MAX);
    *e = (struct effect){ .id = next_id++, .program = 100003, .version = 3, .procedure = p };
    e->call_time = (op->call ? op->call : ++now) * 1000000000;
    e->done_time = (op->reply ? op->reply : op->call ? op->call : now) * 1000000000 + 1;
    e->pairing = op->unanswered ? REPLY_LOST : PAIRED;
    e->rpc_status = op->unanswered ? STATUS_NONE : RPC_SUCCESS;
    e->status = op->unanswered ? STATUS_NONE : op->status;
    e->succeeded = !op->unanswered && op->status == 0;
    e->roles = in;
    e->result_roles = e->succeeded ? p->result->roles : 0;
    e->object = op->object;
    e->parent = in & ROLE_PARENT ? op->object : 0;
    e->parent2 = op->object2;
    e->new_object = op->made;
    e->name = text(op->name);
    e->name2 = text(op->name2);
    e->object_role = in & (ROLE_OBJECT | ROLE_MODIFIES);
    e->name_role = op->name ? in & ROLE_NAME : 0;
    e->parent2_role = in & ROLE_PARENT2 ? ROLE_PARENT2 | ROLE_MODIFIES : 0;
    e->name2_role = in & ROLE_NAME2 ? ROLE_NAME2 | ROLE_MODIFIES : 0;
    if (op->how)
        e->asked = (struct asked){ .bits = ASKED_HOW, .how = (uint32_t)op->how - 1 };
    if (op->asks_size) {
        e->asked.bits |= ASKED_SIZE;
        e->asked.size = op->asked_size;
    }
    e->offset = op->offset;
    e->done = op->done;
    e->has_done = e->has_eof = op->done || op->eof;
    e->eof = op->eof;
    if (op->type) {
        store_be32(m->fattr3, op->type);
        store_be32(m->fattr3 + 4, 0644);
        store_be32(m->fattr3 + 8, op->nlink ? op->nlink : 1);
        store_be64(m->fattr3 + 20, op->size);
        e->fattr3[whose] = m->fattr3;
    }
    if (op->before) {
        store_be64(m->wcc_attr, op->before);
        e->wcc_attr[OF_OBJECT] = m->wcc_attr;
    }
    return e;
}

static inline void called(struct effect *e)
{
    assert_int_equal(learn_called(&l, e, &err), 0);
}
static inline void done(struct effect *e)
{
    assert_int_equal(learn_done(&l, e, &err), 0);
}

/* Called and done before the next one is called. */
#define DO(...) do_op(&(struct op){ __VA_ARGS__ })
static inline void do_op(const struct op *op)
{
    struct effect *e = make(op);

    called(e);
    done(e);
}

/* All entries: those that ended in that order, then the others. */
static inline const char *entries(void)
{
    assert_int_equal(hierarchy_end(&l.hierarchy, &err), 0);
    return ended;
}

static inline void print_place(char *to, size_t size, int64_t parent, const char *name)
{
    struct bytes b = name ? text_bytes(name) : (struct bytes){ 0 };

    if (name)
        snprintf(to, size, " %lld/%.*s", (long long)parent, (int)b.len, (const char *)b.data);
    else
        snprintf(to, size, " ?");
}

/* "PROCEDURE object place place2 <operation (reason; witness[; explained])" */
static inline const char *inferred(void)
{
    static char all[4096];
    size_t len = 0;

    all[0] = '\0';
    for (uint32_t n = 1; n <= l.repair.count; n++) {
        const struct inference *i = &l.repair.inferences[n];
        char one[64], two[64] = "", explained[32] = "";

        print_place(one, sizeof(one), i->parent, i->name);
        if (i->name2)
            print_place(two, sizeof(two), i->parent2, i->name2);
        if (i->explained)
            snprintf(explained, sizeof(explained), "; %lld", (long long)i->explained);
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s %lld%s%s <%lld (%s; %lld%s)",
                                len ? ", " : "", procedure_find(100003, 3, i->procedure)->name,
                                (long long)i->object, one, two, (long long)i->precedes,
                                repair_reason_name((enum repair_reason)i->reason),
                                (long long)i->witness, explained);
    }
    return all;
}

static inline const struct node *node_of(uint32_t object)
{
    uint32_t id = node_find(&l.hierarchy, object);

    assert_int_not_equal(id, NODE_NONE);
    return node_at(&l.hierarchy, id);
}

#endif
