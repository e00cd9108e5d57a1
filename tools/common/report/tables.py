"""Tables in Markdown."""


def plain(text):
    return text


def bold(text):
    return f"**{text}**"


def markdown(rows):
    """A table whose first column is to the left and all others to the right."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" + "|--:" * (len(rows[0]) - 1) + "|")
    return "\n".join(lines)
