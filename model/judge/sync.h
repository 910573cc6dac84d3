/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/sync.h
 *
 * Tracks which attributes, contents and names may differ between the two sides, because of earlier
 * operations.  All functions are about the current pair.  A function that says why something may
 * differ returns a withheld_reason, or 0 if nothing explains a difference.
 */
#ifndef NFSDIGEST_JUDGE_SYNC_H
#define NFSDIGEST_JUDGE_SYNC_H

#include "judge/judge_parts.h"

/* --- sync.c */

/* Says why attributes may differ. */
int sync_attributes(const struct judge *j, enum whose whose);
/* Says why a listing may have other names, but for those that the host says were changed meanwhile.
 * Live hosts say all. */
int sync_listed(const struct judge *j);
/* Returns true if the pair's name stands for different objects on the two sides. */
bool sync_is_other(const struct judge *j, enum whose whose);
/* Says why contents may differ, or returns a negative code. */
int sync_data(struct judge *j, struct err *err);
/* Says why the object's mode or owner may differ. */
int sync_rights(const struct judge *j);
/* Says why different changes of the object came before. */
int sync_order(const struct judge *j, uint32_t row);
/* sync_status.c: says why these two statuses may differ; at least one is not success.  Returns a
 * reason that can cause the status of either side, 0, or a negative code. */
int sync_status(struct judge *j, const struct field *field, uint64_t ref, uint64_t sut,
                struct err *err);
/* Returns true if an object's contents were read on one side only, or in another order, since its
 * access times were the same. */
bool sync_reads_differ(const struct judge *j, enum whose whose, uint32_t row);
void sync_reads_known(struct judge *j, enum whose whose, uint32_t row);
/* Return the row of the object that an attribute belongs to: for the pair, and for one side. */
uint32_t sync_object(const struct judge *j, enum whose whose);
uint32_t sync_row(const struct judge *j, int side, enum whose whose);
/* Notes what is no longer the same, or is the same again.  Call it after a pair or an operation of
 * one side. */
int sync_after(struct judge *j, bool status_equal, bool data_equal, struct err *err);
/* Notes what the requests of a pair say.  Call it before their replies are compared. */
int sync_before(struct judge *j, struct err *err);
/* Counts a withheld comparison of attributes. */
int sync_count(struct judge *j, enum whose whose, struct err *err);
/* Tells the host that something is lost.  *|id|: the host's number for it. */
int sync_lose(struct judge *j, const struct judge_loss *loss, int64_t *id, struct err *err);

/* --- access.c: access times of a live host's objects */

/* Returns true if access times may differ, as servers update them by different rules. */
bool access_is_open(const struct judge *j, enum whose whose);
/* Notes if the pair sets access times.  Call it before the replies are compared. */
int access_before(struct judge *j, struct err *err);
/* Notes reads, and what sets access times.  Call it after a pair. */
void access_after(struct judge *j);

/* --- open_times.c: times that two requests at the same time set */

/* Returns true if nobody knows this time of the object. */
bool open_times_has(const struct judge *j, uint32_t row, enum stamp stamp);
/* Notes that the pair, which succeeded on both sides, set times alone.  Call it after note_times.
 */
void open_times_after(struct judge *j);

/* --- sync_data.c: contents */

/* Returns the end of a byte range. */
static inline uint64_t range_end(uint64_t start, uint64_t length)
{
    return length > UINT64_MAX - start ? UINT64_MAX : start + length;
}
/* Says why the bytes [start, end) may differ. */
int sync_extent(const struct object_state *state, uint64_t start, uint64_t end);
/* Notes that the bytes from |loss->start| to |loss->end| are no longer known to be the same.
 * Ignores row 0. */
int sync_lose_extent(struct judge *j, const struct judge_loss *loss, struct err *err);
/* Notes that the bytes are known to be the same again. */
int sync_know_extent(struct judge *j, uint32_t row, uint64_t start, uint64_t end, struct err *err);

/* --- sync_writes.c: checks if equal requests last wrote the pair's bytes on both sides, in any
 * order */

enum sync_written { WRITTEN_UNKNOWN, WRITTEN_ALIKE, WRITTEN_OTHERWISE };
int sync_written(struct judge *j, enum sync_written *written, struct err *err);

/* --- sync_names.c: what names stand for */

/* Says why the names of the pair may stand for different objects. */
int sync_name(struct judge *j);
/* Says why an entry of the pair's directory may stand for different objects. */
int sync_entry(struct judge *j, struct bytes name);
/* Notes that both sides have this entry. */
int sync_entry_known(struct judge *j, struct bytes name, struct err *err);
/* Notes that an operation on the pair's names ended alike on both sides. */
int sync_names_known(struct judge *j, struct err *err);
int sync_lose_name(struct judge *j, uint32_t directory, enum withheld_reason reason,
                   struct bytes name, struct err *err);
/* Reports the comparisons that were withheld because of names that are still lost. */
int sync_names_finish(struct judge *j, struct err *err);
void sync_names_forget(struct judge *j, uint32_t directory);

#endif
