/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/ids.h
 *
 * Maps the ids of one stream (1, 2, ... in the order of their records) to those of the database.
 * Also keeps the texts of addresses.
 */
#ifndef NFSDIGEST_STORE_IDS_H
#define NFSDIGEST_STORE_IDS_H

#include "base/err.h"
#include "base/table.h"
#include "link/frame.h"
#include "record/record.h"

/* Maps local ids.  If |direct|, an id of the database is the stream's id plus |base|, and |map| is
 * not used. */
struct ids {
    const char *what; /* for messages: "object" */
    bool direct;
    uint32_t base;
    uint32_t *map;  /* by local id - 1 */
    uint32_t count; /* local ids so far */
    uint32_t cap;
    uint32_t greatest; /* in the database */
};

void ids_free(struct ids *ids);

/* Checks the local id |local| of a record.  Returns 1 if it is new, 0 if it was there before, and
 * -ERR_INPUT if ids were left out. */
int ids_check(const struct ids *ids, uint64_t local, struct err *err);

/* Returns the id for the next local one if the database has none. */
static inline uint32_t ids_next(const struct ids *ids)
{
    return ids->direct ? ids->count + 1 + ids->base : ids->greatest + 1;
}

/* Maps the next local id to |id| of the database.  Returns 0, -ERR_INPUT if there are too many ids,
 * or -ERR_SYSTEM. */
int ids_add(struct ids *ids, uint32_t id, struct err *err);

/* Sets *|id| to the database's id for |local|, which may be 0 for none.  Returns 0 or
 * -ERR_INPUT. */
static inline int ids_get(const struct ids *ids, uint64_t local, uint32_t *id, struct err *err)
{
    *id = 0;
    if (local > ids->count)
        return err_set(err, ERR_INPUT, "refers to %s %llu of %u", ids->what,
                       (unsigned long long)local, ids->count);
    *id = !local ? 0 : ids->direct ? (uint32_t)local + ids->base : ids->map[local - 1];
    return 0;
}

/* Reads the address that |text| (or NULL) has.  Returns 0 or -ERR_INPUT. */
int read_address(const char *text, struct address *address, struct err *err);

struct host {
    struct address address;
    uint8_t len;
    char text[ADDRESS_TEXT_MAX];
};

/* The two ends of each flow of the stream, by its local id. */
struct flow_ends {
    uint32_t client, server; /* hosts */
    uint16_t client_port, server_port;
    uint8_t transport;
};

struct hosts {
    struct host *hosts;
    struct flow_ends *flows;
    uint32_t count, cap, flow_count, flow_cap;
    struct table table;
};

void hosts_free(struct hosts *hosts);

/* Adds the ends of a flow, which has the next local id.  Returns 0 or -ERR_SYSTEM. */
int hosts_add_flow(struct hosts *hosts, const struct record_flow *flow, struct err *err);
void hosts_forget_flows(struct hosts *hosts);

#endif
