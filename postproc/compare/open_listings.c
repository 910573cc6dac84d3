/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/open_listings.h"

#include <string.h>

/* How well |o| fits. */
static int fit(const struct open_listing *o, const struct open_listing *part)
{
    if (o->object != part->object || o->client != part->client || o->procedure != part->procedure ||
        o->cookie != part->cookie)
        return 0;
    return 1 + (o->flow == part->flow) + 2 * (o->first == part->first);
}

struct open_listing *open_listings_find(struct open_listings *l, const struct open_listing *part)
{
    struct open_listing *found = NULL;
    int best = 0;

    for (uint32_t i = l->count; i-- > 0;) {
        int fits = fit(&l->all[i], part);

        if (fits > best) {
            best = fits;
            found = &l->all[i];
        }
    }
    return found;
}

void open_listings_go_on(struct open_listings *l, struct open_listing *open,
                         const struct open_listing *now)
{
    if (!open && l->count == LISTINGS_OPEN)
        memmove(l->all, l->all + 1, --l->count * sizeof(*l->all));
    *(open ? open : &l->all[l->count++]) = *now;
}

void open_listings_end(struct open_listings *l, struct open_listing *open)
{
    uint32_t at = (uint32_t)(open - l->all);

    memmove(open, open + 1, (--l->count - at) * sizeof(*open));
}
