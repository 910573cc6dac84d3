-- SPDX-License-Identifier: GPL-2.0-or-later
-- Filters for people: Tools > NFS Pair Filters in Wireshark's window.  The plugin itself
-- (nfspair.so) has the entries that look at the selected packet.

if not gui_enabled() then
    return
end

local MENU = "NFS Pair Filters/"

local function apply(filter)
    set_filter(filter)
    apply_filter()
end

-- A display filter's string: backslashes and quotes are escaped.
local function quote(text)
    return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

local filters = {
    { "Calls without a reply", "nfspair.message == 0 and nfspair.pairing in {1, 3, 4}" },
    { "Replies without a call", "nfspair.message == 1 and nfspair.pairing == 2" },
    { "Retransmissions and duplicate replies", "nfspair.retransmission or nfspair.duplicate_reply" },
    { "Partial and malformed messages", "nfspair.partial or nfspair.malformed" },
    { "Failed operations", "nfspair.status > 0 or nfspair.rpc_status > 0" },
    { "Slower than 100 ms", "nfspair.latency > 0.1" },
    { "Changes to names",
      'nfspair.procedure in {"CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK"}' },
}
for _, entry in ipairs(filters) do
    register_menu(MENU .. entry[1], function() apply(entry[2]) end, MENU_TOOLS_UNSORTED)
end

register_menu(MENU .. "Path contains...", function()
    new_dialog("NFS Pair: path contains", function(text)
        if text and text ~= "" then
            apply("nfspair.path contains " .. quote(text) ..
                  " or nfspair.path2 contains " .. quote(text))
        end
    end, "Text")
end, MENU_TOOLS_UNSORTED)

register_menu(MENU .. "Procedure and latency...", function()
    new_dialog("NFS Pair: procedure slower than", function(procedure, ms)
        local terms = {}
        if procedure and procedure ~= "" then
            terms[#terms + 1] = "nfspair.procedure == " .. quote(procedure:upper())
        end
        if tonumber(ms) then
            terms[#terms + 1] = string.format("nfspair.latency > %.6f", tonumber(ms) / 1000)
        end
        if #terms > 0 then
            apply(table.concat(terms, " and "))
        end
    end, "Procedure", "Milliseconds")
end, MENU_TOOLS_UNSORTED)
