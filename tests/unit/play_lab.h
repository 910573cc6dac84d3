/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small tree, and operations on it that never were in a trace: for tests of model/play.
 *
 *     /            1   0777
 *       d/         2   0777, of 1000
 *         g        4
 *       e/         5   empty
 *       f          3   0644, of 1000, 10 bytes
 *       l          6   a symbolic link to "target"
 *       closed/    7   0555, of 2000
 *       sticky/    8   01777, of 2000
 *         mine     9   of 1000
 *         theirs   10  of 2000
 *       setgid/    11  02777, group 50
 *         sub/     12  empty
 */
#include "play/attempt.h"
#include "wire/write.h"

#include <stdlib.h>

enum {
    ROOT_DIR = 1,
    D,
    F,
    G,
    E,
    L,
    CLOSED,
    STICKY_DIR,
    MINE,
    THEIRS,
    SETGID_DIR,
    SUB,
    UNKNOWN = 90,
    NEW = 91
};
enum { USER = 1, OTHER = 2 }; /* credentials: uid 1000, gid 100; uid 2000, gid 200 */
enum { LAB_NAMES = 64 };

struct lab {
    struct hierarchy h;
    struct rehearsal r;
    struct repair repair;
    struct err err;
    char played[400]; /* what was played, in order */
};

/* An operation: what it asks for, and what its result says. */
struct lab_op {
    int procedure;
    uint32_t object;
    const char *name;
    uint32_t object2;
    const char *name2;
    uint32_t status, shows; /* |shows|: the new object of the result */
    uint32_t who;
    char how;       /* CREATE: u UNCHECKED, g GUARDED, x EXCLUSIVE */
    uint32_t sets;  /* ASKED_ bits */
    uint32_t value; /* of those */
    uint64_t offset, count, done;
    bool eof;
    uint32_t granted;
};

struct lab_made {
    uint32_t handle_at[2], handles;
    struct xdr_put to;
    const struct lab_op *op;
};

static inline struct bytes lab_text(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

static inline bool lab_sets(const struct lab_op *op, const struct field *set_it)
{
    const struct arm *arm = arm_find(set_it->arms, 1);
    uint32_t cls = arm && arm->type ? arm->type->fields->cls : CLASS_NONE;

    return (cls == CLASS_MODE && op->sets & ASKED_MODE) ||
           (cls == CLASS_UID && op->sets & ASKED_UID) ||
           (cls == CLASS_SIZE && op->sets & ASKED_SIZE);
}

static int lab_fill(void *ctx, struct fill *f)
{
    static const uint8_t number[4], contents[100];
    struct lab_made *m = ctx;
    const struct lab_op *op = m->op;

    switch (f->field->cls) {
    case CLASS_HANDLE:
        m->handle_at[m->handles++] = (uint32_t)m->to.to->len + 4;
        f->bytes = (struct bytes){ number, 4 };
        break;
    case CLASS_NAME:
        f->bytes = lab_text(f->field->role & ROLE_NAME2 ? op->name2 : op->name);
        break;
    case CLASS_PATH:
        f->bytes = lab_text("text");
        break;
    case CLASS_TYPE:
        f->value = OBJECT_FIFO;
        break;
    case CLASS_ENUM:
        f->value = f->field->kind != XDR_UNION || !(f->field->role & ROLE_SETS) ? 0
                   : op->how == 'g'                                             ? 1
                   : op->how == 'x'                                             ? 2
                                                                                : 0;
        break;
    case CLASS_BOOLEAN:
        f->value = f->field->kind == XDR_UNION && lab_sets(op, f->field);
        break;
    case CLASS_OFFSET:
        f->value = op->offset;
        break;
    case CLASS_COUNT:
        f->value = op->count;
        break;
    case CLASS_DATA:
        f->bytes = (struct bytes){ contents, (uint32_t)(op->count < 100 ? op->count : 100) };
        break;
    case CLASS_MODE:
    case CLASS_UID:
    case CLASS_SIZE:
        f->value = op->value;
        break;
    default:
        break;
    }
    return 0;
}

static inline struct spooled *lab_make(struct lab *l, const struct lab_op *op)
{
    const struct procedure *p = procedure_find(100003, 3, (uint32_t)op->procedure);
    struct buf body = { 0 };
    struct lab_made m = { .to = xdr_put_to(&body, 4096), .op = op };
    const struct filler filler = { lab_fill, &m };
    struct spooled *o;
    struct effect *e;

    assert_int_equal(write_body(&m.to, p->arguments, false, &filler, &l->err), 0);
    o = spooled_new(p, (struct bytes){ body.data, (uint32_t)body.len }, m.handle_at, op->object,
                    op->object2, &l->err);
    assert_non_null(o);
    buf_free(&body);
    e = &o->effect;
    e->rpc_status = 0;
    e->status = op->status;
    e->succeeded = op->status == 0;
    e->new_object = op->shows;
    e->credential = op->who;
    e->client_number = e->server_number = 1;
    e->has_done = e->succeeded && (op->procedure == 6 || op->procedure == 7);
    e->done = op->done;
    e->has_eof = op->procedure == 6;
    e->eof = op->eof;
    e->result_roles = e->succeeded ? p->result->roles : 0;
    e->has_granted = op->granted != 0;
    e->granted = op->granted;
    return o;
}

static inline void lab_node(struct lab *l, uint32_t parent, const char *name, uint32_t object,
                            uint8_t type, uint32_t mode, uint32_t owner)
{
    uint32_t id = node_get(&l->h, object, BEGINNING, 0, 0);
    struct node *n = node_at(&l->h, id);

    n->type = type;
    n->mode = mode;
    n->uid = owner;
    n->gid = object == SETGID_DIR ? 50 : owner / 10;
    n->nlink = type == OBJECT_DIR ? 2 : 1;
    n->size = type == OBJECT_DIR ? 4096 : 10;
    n->knows = KNOWS_ALL;
    if (name)
        assert_int_equal(entry_open(&l->h, node_find(&l->h, parent), lab_text(name), id, BEGINNING,
                                    BEGINNING, 0, NULL, &l->err),
                         0);
    if (name && type == OBJECT_DIR)
        node_at(&l->h, node_find(&l->h, parent))->nlink++;
}

static int lab_show(void *ctx, const struct rehearsed *x, struct err *err)
{
    struct lab *l = ctx;
    size_t len = strlen(l->played);
    const struct procedure *p = x->op->effect.procedure;

    (void)err;
    if (x->op->inferred)
        snprintf(l->played + len, sizeof(l->played) - len, "%s+%s", len ? " " : "", p->name);
    else
        snprintf(l->played + len, sizeof(l->played) - len, "%s%d%s", len ? " " : "",
                 (int)x->op->effect.id, x->unplayable ? "!" : "");
    return 0;
}

static inline void lab_begin(struct lab *l)
{
    uint32_t *named = calloc(LAB_NAMES, sizeof(*named));
    struct caller *c;

    *l = (struct lab){ 0 };
    assert_int_equal(hierarchy_init(&l->h, BEGINNING, NULL, &l->err), 0);
    lab_node(l, 0, NULL, ROOT_DIR, OBJECT_DIR, 0777, 0);
    lab_node(l, ROOT_DIR, "d", D, OBJECT_DIR, 0777, 1000);
    lab_node(l, ROOT_DIR, "f", F, OBJECT_REG, 0644, 1000);
    lab_node(l, D, "g", G, OBJECT_REG, 0644, 1000);
    lab_node(l, ROOT_DIR, "e", E, OBJECT_DIR, 0777, 1000);
    lab_node(l, ROOT_DIR, "l", L, OBJECT_LNK, 0777, 1000);
    node_at(&l->h, node_find(&l->h, L))->link = text_new(lab_text("target"));
    lab_node(l, ROOT_DIR, "closed", CLOSED, OBJECT_DIR, 0555, 2000);
    lab_node(l, ROOT_DIR, "sticky", STICKY_DIR, OBJECT_DIR, 01777, 2000);
    lab_node(l, STICKY_DIR, "mine", MINE, OBJECT_REG, 0644, 1000);
    lab_node(l, STICKY_DIR, "theirs", THEIRS, OBJECT_REG, 0644, 2000);
    lab_node(l, ROOT_DIR, "setgid", SETGID_DIR, OBJECT_DIR, 02777, 0);
    lab_node(l, SETGID_DIR, "sub", SUB, OBJECT_DIR, 0777, 1000);
    assert_int_equal(hierarchy_rewind(&l->h, &l->err), 0);
    l->r.rehearsed = lab_show;
    l->r.ctx = l;
    l->r.refuses = true;
    assert_non_null(named);
    assert_int_equal(rehearsal_init(&l->r, &l->h, &l->repair, named, &l->err), 0);
    c = callers_place(&l->r.callers, USER);
    *c = (struct caller){ .known = true, .uid = 1000, .gid = 100 };
    c = callers_place(&l->r.callers, OTHER);
    *c = (struct caller){ .known = true, .uid = 2000, .gid = 200 };
}

static inline void lab_end(struct lab *l)
{
    rehearsal_free(&l->r);
    hierarchy_free(&l->h);
    repair_free(&l->repair);
}
