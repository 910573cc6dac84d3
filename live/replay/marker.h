/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/marker.h
 *
 * What says that a tree on a target is this program's: a directory of its own in the export, beside
 * the roots of the tree, with a file that says which dump it is of and how far it is.
 *
 *     EXPORT/scratch/marker     and, in the same directory, further hard links of files
 */
#ifndef NFSDIGEST_REPLAY_MARKER_H
#define NFSDIGEST_REPLAY_MARKER_H

#include "rdump/rdump_place.h"
#include "replay/pipeline.h"

enum { MARKER_CONTENTS = 32, MARKER_OTHER = 256, MARKER_TEXT = 512 };

enum marker_state {
    MARKER_NONE,   /* there is no marker */
    MARKER_MAKING, /* the tree is being made, or was not finished */
    MARKER_MADE,   /* it is complete */
    MARKER_PLAYED, /* and operations were played on it, so it is no longer as it was made */
};

struct marker {
    enum marker_state state;
    uint64_t identity;              /* of the tree: session.h */
    char contents[MARKER_CONTENTS]; /* as the option --fill has it */
};

/* An export as it was found. */
struct marker_place {
    struct marker marker;
    uint8_t scratch[64];      /* handle of the scratch directory */
    uint32_t scratch_len;     /* 0: there is none */
    bool scratch_empty;       /* nothing is in it, not even a marker */
    char other[MARKER_OTHER]; /* the name of something that stands beside it, escaped and
                               * maybe cut; "": nothing */
};

/* The marker's name in the scratch directory. */
extern const char marker_file[];

/* True if what stands there, without a marker, is of somebody else. */
static inline bool marker_is_foreign(const struct marker_place *place)
{
    return place->marker.state == MARKER_NONE &&
           (place->other[0] || (place->scratch_len && !place->scratch_empty));
}

/* Looks; changes nothing.  -ERR_INPUT: a marker that is damaged, or of a later version. */
int marker_find(struct pipeline *pipeline, const struct target *target, struct marker_place *to,
                struct err *err);
struct marker_directory {
    struct bytes parent; /* handle */
    const char *name;
    uint32_t mode;
    uint8_t handle[64];
    uint32_t len;
};
/* Finds the directory's handle.  Returns the status, or a negative code. */
int marker_look_up(struct pipeline *pipeline, struct marker_directory *directory, struct err *err);
/* Makes it, as uid 0, and finds its handle; as marker_scratch. */
int marker_make_directory(struct pipeline *pipeline, struct marker_directory *directory,
                          struct err *err);
/* Makes the scratch directory, if there is none.  -ERR_INPUT in words: the export is read-only, or
 * maps uid 0 to another user (then nothing is left there). */
int marker_scratch(struct pipeline *pipeline, const struct target *target,
                   struct marker_place *place, struct err *err);
/* Writes |place|->marker; the scratch directory must be there. */
int marker_write(struct pipeline *pipeline, const struct marker_place *place, struct err *err);
/* The same, but a server without room is no error: the marker may be as it was, or empty. */
int marker_write_if_room(struct pipeline *pipeline, const struct marker_place *place,
                         struct err *err);
/* Removes the marker; -ERR_INPUT if it cannot be removed. */
int marker_remove(struct pipeline *pipeline, const struct marker_place *place, struct err *err);

/* The marker as text, padded with blanks to MARKER_TEXT bytes; and back.  False: damaged. */
void marker_text(const struct marker *marker, char text[MARKER_TEXT]);
bool marker_parse(const char *text, size_t len, struct marker *to);

#endif
