/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/depend_names.c
 *
 * The names of a directory.  Changes of different names do not conflict, but each conflicts with
 * operations that read all names.  So changes come in groups.  The first change after readers
 * begins a group and depends on these readers.  The readers depend on the group before, which need
 * not be looked at any more.
 */
#include "depend/depend_parts.h"

enum { LOOK_AT = 32 };

static struct directory *directory_of(struct depend *d, uint32_t holder)
{
    struct holder *h = holder_at(d, holder);

    if (!h->directory) {
        h->directory = pool_new(&d->directories);
        if (!h->directory) {
            d->failed = true;
            return NULL;
        }
        directory_at(d, h->directory)->group = 1;
    }
    return directory_at(d, h->directory);
}

static bool is_in_group(const struct entry_line *n, const struct directory *dir)
{
    return n->group == dir->group;
}

void name_unlink(struct depend *d, uint32_t id)
{
    struct entry_line *n = name_at(d, id);
    struct directory *dir;

    if (!n->is_linked)
        return;
    n->is_linked = false;
    dir = directory_at(d, holder_at(d, n->holder)->directory);
    if (!is_in_group(n, dir))
        return; /* that list is no more */
    if (n->prev)
        name_at(d, n->prev)->next = n->next;
    else
        dir->head = n->next;
    if (n->next)
        name_at(d, n->next)->prev = n->prev;
    else
        dir->tail = n->prev;
}

/* How many changes of the group are live, or DEPEND_MANY + 1. */
static uint32_t count_changes(const struct depend *d, const struct directory *dir)
{
    uint32_t count = 0;

    for (uint32_t id = dir->tail; id && count <= DEPEND_MANY; id = name_at(d, id)->prev) {
        if (!is_live(d, name_at(d, id)->line.change))
            break;
        count++;
    }
    return count;
}

/* The same of readers. */
static uint32_t count_readers(const struct depend *d, uint64_t chain)
{
    uint32_t count = 0;

    for (; mark_is_live(d, chain) && count <= DEPEND_MANY; chain = mark_next(d, chain))
        count++;
    return count;
}

/* In the place of many others, all of which |operation| depends on. */
static void join(struct depend *d, uint64_t operation)
{
    if (operation == d->now)
        return;
    candidate_put(d, operation);
    d->counts.joined++;
}

void names_read(struct depend *d, uint32_t holder)
{
    struct directory *dir = directory_of(d, holder);
    bool was_read;

    if (!dir)
        return;
    was_read = mark_is_live(d, dir->readers);
    if (mark_is_own(d, dir->readers))
        return;
    if (was_read && count_changes(d, dir) > DEPEND_MANY) {
        join(d, dir->first_reader);
    } else {
        for (uint32_t id = dir->tail; id; id = name_at(d, id)->prev) {
            if (!is_live(d, name_at(d, id)->line.change))
                break;
            candidate_put(d, name_at(d, id)->line.change);
        }
    }
    if (!was_read)
        dir->first_reader = d->now;
    mark_put(d, holder, &dir->readers);
}

/* Whether the newest change of the group is one of the first candidates. */
static bool follows_group(const struct depend *d, const struct directory *dir)
{
    uint64_t change = dir->tail ? name_at(d, dir->tail)->line.change : 0;

    for (uint32_t i = 0; i < d->candidate_count && i < LOOK_AT; i++)
        if (d->candidates[i] == change)
            return true;
    return false;
}

/* Operations that make names in a directory often depend on the last such operation through another
 * thing, such as the directory's ctime, and so on the readers before the group.  Therefore names
 * come last. */
void name_change(struct depend *d, uint32_t id)
{
    struct entry_line *n = name_at(d, id);
    struct directory *dir = directory_of(d, n->holder);

    if (!dir)
        return;
    name_unlink(d, id);
    if (dir->readers) {
        candidates_of_chain(d, dir->readers);
        dir->before = dir->readers;
        dir->readers = 0;
        dir->first_change = d->now;
        dir->head = dir->tail = NO_ID;
        dir->group++;
    } else if (!is_in_group(n, dir) && !follows_group(d, dir)) {
        /* else its last change, or the group's, depends on them */
        if (count_readers(d, dir->before) > DEPEND_MANY)
            join(d, dir->first_change);
        else
            candidates_of_chain(d, dir->before);
    }
    if (!mark_is_own(d, n->line.readers)) /* who changes has mostly read it, too */
        mark_put(d, id | OWNER_NAME, NULL);
    line_change(d, &n->line);
    n->group = dir->group;
    n->is_linked = true;
    n->next = NO_ID;
    n->prev = dir->tail;
    if (dir->tail)
        name_at(d, dir->tail)->next = id;
    else
        dir->head = id;
    dir->tail = id;
}

/* Takes changes that this operation depends on, or that are expired, out of the group. */
void names_prune(struct depend *d, uint32_t id)
{
    uint32_t low = (uint32_t)d->now, prev;

    for (id = id ? name_at(d, id)->prev : NO_ID; id; id = prev) {
        const struct entry_line *n = name_at(d, id);
        uint64_t change = n->line.change;

        prev = n->prev;
        if (change == d->now)
            continue;
        if (is_live(d, change) && operation_at(d, change)->met != low &&
            operation_at(d, change)->reached != low)
            return;
        name_unlink(d, id);
    }
}
