/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/play.h
 *
 * Playing the dump of a session on its targets: the tree is found, then the player has everything
 * that it needs.
 *
 *     play_new, play_run, play_free
 *
 * Memory: what player.h says.
 */
#ifndef NFSDIGEST_REPLAY_PLAY_H
#define NFSDIGEST_REPLAY_PLAY_H

#include "player/player.h"
#include "replay/session.h"
#include "replay/survey.h"

struct play {
    struct session *session;
    const struct survey *survey;
    struct player_dump dump;
    const struct target **targets; /* by host number */
    struct tally *tally;
    struct player *player;
    uint8_t stale[64];
    bool fills; /* the files have the contents that READs are checked against */
    bool links; /* directories have the link counts of the trace */
    uint64_t link_counts, link_counts_differ;
    bool interrupted;
    bool shortened; /* --stop-after left operations off: they are no part of the run */
    bool damaged;   /* |damage| says where; what stood before was played */
    const char *damage;
};

/* Finds the tree of all targets; looks at markers and sizes.  -ERR_INPUT in words: the tree is not
 * there, was played on, or was not finished; root is mapped to another user, though the trace has
 * it. */
int play_new(struct play *play, struct session *session, const struct survey *survey,
             struct err *err);
/* Plays.  Returns 0, whatever the verdicts; as player_run. */
int play_run(struct play *play, struct err *err);
/* Says after play_run why it has not played the whole dump, for report_run.note; "": it has. */
void play_note(const struct play *play, char *to, size_t size);
void play_free(struct play *play);

#endif
