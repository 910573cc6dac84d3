// SPDX-License-Identifier: GPL-2.0-or-later
// The cell of the heat map under the mouse, or chosen with the arrow keys; buttons that copy filters.
"use strict";
(() => {
    const units = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
    const duration = ns => {
        const [name, factor] = units.findLast(u => ns >= u[1]) || units[0];
        return `${Number((ns / factor).toPrecision(3))} ${name}`;
    };

    const map = document.getElementById("heat"), said = document.getElementById("cell");
    const read = () => JSON.parse(document.getElementById("data").textContent);
    if (map && said) {
        const { heat, spans, every } = read();
        const rows = heat.from.length - 1, columns = heat.spans.length;
        const { left, width, top, height } = Object.fromEntries(
            Object.entries(map.dataset).map(([name, value]) => [name, Number(value)]));
        const log = row => Math.log(Math.max(heat.from[row], 1));
        const y = row => top + height * (1 - (log(row) - log(0)) / (log(rows) - log(0)));
        const box = map.querySelector(".chosen");
        let column = -1, row = 0;

        const show = () => {
            const at = new Date(spans[column].time / 1e6).toISOString().replace("T", " ").replace("Z", " UTC");
            const n = heat.spans[column][row];
            box.setAttribute("x", left + width * column / columns);
            box.setAttribute("width", width / columns);
            box.setAttribute("y", y(row + 1));
            box.setAttribute("height", y(row) - y(row + 1));
            said.value = `${n.toLocaleString("en-US")} operation${n === 1 ? "" : "s"} of ` +
                `${duration(heat.from[row])} to ${duration(heat.from[row + 1])}, from ${at} for ${duration(every)}`;
        };
        map.addEventListener("pointermove", event => {
            const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
            const over = Math.floor((place.x - left) / width * columns);
            if (over < 0 || over >= columns || place.y < top || place.y > top + height)
                return;
            column = over;
            row = 0;
            while (row < rows - 1 && y(row + 1) > place.y)
                row++;
            show();
        });
        const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
        map.addEventListener("keydown", event => {
            const step = steps[event.key];
            if (!step || event.altKey || event.ctrlKey || event.metaKey)
                return;
            event.preventDefault();
            if (column < 0) {
                // the fullest cell
                column = 0;
                heat.spans.forEach((cells, c) => cells.forEach((n, r) => {
                    if (n > heat.spans[column][row])
                        [column, row] = [c, r];
                }));
            } else {
                column = Math.min(Math.max(column + step[0], 0), columns - 1);
                row = Math.min(Math.max(row + step[1], 0), rows - 1);
            }
            show();
        });
    }

    // What to say: a page from a file may not be allowed to copy.
    const copy = async code => {
        try {
            await navigator.clipboard.writeText(code.textContent);
            return "Copied";
        } catch {
            getSelection().selectAllChildren(code);
            return document.execCommand("copy") ? "Copied" : "Selected";
        }
    };
    for (const code of document.querySelectorAll("code.filter")) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "copy";
        button.textContent = "Copy";
        button.setAttribute("aria-label", "Copy the filter " + code.textContent);
        button.addEventListener("click", async () => {
            button.textContent = await copy(code);
            setTimeout(() => { button.textContent = "Copy"; }, 1500);
        });
        code.after(button);
    }
})();
