/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_place.h
 *
 * Where a dump's tree stands on a server: the same place for every program that makes it or looks
 * for it (schemas/rdump.md section 9).  In one directory, the place:
 *
 *     root-N        object N, which has no entry
 *     scratch       a directory for links that no entry of the dump shows:
 *     link-N-K      in it, the Kth further link of object N, K from 1
 */
#ifndef NFSDIGEST_RDUMP_PLACE_H
#define NFSDIGEST_RDUMP_PLACE_H

#include "rdump/rdump.h"

#define RDUMP_SCRATCH "scratch"
enum { RDUMP_NAME_ROOM = 32, RDUMP_TEXT_MOST = 4095 };

void rdump_root_name(uint32_t number, char name[RDUMP_NAME_ROOM]);
void rdump_link_name(uint32_t number, uint32_t link, char name[RDUMP_NAME_ROOM]);

/* How many links the object needs in the scratch directory.  |entries|: how many it has; without
 * one it has its name as a root. */
uint32_t rdump_further_links(const struct rdump_object *object, uint32_t entries);

/* The text of a symbolic link.  If the dump does not know it, as many letters as its size says (at
 * least 1, at most RDUMP_TEXT_MOST), which are there until the program ends. */
struct bytes rdump_link_text(const struct rdump_object *object);

#endif
