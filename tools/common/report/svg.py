"""A small writer of SVG: shapes and text in pixels, the origin at the top left."""
from xml.sax.saxutils import escape, quoteattr

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def attributes(values):
    """The attributes of an element: numbers are rounded, None is left out, and stroke_width stands for stroke-width."""
    parts = []
    for name, value in values.items():
        if value is not None:
            text = number(value) if isinstance(value, (int, float)) else str(value)
            parts.append(f" {name.replace('_', '-')}={quoteattr(text)}")
    return "".join(parts)


class Drawing:
    """A picture on white. `title` and `description` are for people who cannot see it."""

    def __init__(self, width, height, title, description):
        self.width, self.height = width, height
        self._elements = [f"<title>{escape(title)}</title>", f"<desc>{escape(description)}</desc>"]
        self.rect(0, 0, width, height, fill="#ffffff")

    def rect(self, x, y, width, height, **style):
        self._add("rect", x=x, y=y, width=width, height=height, **style)

    def line(self, x1, y1, x2, y2, **style):
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, **style)

    def circle(self, x, y, radius, **style):
        self._add("circle", cx=x, cy=y, r=radius, **style)

    def polygon(self, points, **style):
        self._add("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), **style)

    def polyline(self, points, **style):
        self._add("polyline", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), fill="none", **style)

    def text(self, x, y, string, size=12, anchor="start", turned=False, halo=False, **style):
        """`y` is the baseline; `turned` text runs upwards; a `halo` keeps it readable on lines."""
        transform = f"rotate(-90 {number(x)} {number(y)})" if turned else None
        style = {"fill": "#222222", **style}
        if halo:
            style |= {"stroke": "#ffffff", "stroke_width": 3, "paint_order": "stroke"}
        self._add("text", escape(string), x=x, y=y, font_size=size, text_anchor=anchor, transform=transform, **style)

    def _add(self, tag, content="", **values):
        self._elements.append(f"<{tag}{attributes(values)}>{content}</{tag}>" if content else
                              f"<{tag}{attributes(values)}/>")

    def __str__(self):
        opening = attributes({"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {self.width} {self.height}",
                              "width": self.width, "height": self.height, "role": "img", "font_family": FONT})
        return "\n".join([f"<svg{opening}>", *self._elements, "</svg>"]) + "\n"
