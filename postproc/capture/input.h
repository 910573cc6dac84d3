/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/input.h
 *
 * Reads a file or standard input as a stream of bytes, decompressed from gzip, zstd, xz, lz4 or
 * bzip2. The compression is recognized by its magic number; the name does not matter.  Offsets,
 * sizes and digests are those of the decompressed bytes, so x.pcap, x.pcap.zst and "zstd -dc
 * x.pcap.zst |" are the same input.
 *
 * Ownership: |path| must outlive the input.  Memory: about 1 MiB, and that of the decompressor.
 */
#ifndef NFSDIGEST_CAPTURE_INPUT_H
#define NFSDIGEST_CAPTURE_INPUT_H

#include "capture/live.h"

enum { INPUT_HEAD_MAX = 64 << 10, INPUT_HEAD_LIVE = 24, INPUT_DIGEST_LEN = 16 };

struct input;

/* Opens |path|, or standard input for "-".  Returns NULL with ERR_INPUT if a file can't be opened.
 * With |digest|, the bytes are digested while they are read. */
struct input *input_open(const char *path, bool digest, struct err *err);
void input_close(struct input *input);

/* Makes an input that was opened without |digest| one that has it.  Nothing was read of it yet. */
int input_want_digest(struct input *input, struct err *err);

/* Opens a regular file that is not compressed, and reads its first |head| bytes (at most
 * INPUT_HEAD_MAX), then those from |from| on.  -ERR_USAGE: it is compressed or no regular file. */
struct input *input_open_part(const char *path, size_t head, uint64_t from, struct err *err);

/* Opens a file or a pipe that is still being written: see live.h.  |live| is the caller's and must
 * outlive the input.  Waits for the first bytes.  The head has at least INPUT_HEAD_LIVE bytes, or
 * all, and grows while the input is read. */
struct input *input_open_live(const char *path, struct live *live, struct err *err);
struct live *input_live(const struct input *input); /* NULL: it was opened by input_open */
/* Makes a live input end where its file ends now. */
void input_end_live(struct input *input);
/* Returns how many bytes of the file or pipe itself were read. */
uint64_t input_raw_offset(const struct input *input);

/* Returns a name for messages: the path, or "standard input" for "-". */
const char *input_path_name(const char *path);
const char *input_name(const struct input *input);

/* Returns true for a regular file, which can be opened and read again. */
bool input_is_file(const struct input *input);

/* Gives the first bytes, at most INPUT_HEAD_MAX.  They can still be read.  Returns how many. */
size_t input_head(const struct input *input, const uint8_t **data);

/* Reads up to |len| bytes.  Returns how many, 0 at the end, or a negative code.  If compressed data
 * end too early, it returns -ERR_INPUT after everything that could be decompressed.  Later reads
 * return the same error again. */
ssize_t input_read(void *input, void *data, size_t len, struct err *err);

/* Returns the number of bytes that were read. */
uint64_t input_offset(const struct input *input);

/* Reads the rest of the input, for the digest. */
int input_drain(struct input *input, struct err *err);

/* Returns in |digest| the XXH3-128 (canonical form) of all bytes read so far. */
void input_digest(const struct input *input, uint8_t digest[INPUT_DIGEST_LEN]);

/* Does the same for the first |len| bytes of the head. */
void input_head_digest(const struct input *input, size_t len, uint8_t digest[INPUT_DIGEST_LEN]);

/* Returns how far reading has come in the file, from 0 to 1.  Returns a negative number if that is
 * not known. */
double input_progress(const struct input *input);

#endif
