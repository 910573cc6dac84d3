/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/attempt_apply.c
 *
 * Carries an operation out on the tree, and shows it to the rehearsal's owner with all that a
 * replay needs: what it met, what it uses, what its result must show again.  Contract: attempt.h.
 */
#include "play/attempt.h"
#include "base/grow.h"
#include "wire/xdr_put.h"

static int no_memory(const struct attempt *t)
{
    return err_memory(t->err, "the rehearsal");
}

static struct played_object met(const struct attempt *t, uint32_t node)
{
    struct played_object o = { 0 };

    if (node) {
        o.object = rehearsal_number(t->r, node);
        o.type = node_at(t->r->h, node)->type;
    }
    return o;
}

/* The object of a handle: what it was, when it is no more. */
static struct played_object met_handle(const struct attempt *t, uint32_t node, uint32_t object)
{
    struct played_object o = met(t, node);

    if (!node && object && object < t->r->number_cap && t->r->numbers[object]) {
        o.object = t->r->numbers[object];
        o.gone = true;
    }
    return o;
}

/* Directories from the second one up, for a directory that is moved there. */
static uint32_t climb(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;
    uint32_t count = 0;

    for (uint32_t node = t->object2; node && count < ATTEMPT_ABOVE;) {
        uint32_t entry = node_at(h, node)->names;

        t->r->above[count++] = rehearsal_number(t->r, node);
        node = entry ? entry_at(h, entry)->parent : NODE_NONE;
    }
    return count;
}

static uint32_t count_children(const struct hierarchy *h, uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t id = node_at(h, node)->children; id; id = entry_at(h, id)->after)
        count++;
    return count;
}

struct listing {
    struct attempt *t;
    bool goes_on; /* from there; else it begins here */
    struct cookie_place from;
    uint32_t index, behind;
    bool fits; /* all names are there, and stand for what they did */
    bool plays, has_objects;
    struct cookie_place place; /* behind the last entry */
};

static int add_number(struct buf *to, uint32_t value)
{
    return buf_append(to, &value, sizeof(value));
}

static int put_name(const struct attempt *t, const struct listing *l, struct bytes name,
                    uint32_t object)
{
    struct xdr_put to = xdr_put_to(&t->r->names, XDR_PUT_ANY_LENGTH);

    xdr_put_u32(&to, name.len);
    xdr_put_bytes(&to, name.data, name.len);
    if (l->has_objects)
        xdr_put_u32(&to, object);
    return to.problem ? no_memory(t) : 0;
}

/* A name that counts, and the node behind its handle. */
static int list_name(struct listing *l, struct bytes name, bool has_node, uint32_t node)
{
    struct attempt *t = l->t;
    struct rehearsal *r = t->r;
    uint32_t id = entry_find(r->h, t->object, name), object = 0;

    if (!id || (has_node && entry_at(r->h, id)->node != node))
        l->fits = false;
    else if (has_node)
        object = rehearsal_number(r, node);
    expect_name(&l->place.names, name, object);
    if (object && add_number(&r->uses, object) < 0)
        return no_memory(t);
    return r->with_results ? put_name(t, l, name, object) : 0;
}

static int list_entry(void *ctx, const struct effect_entry *entry)
{
    struct listing *l = ctx;
    struct attempt *t = l->t;
    const struct spooled *op = t->op;
    uint32_t object = l->index < op->entry_count ? op->entries[l->index] : 0, node;
    struct rehearsal *r = t->r;
    bool is_dots = entry->name.len == 0 || bytes_are_dots(entry->name);

    l->index++;
    node = node_find(r->h, object);
    if (node && node_at(r->h, node)->died == TO_THE_END) {
        if (GROW(r->behind, l->behind, r->behind_cap) < 0)
            return no_memory(t);
        r->behind[l->behind++] = met(t, node);
    }
    if (!is_dots && list_name(l, entry->name, object != 0, node) < 0)
        return -t->err->code;
    if (!l->plays || !entry->cookie)
        return 0;
    l->place.entries = l->index;
    l->place.is_whole = (!t->e->asked.cookie || l->from.is_whole) && l->fits;
    if (cookies_give(&r->cookies, t->e->object, t->e->client_number, entry->cookie, &l->place) &&
        add_number(&r->kept, l->index) < 0)
        return no_memory(t);
    return 0;
}

static bool is_listing(const struct effect *e)
{
    return e->succeeded && effect_action(e) == ACTION_LIST;
}

static struct listing begin_listing(struct attempt *t, bool plays)
{
    const struct cookie_place *from = attempt_continues(t);
    bool has_objects = t->e->procedure && t->e->procedure->result->roles & ROLE_ENTRY_OBJECT;
    struct listing l = { .t = t, .fits = true, .plays = plays, .has_objects = has_objects };

    l.place = (struct cookie_place){ .operation = t->r->placed, .since = t->e->call_time };
    l.place.names.has_behind = has_objects;
    if (from) {
        l.from = *from;
        l.goes_on = true;
        l.place.since = from->since;
        l.place.names = from->names;
        l.place.names.has_behind &= has_objects;
    }
    t->r->uses.len = t->r->kept.len = t->r->names.len = 0;
    return l;
}

/* All names of the directory were listed since its beginning, and none came or went meanwhile. */
static bool lists_all(const struct attempt *t, const struct listing *l)
{
    const struct effect *e = t->e;
    bool is_one = e->asked.cookie == 0;

    return e->result == WALK_OK && e->eof && l->fits && t->object &&
           (is_one ||
            (l->from.is_whole && play_node_at(&t->r->nodes, t->object)->changed < l->from.since)) &&
           l->place.names.count == count_children(t->r->h, t->object);
}

/* What it meets, in numbers, before anything is changed. */
static int fill_played(struct attempt *t, struct played *p, bool plays, struct listing *l)
{
    const struct effect *e = t->e;

    *p = (struct played){ .effect = e, .succeeded = e->succeeded, .idle = t->idle };
    p->object = met_handle(t, t->object, e->object);
    p->object2 = met_handle(t, t->object2, e->parent2);
    p->found = met(t, t->found);
    p->target = met(t, t->target);
    if (t->resized) {
        p->resized = true;
        p->size_before = t->size_before;
        p->size_after = t->resized->size;
    }
    if (t->moves && t->found && node_is_directory(node_at(t->r->h, t->found))) {
        p->above_count = climb(t);
        p->above = t->r->above;
    }
    *l = begin_listing(t, plays);
    if (l->goes_on)
        p->after = (uint32_t)(t->r->placed - l->from.operation);
    if (is_listing(e) && t->object) {
        if (effect_entries(e, list_entry, l) < 0)
            return -t->err->code;
        p->entries = t->r->behind;
        p->entry_count = l->behind;
    }
    return 0;
}

static void write_back(const struct attempt *t, const struct image *i)
{
    struct node *n = node_at(t->r->h, i->node);
    struct play_node *p = play_node_at(&t->r->nodes, i->node);

    n->type = i->type;
    n->mode = i->mode;
    n->uid = i->uid;
    n->gid = i->gid;
    n->nlink = i->nlink;
    n->rdev[0] = i->rdev[0];
    n->rdev[1] = i->rdev[1];
    n->size = i->size;
    n->knows = i->knows;
    p->own = i->own;
    if (i->changed && t->e->done_time > p->changed)
        p->changed = t->e->done_time;
    if (i->rights_changed && t->e->done_time > p->rights_changed)
        p->rights_changed = t->e->done_time;
}

/* Attributes that were not known, and are shown. */
static void adopt(struct attempt *t)
{
    for (int whose = OF_OBJECT; whose <= OF_NEW_OBJECT; whose++) {
        struct attributes a;
        struct image *i = effect_attributes(t->e, (enum whose)whose, &a)
                              ? attempt_image_of(t, (enum whose)whose)
                              : NULL;

        if (!i)
            continue;
        if (!i->type)
            i->type = a.type;
        if (!(i->knows & KNOWS_MODE))
            i->mode = a.mode & 07777;
        if (!(i->knows & KNOWS_UID))
            i->uid = a.uid;
        if (!(i->knows & KNOWS_GID))
            i->gid = a.gid;
        if (!(i->knows & KNOWS_NLINK))
            i->nlink = a.nlink;
        if (!(i->knows & KNOWS_SIZE))
            i->size = a.size;
        if (!(i->knows & KNOWS_RDEV)) {
            i->rdev[0] = a.rdev[0];
            i->rdev[1] = a.rdev[1];
        }
        i->knows |= KNOWS_MODE | KNOWS_UID | KNOWS_GID | KNOWS_NLINK | KNOWS_SIZE | KNOWS_RDEV;
    }
}

static int close_name(const struct attempt *t, uint32_t entry, bool stays)
{
    return entry_close(t->r->h, entry, t->e->done_time, t->e->id, stays, t->err);
}

static int open_name(const struct attempt *t, uint32_t parent, struct bytes name, uint32_t node)
{
    int64_t time = t->e->done_time;

    return entry_open(t->r->h, parent, name, node, time, time, t->e->id, NULL, t->err);
}

/* One name goes; whether the object goes with it.  Names that nobody saw keep it. */
static int drop_name(const struct attempt *t, uint32_t entry, uint32_t node, bool *gone)
{
    const struct node *n = node_at(t->r->h, node);
    bool last = n->names == entry && !entry_at(t->r->h, entry)->next;
    bool others = !node_is_directory(n) && n->knows & KNOWS_NLINK && n->nlink > 0;

    *gone = last && !others;
    if (*gone && !(n->flags & NODE_NAMELESS) && n->object < t->r->number_cap)
        t->r->numbers[n->object] = rehearsal_number(t->r, node);
    return close_name(t, entry, last && others);
}

static int make(struct attempt *t, struct played *p)
{
    struct rehearsal *r = t->r;
    struct image *i = t->made;
    int64_t time = t->e->done_time;
    uint32_t node = t->e->new_object ? node_get(r->h, t->e->new_object, time, time, 0)
                                     : node_nameless(r->h, time, time, 0);

    if (!node || !play_nodes_begin(&r->nodes, node, ++r->objects))
        return no_memory(t);
    if (t->e->new_object && t->e->new_object < r->number_cap)
        r->numbers[t->e->new_object] = r->objects;
    if (t->op->nameless && t->op->nameless < r->nameless_cap)
        r->nameless[t->op->nameless] = node;
    i->node = node;
    node_at(r->h, node)->knows = 0;
    if (i->type == OBJECT_LNK) {
        node_at(r->h, node)->link = text_new(t->e->link_text);
        if (!node_at(r->h, node)->link)
            return no_memory(t);
    }
    p->made = (struct played_object){ .object = r->objects, .type = i->type };
    return open_name(t, t->object, t->e->name, node);
}

static int apply_names(struct attempt *t, struct played *p)
{
    const struct effect *e = t->e;

    if (!e->succeeded || t->idle)
        return 0;
    if (t->makes)
        return make(t, p);
    if (t->moves) {
        if (t->target && drop_name(t, t->entry2, t->target, &p->target.gone) < 0)
            return -t->err->code;
        if (close_name(t, t->entry, true) < 0)
            return -t->err->code;
        return open_name(t, t->object2, e->name2, t->found);
    }
    if (effect_takes_name(e))
        return drop_name(t, t->entry, t->found, &p->found.gone);
    if (effect_makes_name2(e))
        return open_name(t, t->object2, e->name2, t->object);
    return 0;
}

/* What was made without a handle is found with one. */
static int recognize(struct attempt *t)
{
    uint32_t is;

    if (!t->e->succeeded || !t->found || t->met_itself || !t->e->new_object ||
        !(node_at(t->r->h, t->found)->flags & NODE_NAMELESS) ||
        node_find(t->r->h, t->e->new_object))
        return 0;
    return node_is(t->r->h, t->found, t->e->new_object, &is, t->err);
}

static void number_handles(const struct attempt *t, const struct played *p)
{
    if (t->op->handle_at[0])
        store_be32(t->op->handle_at[0], p->object.object);
    if (t->op->handle_at[1])
        store_be32(t->op->handle_at[1], p->object2.object);
}

static uint32_t other_bits(const struct attempt *t, const struct played *p, const struct listing *l)
{
    const struct effect *e = t->e;
    uint32_t bits = 0;

    if (!e->succeeded)
        return 0;
    if (e->new_object && (t->found || t->makes) && !p->idle)
        bits |= EXPECT_IDENTITY;
    if (e->has_granted && t->object &&
        play_node_at(&t->r->nodes, t->object)->rights_changed < e->call_time &&
        !(attempt_image(t, OF_OBJECT)->own & (1 << EXPECT_MODE | 1 << EXPECT_OWNER)))
        bits |= EXPECT_ACCESS;
    if (!is_listing(e))
        return bits;
    if (lists_all(t, l))
        bits |= l->place.names.has_behind ? EXPECT_NAMES | EXPECT_BEHIND : EXPECT_NAMES;
    else if (t->r->with_results && l->fits && t->r->names.len)
        bits |= EXPECT_SOME_NAMES;
    return bits;
}

/* The end of a listing of several replies shows all that the directory has (lists_all). */
static int use_children(const struct attempt *t)
{
    const struct hierarchy *h = t->r->h;

    for (uint32_t id = node_at(h, t->object)->children; id; id = entry_at(h, id)->after)
        if (add_number(&t->r->uses, rehearsal_number(t->r, entry_at(h, id)->node)) < 0)
            return no_memory(t);
    return 0;
}

/* What it uses: those behind names, which are there already, only where they are compared. */
static int gather_uses(const struct attempt *t, const struct played *p, uint32_t mask)
{
    const uint32_t numbers[] = { t->e->handle.data || t->op->node ? p->object.object : 0,
                                 t->e->handle2.data || t->op->node2 ? p->object2.object : 0,
                                 mask & EXPECT_IDENTITY ? p->found.object : 0, p->made.object };
    struct buf *uses = &t->r->uses;

    if (!(mask & EXPECT_BEHIND) && !(t->r->with_results && mask & EXPECT_SOME_NAMES))
        uses->len = 0;
    if (mask & EXPECT_BEHIND && t->e->asked.cookie && use_children(t) < 0)
        return -t->err->code;
    for (int i = 0; i < 4; i++)
        if (numbers[i] && add_number(uses, numbers[i]) < 0)
            return no_memory(t);
    return 0;
}

static int show(struct attempt *t, const struct played *p, uint32_t mask, uint8_t unplayable,
                const struct listing *l)
{
    struct rehearsal *r = t->r;
    struct rehearsed out = { .op = t->op,
                             .played = unplayable ? NULL : p,
                             .unplayable = unplayable,
                             .made = p->made.object,
                             .node = p->made.object ? t->made->node
                                     : t->found     ? t->found
                                                    : t->object,
                             .mask = mask };
    struct expect x = { .effect = t->e, .mask = mask, .names = &l->place.names };

    x.object = p->made.object ? p->made.object : p->found.object;
    if (mask && expect_digest(&x, &r->digest, &r->links, &out.digest) < 0)
        return no_memory(t);
    if (mask)
        out.links = (struct bytes){ r->links.data, (uint32_t)r->links.len };
    if (mask && r->with_results)
        out.results = (struct bytes){ r->digest.data, (uint32_t)r->digest.len };
    if (mask & (EXPECT_NAMES | EXPECT_SOME_NAMES))
        out.names = (struct bytes){ r->names.data, (uint32_t)r->names.len };
    if (!unplayable) {
        if (gather_uses(t, p, mask) < 0)
            return -t->err->code;
        out.objects = (const uint32_t *)(const void *)r->uses.data;
        out.object_count = (uint32_t)(r->uses.len / sizeof(uint32_t));
        out.cookies = (const uint32_t *)(const void *)r->kept.data;
        out.cookie_count = (uint32_t)(r->kept.len / sizeof(uint32_t));
        out.cookie_from = p->after;
        out.cookie_entries = l->from.entries;
    }
    r->compared += (uint64_t)__builtin_popcount(mask);
    r->placed++;
    return r->rehearsed(r->ctx, &out, t->err);
}

int attempt_apply(struct attempt *t, uint32_t mask, uint8_t unplayable)
{
    struct played p;
    struct listing l;
    uint32_t bits;

    if (fill_played(t, &p, !unplayable, &l) < 0)
        return -t->err->code;
    number_handles(t, &p);
    if (unplayable)
        return show(t, &p, 0, unplayable, &l);
    bits = other_bits(t, &p, &l);
    adopt(t);
    if (recognize(t) < 0)
        return -t->err->code;
    for (uint32_t i = 0; i < t->image_count; i++)
        if (t->images[i].node)
            write_back(t, &t->images[i]);
    if (apply_names(t, &p) < 0)
        return -t->err->code;
    if (t->makes)
        write_back(t, t->made);
    return show(t, &p, mask | bits, 0, &l);
}
