"""Tables in Markdown."""


def plain(text):
    return text


def bold(text):
    return f"**{text}**"


def markdown(rows):
    """A table with the first column aligned left and all others right."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" + "|--:" * (len(rows[0]) - 1) + "|")
    return "\n".join(lines)
