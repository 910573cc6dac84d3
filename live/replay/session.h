/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/session.h
 *
 * What all commands begin with: the dump up to its first operation, the targets, and what stands on
 * them.  Nothing is changed.
 */
#ifndef NFSDIGEST_REPLAY_SESSION_H
#define NFSDIGEST_REPLAY_SESSION_H

#include "replay/marker.h"
#include "replay/options.h"
#include "replay/plan.h"
#include "replay/populate.h"

struct session_target {
    struct target target;
    const char *text; /* of the command line */
    struct plan plan;
    struct pipeline *pipeline; /* one connection, for questions */
    struct marker_place place;
};

struct session {
    const struct replay_options *options;
    struct loop *loop;
    struct script script;
    struct session_target targets[REPLAY_TARGETS_MAX];
    uint32_t target_count;
    bool terminal; /* progress is shown on standard error */
    int64_t begun; /* loop_clock */
};

/* Call session_close also after an error. */
int session_open(struct session *session, const struct replay_options *options, struct err *err);
void session_close(struct session *session);

/* A signal stopped the loop. */
bool session_interrupted(const struct session *session);

/* Progress: replaces the last line on the terminal; NULL: takes it away. */
void session_progress(const struct session *session, const char *text);

/* True if the tree on the target is that of this dump (its marker is). */
bool session_is_ours(const struct session *session, const struct session_target *target);

#endif
