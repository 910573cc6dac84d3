/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/session.h
 *
 * What all commands begin with: the dumps up to their first operations, the targets, and what
 * stands on them.  Nothing is changed.
 *
 * One dump has its tree in the directory that the target names.  Each of several dumps or copies
 * has a directory of its own there.
 *
 * Memory: script.h for each dump and copy; 8 KiB for each of their trees, and plan.h.
 */
#ifndef NFSDIGEST_REPLAY_SESSION_H
#define NFSDIGEST_REPLAY_SESSION_H

#include "replay/marker.h"
#include "replay/options.h"
#include "replay/plan.h"
#include "replay/populate.h"
#include "replay/survey.h"

enum {
    SESSION_DIRECTORY = 256,
    SESSION_NAME = NFS_ADDRESS_TEXT + SESSION_DIRECTORY,
    SESSION_WHERE = NFS_ADDRESS_PATH_MAX + 1 + SESSION_DIRECTORY
};

struct session_dump {
    const char *path;
    char directory[SESSION_DIRECTORY]; /* below each export; "": the tree is in the export */
    int64_t delay;                     /* ns that it begins later than the run */
    struct script script;
    struct survey survey;
    struct session_target *targets; /* part of the session's */
    uint32_t target_count;
    uint32_t first_copy; /* copies are numbered through all dumps, from 0 */
};

/* Where the tree of one server of a dump stands. */
struct session_target {
    struct session_dump *dump;
    uint32_t index;            /* of the command line's targets */
    struct target target;      /* its root is that of the tree */
    char text[SESSION_NAME];   /* for messages: the target of the command line, and the directory */
    char where[SESSION_WHERE]; /* the same without the server */
    struct marker_directory directory; /* its handle: 0 bytes: it does not stand there */
    struct plan plan;
    uint64_t identity;         /* of the tree, for its marker */
    struct pipeline *pipeline; /* one connection, for questions */
    struct marker_place place;
};

/* A target of the command line. */
struct session_server {
    struct target target;
    struct pipeline *pipeline;
};

struct session {
    const struct replay_options *options;
    struct loop *loop;
    struct session_dump *dumps; /* with all copies */
    uint32_t dump_count;
    struct session_target *targets; /* of all dumps, in their order */
    uint32_t target_count;
    struct session_server servers[REPLAY_TARGETS_MAX];
    struct recorder *recorder; /* --record; or NULL */
    bool follows;              /* another rank makes what the trees need beside them */
    bool terminal;             /* progress is shown on standard error */
    int64_t begun;             /* loop_clock */
};

/* Call session_close also after an error. */
int session_open(struct session *session, const struct replay_options *options, struct err *err);
void session_close(struct session *session);
/* Completes the file of --record, if there is one. */
int session_end_recording(struct session *session, struct err *err);

/* Reads all dumps to their ends, for |survey|.  With |whole|, a damaged dump is refused
 * (-ERR_INPUT). */
int session_survey(struct session *session, bool whole, struct err *err);

/* Looks at the target again: its directory, its marker. */
int session_look(struct session_target *target, struct err *err);
/* Makes the target's directory, if it needs one that does not stand there. */
int session_make_directory(struct session_target *target, struct err *err);
/* Removes the target's directory, if it has one and nothing is in it. */
int session_remove_directory(struct session_target *target, struct err *err);

/* A signal stopped the loop. */
bool session_interrupted(const struct session *session);
/* True if |result| is an error only because a signal left a question without an answer. */
bool session_cut_off(const struct session *session, int result);

/* Progress: replaces the last line on the terminal; NULL: takes it away. */
void session_progress(const struct session *session, const char *text);

/* True if the tree on the target is that of its dump and server (its marker is). */
bool session_is_ours(const struct session_target *target);

#endif
