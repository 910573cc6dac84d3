/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/convert.h"
#include "capture/capture.h"
#include "capture/feed.h"

struct converter {
    const struct conversion *conversion;
    struct engine *engine;
    uint64_t frames;
    bool cut;
    struct unopened unopened;
};

/* One capture; the output is opened when the first turns out to be one. */
static int convert_file(struct converter *c, const char *path, struct err *err)
{
    struct input *input = input_open(path, false, err);
    const uint8_t *head;
    struct feed feed = { 0 };
    int result = input ? 0 : -err->code;
    size_t len = input ? input_head(input, &head) : 0;

    if (len && capture_is(head, len) && !c->engine)
        result = c->conversion->open(c->conversion->ctx, &c->engine, err);
    if (result == 0 && c->engine) {
        result = feed_capture(input, c->engine, c->frames, c->conversion->progress, &feed, err);
        c->frames += feed.frames;
        c->unopened = feed.unopened;
        if (feed.cut) {
            c->cut = true;
            result = -ERR_INPUT;
        }
    } else if (result == 0) {
        struct capture *capture = capture_open(input, err); /* says why it is none */

        capture_close(capture);
        result = -err->code;
    }
    input_close(input);
    return result;
}

static void say_empty(const struct conversion *conversion, const char *path)
{
    struct err note;

    err_set(&note, ERR_NONE, "%s: holds no packets", input_path_name(path));
    progress_say(conversion->progress, note.text);
}

int convert_captures(const struct conversion *conversion, int count, char **paths, struct err *err)
{
    struct converter c = { .conversion = conversion };
    struct err note = { 0 };
    int worst = 0, result;

    for (int i = 0; i < count; i++) {
        result = convert_file(&c, paths[i], err);
        if (result == -ERR_INPUT) {
            progress_say(conversion->progress, err->text);
            worst = ERR_INPUT;
        } else if (result < 0) {
            return result;
        }
    }
    if (!c.engine)
        return worst;
    if (!c.frames && worst)
        return worst;
    if (!c.frames)
        say_empty(conversion, paths[0]);
    feed_note_unopened(&c.unopened, count == 1 ? input_path_name(paths[0]) : "captures", &note);
    if (note.text[0])
        progress_say(conversion->progress, note.text);
    result = conversion->end(conversion->ctx, c.cut, err);
    return result < 0 ? result : worst;
}
