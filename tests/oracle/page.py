# SPDX-License-Identifier: GPL-2.0-or-later
"""HTML pages as Python's parser reads them: their tree, and what is wrong with them (tags that are not
closed, identifiers twice, what a reader needs who doesn't see them, what they would load)."""
import collections
import html.parser
import re

# what moves other characters or breaks lines (Bidi_Control; Zl, Zp)
UNSEEN = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children, self.words = [], []

    def all(self, tag=None, name=None):
        for child in self.children:
            if (tag is None or child.tag == tag) and \
                    (name is None or name in child.attributes.get("class", "").split()):
                yield child
            yield from child.all(tag, name)

    def text(self):
        return "".join(w if isinstance(w, str) else w.text() for w in self.words)


class Page(html.parser.HTMLParser):
    """The tree of a page, and what is wrong with it."""
    void = {"meta", "link", "br", "img", "input", "wbr"}

    def __init__(self, data):
        super().__init__()
        self.root = self.at = Element("", {}, None)
        self.wrong = []
        self.size = len(data)
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            self.wrong.append("no UTF-8: %s" % error)
            text = data.decode("utf-8", "replace")
        for c in set(text):
            if ord(c) < 0x20 and c != "\n" or 0x7f <= ord(c) < 0xa0 or c in UNSEEN:
                self.wrong.append("a control character %r" % c)
        self.feed(text)
        self.close()
        if self.at is not self.root:
            self.wrong.append("not closed: " + self.at.tag)
        self.ids = {e.attributes["id"]: e for e in self.root.all() if "id" in e.attributes}
        self.check()

    def handle_starttag(self, tag, attributes):
        names = [a for a, _ in attributes]
        if len(set(names)) != len(names):
            self.wrong.append("an attribute twice: %s %s" % (tag, names))
        element = Element(tag, dict(attributes), self.at)
        self.at.children.append(element)
        self.at.words.append(element)
        if tag not in self.void:
            self.at = element

    def handle_startendtag(self, tag, attributes):
        if not any(e.tag == "svg" for e in self.path()):
            self.wrong.append("<%s/>" % tag)
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if self.at.tag != tag:
            self.wrong.append("</%s> within %s" % (tag, self.at.tag))
            return
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.words.append(data)

    def path(self):
        at = self.at
        while at:
            yield at
            at = at.parent

    def check(self):
        elements = list(self.root.all())
        counts = collections.Counter(e.attributes["id"] for e in elements if "id" in e.attributes)
        self.wrong += ["id %s %d times" % c for c in counts.items() if c[1] > 1]
        for e in elements:
            a = e.attributes
            if e.tag == "th" and a.get("scope") not in ("row", "col", "colgroup"):
                self.wrong.append("a head without scope: " + e.text()[:60])
            if e.tag in ("input", "select", "textarea") and not any(
                    o.tag == "label" and o.attributes.get("for") == a.get("id") for o in elements):
                self.wrong.append("no label for " + str(a.get("id")))
            if e.tag == "table" and not (e.children and e.children[0].tag == "caption"):
                self.wrong.append("a table without caption: " + e.text()[:60])
            if e.tag == "a" and not (a.get("href", "").startswith("#")
                                     and a["href"][1:] in self.ids):
                self.wrong.append("a link to nowhere: %s" % a)
            if e.tag == "svg" and "np" not in a.get("class", "") and "aria-label" not in a:
                self.wrong.append("a drawing without words")
            self.wrong += ["%s=%s" % (n, v) for n, v in a.items()
                           if n == "src" or n.startswith("on") or n == "style"
                           or n == "href" and not v.startswith("#")]
            if e.tag == "style" and re.search(r"url\(|@import", e.text()):
                self.wrong.append("a style sheet that loads something")
            if e.tag in ("link", "iframe", "object", "embed", "base"):
                self.wrong.append(e.tag)
        if not any(e.tag == "meta" and e.attributes.get("http-equiv") == "Content-Security-Policy"
                   and "default-src 'none'" in e.attributes.get("content", "") for e in elements):
            self.wrong.append("no policy")
        if [e.attributes for e in elements if e.tag == "html"] != [{"lang": "en"}]:
            self.wrong.append("no language")

    def tags(self):
        return collections.Counter(e.tag for e in self.root.all())
