"""Writes pages with their figures."""


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_page(path, text, figures, charts):
    """Writes the page, and {file name: drawing} into the folder `figures`, in place of its old drawings."""
    for old in figures.glob("*.svg"):
        old.unlink()
    for name, drawing in charts.items():
        write_text(figures / name, drawing)
    write_text(path, text)
