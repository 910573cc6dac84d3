/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/paths.h
 *
 * Which objects --exclude and --only leave out.  A name decides, and with several names one that is
 * wanted is enough.
 */
#ifndef NFSDIGEST_SHADOW_PATHS_H
#define NFSDIGEST_SHADOW_PATHS_H

#include "shadow/shadow_parts.h"

bool paths_want(const struct shadow *s, const struct mirror_object *object);
/* The same, of an object that is to be excluded if it is not wanted.  |directory|: under this name;
 * NULL: under the one that is known. */
int paths_decide(struct shadow *s, struct mirror_object *object,
                 const struct mirror_object *directory, struct bytes name, bool *wants,
                 struct err *err);
/* The object got another name. */
void paths_named(struct shadow *s, const struct mirror_object *object,
                 const struct mirror_object *parent, const struct record_name *record);
/* It lost the last name that is known. */
void paths_nameless(struct shadow *s, const struct mirror_object *object);
/* The object may have names that the SUT does not have. */
bool paths_hide_links(const struct shadow *s, uint32_t object);
/* Queues what is wanted since it, or a directory above it, got another name. */
int paths_look(struct shadow *s, struct err *err);

#endif
