# SPDX-License-Identifier: GPL-2.0-or-later
"""Descriptions of tables and columns, from the comments of schemas/trace.sql."""

import re

from nfsdigest._library import columns, library

_COLUMN = re.compile(r"^    (\w+) +[A-Z].*?(?:-- *(.*))?$")
_FURTHER = re.compile(r"^ {20,}-- *(.*)$")


def _of_table(sql):
    """(comment before the table, {column: comment})"""
    lines = library.nfsdigest_schema().decode().splitlines()
    start = lines.index(f"CREATE TABLE {sql} (")
    head, comments, last = [], {}, None
    for line in reversed(lines[:start]):
        if not line.startswith("--") or line.startswith("---"):
            break
        head.insert(0, line[2:].strip())
    for line in lines[start + 1:lines.index("", start) if "" in lines[start:] else len(lines)]:
        if line.startswith(")"):
            break
        if further := _FURTHER.match(line):
            comments[last] = f"{comments[last]} {further[1]}".strip()
        elif column := _COLUMN.match(line):
            last = column[1]
            comments[last] = column[2] or ""
    return " ".join(head), comments


def describe(name, sql):
    """The docstring of a table."""
    head, comments = _of_table(sql)
    lines = [f"{head or 'The table ' + sql + '.'}", "", "Columns:"]
    for column, _, text in columns(name):
        lines.append(f"    {column}: {text or comments.get(column, '')}".rstrip(": "))
    return "\n".join(lines)
