"""Writes pages with their figures."""


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_page(path, text, figures, charts):
    """The page, and in the folder `figures` {name of a file: drawing} in the place of those that were there."""
    for old in figures.glob("*.svg"):
        old.unlink()
    for name, drawing in charts.items():
        write_text(figures / name, drawing)
    write_text(path, text)
