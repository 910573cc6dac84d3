# SPDX-License-Identifier: GPL-2.0-or-later
"""Which pieces of a capture to make again, continuing the one before each, until "nfsdigest join" finds all exact."""


def note(verdicts, continued):
    """Adds to |continued| the numbers of the pieces to be made again, by what join says of each.  Returns the numbers
    of those that are not exact."""
    todo = [i for i, verdict in enumerate(verdicts) if verdict["verdict"] != "exact"]
    for i in todo:
        if i in continued:  # the cause is older
            while i - 1 in continued and i > 1:
                i -= 1
            i = max(i - 1, 1)
        continued.add(i)
    return todo
