/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compat.h"
#include "protocols.h"

#include <wiretap/wtap.h>

static int pass_over(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    (void)pinfo;
    (void)tree;
    (void)data;
    return (int)tvb_captured_length(tvb);
}

struct protocols_off *protocols_off(void)
{
    struct protocols_off *off = g_new0(struct protocols_off, 1);
    /* The bytes of a frame go to no dissector, which is faster than the one for unknown data. */
    dissector_handle_t nobody = create_dissector_handle(pass_over, -1);
    dissector_table_t table = find_dissector_table("wtap_encap");
    off->encap_count = wtap_get_num_encap_types();
    off->encap = g_new0(dissector_handle_t, off->encap_count);
    for (int encap = 0; encap < off->encap_count; encap++) {
        off->encap[encap] = dissector_get_uint_handle(table, (uint32_t)encap);
        dissector_change_uint("wtap_encap", (uint32_t)encap, nobody);
    }
    void *cookie = NULL;
    off->disabled = g_array_new(FALSE, FALSE, sizeof(int));
    for (int id = proto_get_first_protocol(&cookie); id != -1;
         id = proto_get_next_protocol(&cookie)) {
        const protocol_t *protocol = find_protocol_by_id(id);
        if (proto_can_toggle_protocol(id) && !proto_is_pino(protocol) &&
            proto_is_protocol_enabled(protocol)) {
            proto_set_decoding(id, FALSE);
            g_array_append_val(off->disabled, id);
        }
    }
    return off;
}

void protocols_on(const struct protocols_off *off)
{
    for (int encap = 0; encap < off->encap_count; encap++) {
        if (off->encap[encap])
            dissector_change_uint("wtap_encap", (uint32_t)encap, off->encap[encap]);
        else
            dissector_reset_uint("wtap_encap", (uint32_t)encap);
    }
    for (unsigned i = 0; i < off->disabled->len; i++)
        proto_set_decoding(g_array_index(off->disabled, int, i), TRUE);
}

void protocols_off_free(struct protocols_off *off)
{
    if (!off)
        return;
    g_array_free(off->disabled, TRUE);
    g_free(off->encap);
    g_free(off);
}
