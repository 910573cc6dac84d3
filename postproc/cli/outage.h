/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage.h
 *
 * Finds the outages in a trace: spans of time in which a service, which is one port of a server,
 * answered nobody though somebody waited; and what became of its clients.
 *
 * A span between two replies of a service is an outage if
 * - a call or an attempt to connect waited in it for |silence| or longer, or
 * - the service refused an attempt or reset a connection that had not been closed, and somebody
 *   waited, or
 * - it closed such a connection, and somebody waited for OUTAGE_CLOSED or longer.
 * A reset that concerns a connection from before an earlier outage belongs to that one.  Outages
 * that are less than |silence| apart are one.
 *
 * All replies are read once to find outages, and if there are any, once more for their clients and
 * statuses and once by lint: three times, however many outages there are.
 *
 * Memory: 32 bytes for each connection that a server ended; for each outage its clients, statuses
 * and differences (at most |top| of the latter).  For WRITEs that are not committed, see
 * outage_lost.h.
 */
#ifndef NFSDIGEST_CLI_OUTAGE_H
#define NFSDIGEST_CLI_OUTAGE_H

#include "base/json.h"
#include "cli/traffic.h"
#include "record/record.h"
#include "lint/lint_rules.h"

#define OUTAGE_CLOSED INT64_C(100000000) /* ns */

/* A packet; |time| is TIME_NONE if there is none. */
struct outage_packet {
    int64_t time, source, frame;
};

struct outage_client {
    char address[ADDRESS_TEXT_MAX];
    struct outage_packet last_reply;  /* before */
    struct outage_packet trouble;     /* the first RST, FIN, refusal or new SYN afterwards */
    struct outage_packet first_reply; /* after */
    const char *what;                 /* of |trouble| */
    struct outage_packet last_try;    /* the last call or SYN that came before |first_reply| */
    uint64_t resent_calls, resent_segments, attempts, syns, refused, resets, closed;
    uint64_t unanswered; /* calls without a reply, from a minute before to |first_reply| */
    uint64_t answered;   /* replies after it, up to the next outage */
    uint64_t errors;     /* of these, with a status that is not OK */
};

struct outage_status {
    char *name;
    uint64_t before, after; /* replies between the outages */
};

/* Something that was acknowledged before, and is different after. */
struct outage_difference {
    enum lint_id rule;
    int64_t operation, earlier; /* ids */
    char *text;
};

/* A WRITE, or what is left of it. */
struct outage_write {
    int64_t operation;
    uint64_t offset, count;
};

struct outage {
    char server[ADDRESS_TEXT_MAX];
    int port;
    struct outage_packet last_reply, first_reply; /* of the service to anybody */
    int64_t begin, end; /* ns: times of these, or of the ends of the trace */
    int64_t waited;     /* ns, of who waited longest for one reply to anybody */
    int64_t before;     /* ns: end of the outage before, or INT64_MIN */
    int64_t next;       /* ns: begin of the next outage, or INT64_MAX */
    struct outage_client *clients;
    uint32_t client_count, client_cap;
    struct outage_status *statuses;
    uint32_t status_count, status_cap;
    struct outage_difference *differences;
    uint32_t difference_count, difference_cap;
    uint64_t different; /* also those that are not in the list */
    /* Acknowledged before as UNSTABLE, then neither committed nor written again.  They are lost if
     * the server had a new write verifier afterwards.  |has_verifier|: some verifier was seen
     * afterwards; else nobody knows. */
    bool has_verifier, new_verifier; /* |new_verifier|: not the last one before */
    uint64_t verifier;
    uint64_t lost, lost_bytes; /* WRITEs; also those that are not in the list */
    int64_t lost_last;         /* the operation that was counted last */
    struct outage_write *lost_writes;
    uint32_t lost_count, lost_cap; /* one for each piece of a WRITE */
    uint64_t top;                  /* of the request */
    int64_t *unanswered; /* operations: calls without a reply, as struct outage_client has it */
    uint32_t unanswered_count, unanswered_cap;
};

struct outages {
    struct outage *list; /* by server and port, then by time */
    uint32_t count, cap;
    uint64_t services;
    bool events;            /* the trace says what happened to connections */
    bool tcp;               /* it has connections */
    uint64_t not_followed;  /* UNSTABLE WRITEs for which there was no room */
    int64_t longest, since; /* if there are no outages: the longest time, in ns, that somebody
                               waited for the next reply of a service, and since when; 0: nobody */
};

struct outage_request {
    struct traffic traffic;
    int64_t silence; /* ns */
    uint64_t top;
    const struct lint_rules *rules;
};

/* Finds them, and everything about them.  Free |outages| also after a failure. */
int outages_find(sqlite3 *db, const struct outage_request *request, struct outages *outages,
                 struct err *err);
void outages_free(struct outages *outages);

/* outage_clients.c: what became of the clients, and statuses before and after. */
int outage_clients(sqlite3 *db, const struct outage_request *request, struct outages *outages,
                   struct err *err);

/* outage_differ.c: what lint finds across outages, and what was lost. */
int outage_differences(sqlite3 *db, const struct outage_request *request, struct outages *outages,
                       struct err *err);

/* outage_print_lost.c: calls without a reply, and what was lost.  outage_unanswered: the number of
 * those calls. */
int outage_lost_text(sqlite3 *db, const struct outage *outage, struct err *err);
int outage_lost_json(sqlite3 *db, struct json *j, const struct outage *outage, struct err *err);
uint64_t outage_unanswered(const struct outage *outage);

/* outage_print.c: |name| is that of the trace. */
int outages_text(sqlite3 *db, const struct outage_request *request, const struct outages *outages,
                 struct err *err);
int outages_json(sqlite3 *db, const char *name, const struct outage_request *request,
                 const struct outages *outages, struct err *err);

#endif
