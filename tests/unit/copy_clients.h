/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/copy_clients.h
 *
 * For test_copy_random: clients that change the reference.  An operation begins, is executed and
 * ends at three times, and the ring has an entry for its beginning and for its end.
 */
#ifndef NFSDIGEST_UNIT_COPY_CLIENTS_H
#define NFSDIGEST_UNIT_COPY_CLIENTS_H

#include "copy_lab.h"

enum { OPS = 512, UNDER_WAY = 6, ENTRIES = 8192, POOL = 128, STEPS = 600, BLOCK = 512 };

struct h {
    uint32_t len;
    uint8_t data[HANDLE_LENGTH];
};

enum kind { WRITE, SETATTR, MAKE, REMOVE, RMDIR, RENAME, LINK, KINDS };

struct op {
    enum { FREE, BEGUN, EXECUTED, ENDED, READ } state;
    bool is_known; /* its call was read in the ring */
    enum kind kind;
    uint64_t begin, end;
    struct h on[2]; /* the file, or the directories */
    struct h file;  /* LINK's */
    char name[2][4];
    struct sattr3 attributes;
    uint64_t offset;
    uint32_t count;
    uint8_t data[3 * BLOCK];
    enum ftype3 type;
    enum nfsstat3 status;
    bool is_nothing; /* RENAME of a link onto another one of the same file */
    struct h child;  /* made, or renamed */
    enum ftype3 child_type;
    struct h loser;  /* what lost a name */
    struct h victim; /* the same, if it died of it */
    bool is_held;
};

static struct sim {
    struct lab lab;
    uint64_t seed, random;
    struct op ops[OPS];
    struct entry {
        uint64_t position;
        struct op *op; /* NULL: the copy's own reply */
        bool is_end;
        uint32_t xid;
    } entries[ENTRIES];
    uint32_t first, last; /* entries that were not read */
    struct h pool[POOL];  /* objects of the reference, maybe gone */
    uint32_t pool_count;
    struct op *held[OPS];
    uint32_t held_count;
    uint32_t playing[64]; /* ids: synchronized, but not played */
    uint32_t playing_count;
    bool has_faults, has_refusals;
    uint64_t names; /* that a directory can have: many, and a listing takes several replies */
    uint64_t duplicates, noted, conflicts, mended;
} sim;

static uint64_t next(uint64_t below)
{
    sim.random = sim.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (sim.random >> 33) % below;
}

static void fail_seed(const char *format, ...)
{
    char text[600];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fail_msg("seed %llu: %s", (unsigned long long)sim.seed, text);
}

static struct fs *ref(void)
{
    return lab_fs(&sim.lab, REF);
}

static struct bytes bytes_of(const struct h *h)
{
    return (struct bytes){ h->data, h->len };
}

static struct h handle_of(int side, uint32_t object)
{
    struct h h = { HANDLE_LENGTH };

    lab_handle(&sim.lab, side, object, h.data);
    return h;
}

static bool is_same(const struct h *a, const struct h *b)
{
    return a->len && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static uint32_t find(const struct h *h)
{
    return h->len ? lab_find(&sim.lab, REF, bytes_of(h)) : 0;
}

static void remember(uint32_t object)
{
    sim.pool[sim.pool_count < POOL ? sim.pool_count++ : next(POOL)] = handle_of(REF, object);
}

/* An object of the type, or of no directory. */
static struct h pick(bool directory)
{
    for (int i = 0; i < 20 && sim.pool_count; i++) {
        const struct h *h = &sim.pool[next(sim.pool_count)];
        uint32_t object = find(h);

        if (object && (fs_type(ref(), object) == NF3DIR) == directory)
            return *h;
    }
    return handle_of(REF, fs_root(ref()));
}

/* --- operations on the reference */

static void push(struct op *op, bool is_end, uint32_t xid)
{
    assert_true(sim.last - sim.first < ENTRIES);
    sim.entries[sim.last++ % ENTRIES] = (struct entry){ ++sim.lab.ring, op, is_end, xid };
}

static void answered(struct lab *lab, uint32_t xid, uint64_t position)
{
    (void)position;
    lab->ring--; /* push counts it */
    push(NULL, true, xid);
}

static struct op *free_op(void)
{
    struct op *oldest = NULL;

    for (int i = 0; i < OPS; i++) {
        struct op *op = &sim.ops[i];

        if (op->state == FREE)
            return op;
        if (op->state == READ && !op->is_held && (!oldest || op->end < oldest->end))
            oldest = op;
    }
    return oldest;
}

/* One that is there, mostly. */
static void set_name_in(const struct h *directory, char name[4])
{
    uint32_t object = find(directory);
    struct lab_names names;

    if (!object || fs_type(ref(), object) != NF3DIR || next(4) == 0)
        return;
    names = lab_list(ref(), object);
    if (names.count)
        memcpy(name, names.list[next(names.count)].name, 2);
    free(names.list);
}

static void set_name(char name[4])
{
    name[0] = (char)('a' + next(sim.names));
    name[1] = 0;
}

static void choose_attributes(struct sattr3 *a, bool is_file)
{
    *a = (struct sattr3){ 0 };
    if (next(2)) {
        a->set_mode = true;
        a->mode = (uint32_t)next(01000);
    }
    if (next(4) == 0) {
        a->set_uid = true;
        a->uid = (uint32_t)next(5);
    }
    if (is_file && next(2)) {
        a->set_size = true;
        a->size = next(8 * BLOCK);
    }
    if (next(4) == 0) {
        a->set_mtime = SET_TO_CLIENT_TIME;
        a->mtime.seconds = (uint32_t)next(1000);
    }
}

static void begin_op(void)
{
    static const enum ftype3 types[] = { NF3REG, NF3REG, NF3REG, NF3DIR, NF3DIR, NF3LNK, NF3FIFO };
    struct op *op = free_op();

    *op = (struct op){ .state = BEGUN, .kind = (enum kind)next(KINDS) };
    if (next(3) == 0)
        op->kind = next(3) ? WRITE : MAKE;
    op->on[0] = pick(op->kind > SETATTR || (op->kind == SETATTR && next(3) == 0));
    op->on[1] = op->kind == RENAME && next(2) ? pick(true) : op->on[0];
    op->file = pick(false);
    op->type = types[next(sizeof(types) / sizeof(types[0]))];
    set_name(op->name[0]);
    set_name(op->name[1]);
    if (op->kind == REMOVE || op->kind == RMDIR || op->kind == RENAME)
        set_name_in(&op->on[0], op->name[0]);
    choose_attributes(&op->attributes, op->kind == SETATTR);
    op->offset = next(10) ? next(6 * BLOCK) : next(40 * BLOCK);
    op->count = 1 + (uint32_t)next(3 * BLOCK - 1);
    for (uint32_t i = 0; i < op->count; i++)
        op->data[i] = next(8) ? (uint8_t)next(256) : 0;
    push(op, false, 0);
    op->begin = sim.lab.ring;
}

static uint32_t look_up(uint32_t directory, const char *name)
{
    uint32_t object;

    return fs_lookup(ref(), &lab_root_user, directory, lab_text(name), &object) ? 0 : object;
}

static void execute_make(struct op *op, uint32_t directory)
{
    struct fs_new new_object = { .type = op->type,
                                 .how = GUARDED,
                                 .attributes = { .set_mode = true, .mode = 0644 },
                                 .link_text = lab_text("somewhere") };
    uint32_t object;

    op->status =
        fs_make(ref(), &lab_root_user, directory, lab_text(op->name[0]), &new_object, &object);
    if (op->status)
        return;
    op->child = handle_of(REF, object);
    op->child_type = op->type;
    remember(object);
}

static void execute_rename(struct op *op, uint32_t from, uint32_t to)
{
    uint32_t child = look_up(from, op->name[0]), victim = look_up(to, op->name[1]);
    struct h child_handle = handle_of(REF, child), victim_handle = handle_of(REF, victim);

    op->is_nothing = child == victim;
    op->status =
        fs_rename(ref(), &lab_root_user, from, lab_text(op->name[0]), to, lab_text(op->name[1]));
    if (op->status || op->is_nothing)
        return;
    op->child = child_handle;
    op->child_type = fs_type(ref(), child);
    if (victim)
        op->loser = victim_handle;
    if (victim && !find(&victim_handle))
        op->victim = victim_handle;
}

static void execute(struct op *op)
{
    uint32_t a = find(&op->on[0]), b = find(&op->on[1]), file = find(&op->file);
    uint32_t victim =
        a && op->kind > SETATTR && fs_type(ref(), a) == NF3DIR ? look_up(a, op->name[0]) : 0;
    struct h victim_handle = victim ? handle_of(REF, victim) : (struct h){ 0 };

    op->state = EXECUTED;
    op->status = NFS3ERR_STALE;
    if (!a || !b)
        return;
    if (op->kind > SETATTR && (fs_type(ref(), a) != NF3DIR || fs_type(ref(), b) != NF3DIR))
        return;
    switch (op->kind) {
    case WRITE:
        op->status = fs_write(ref(), &lab_root_user, a, op->offset,
                              (struct bytes){ op->data, op->count }, FILE_SYNC);
        break;
    case SETATTR:
        op->status = fs_setattr(ref(), &lab_root_user, a, &op->attributes, NULL);
        break;
    case MAKE:
        execute_make(op, a);
        break;
    case REMOVE:
    case RMDIR:
        op->status = fs_remove(ref(), &lab_root_user, a, lab_text(op->name[0]), op->kind == RMDIR);
        if (!op->status)
            op->loser = victim_handle;
        if (!op->status && !find(&victim_handle))
            op->victim = victim_handle;
        break;
    case RENAME:
        execute_rename(op, a, b);
        break;
    default:
        op->child = op->file;
        if (file && fs_type(ref(), file) != NF3DIR) {
            op->child_type = fs_type(ref(), file);
            op->status = fs_link(ref(), &lab_root_user, file, a, lab_text(op->name[0]));
        }
    }
}

static void end_op(struct op *op)
{
    op->state = ENDED;
    push(op, true, 0);
    op->end = sim.lab.ring;
}

static struct op *op_in(int state)
{
    uint32_t from = (uint32_t)next(OPS);

    for (uint32_t i = 0; i < OPS; i++)
        if ((int)sim.ops[(from + i) % OPS].state == state)
            return &sim.ops[(from + i) % OPS];
    return NULL;
}

#endif
