"""Requests with one field at an edge, and requests drawn from an OpenAPI document.

A request is (method, path, headers, body), the body bytes or None.
"""
import copy
import json
import urllib.parse

MIB = 1 << 20
METHODS = ("get", "put", "post", "delete", "patch")


class Raw:
    """A value that stands in JSON as this text."""

    def __init__(self, text):
        self.text = text


class Pairs:
    """An object with these names, of which one may come twice."""

    def __init__(self, pairs):
        self.pairs = pairs


# Where conversions to integers, doubles and durations go wrong.
NUMBERS = (0, -0.0, -1, 1, 0.5, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -2**63,
           -2**63 - 1, 2**64 - 1, 2**64, 1e19, 1e300, -1e300, 5e-324, Raw("1e400"), Raw("-1e400"), Raw("NaN"),
           Raw("Infinity"), Raw("0x10"), Raw("1" * 400))
TEXTS = ("", "x", "/", "//", ".", "..", "../x", "in", "in/", "in//x", "/etc/passwd", "in/../x", "out/x", "no slash", " ",
         "\x00", "\n", "\x1b[31m", "\x7f", "\u2028", "\ud800", "ä" * 70, "'; DROP TABLE jobs; --", "%00", "%2F",
         "null", "1h", "-1h", "1e300s", "9" * 400, "0" * 64, "f" * 64, "F" * 64, "0" * 63, "x" * 65, "x" * 300, "x" * 5000)
OTHERS = (None, True, False, [], {}, [[]], {"": None}, Raw("[" * 50 + "]" * 50), Raw("[" * 5000 + "]" * 5000),
          Raw('{"a":' * 200 + "1" + "}" * 200), Raw(""), Raw("}"), Raw('"'), Raw("\ufeff1"), Raw("// x\n1"))
LARGE = ("x" * MIB, Raw("[" + "0," * 100_000 + "0]"), Raw("9" * 100_000))
STREAMS = ("text/event-stream",)
LARGE_SHARE = 0.01  # of edges: they take long to send


def is_stream(declaration):
    """Whether the answer has no end of its own."""
    return any(kind in response.get("content", {}) for response in declaration["responses"].values() for kind in STREAMS)


def to_json(value):
    """The value as JSON, by everything that is not JSON in it as it stands."""
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, Pairs):
        return "{%s}" % ", ".join(f"{json.dumps(name)}: {to_json(item)}" for name, item in value.pairs)
    if isinstance(value, dict):
        return to_json(Pairs(value.items()))
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(to_json, value))
    return json.dumps(value)


def places(value, path=()):
    """The paths of all fields and entries in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def edge_value(value, foreign, chance):
    """A value at an edge for the place of this one; `foreign`: ids and digests of others' things."""
    if chance.random() < LARGE_SHARE:
        return chance.choice(LARGE)
    return chance.choice([chance.choice(NUMBERS), chance.choice(TEXTS), chance.choice(OTHERS), chance.choice(foreign),
                          *([value + value, value[:-1], value + chance.choice(TEXTS)] if isinstance(value, str) else []),
                          *([value * 2, value * 50] if isinstance(value, list) else [])])


def edge_body(body, foreign, chance):
    """The body with one of its fields at an edge, missing, doubled, or under another name; as text."""
    changed = copy.deepcopy(body)
    *above, last = chance.choice(list(places(body)))
    parent = changed
    for key in above:
        parent = parent[key]
    kind = chance.random()
    if kind < 0.06:
        del parent[last]
    elif kind < 0.1 and isinstance(parent, dict):
        parent[chance.choice(TEXTS)] = parent.pop(last)
    elif kind < 0.14 and isinstance(parent, dict):
        twice = Pairs([*parent.items(), (last, edge_value(parent[last], foreign, chance))])
        changed = replaced(changed, above, twice)
    else:
        parent[last] = edge_value(parent[last], foreign, chance)
    return to_json(changed)


def replaced(value, path, by):
    """The value with another one at this path."""
    if not path:
        return by
    changed = copy.copy(value)
    changed[path[0]] = replaced(value[path[0]], path[1:], by)
    return changed


def header_text(text):
    """As much of the text as a header can have."""
    return "".join(character for character in text if character.isascii() and character.isprintable())[:4000]


def plain_text(value):
    """Returns the text that stands for the value in a path, a query or a header."""
    return value if isinstance(value, str) else to_json(value)[:4000]


class Document:
    """The OpenAPI document of a server."""

    def __init__(self, json_document):
        self._document = json_document

    def operations(self):
        """All operations, as (method, path, declaration)."""
        for path, methods in self._document["paths"].items():
            for method in METHODS:
                if method in methods:
                    yield method.upper(), path, methods[method]

    def resolved(self, schema):
        """The schema that a reference names, or the schema itself."""
        if "$ref" in schema:
            return self._document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def example(self, schema):
        """A value that follows the schema."""
        schema = self.resolved(schema)
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type", "object")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            properties = schema.get("properties", {})
            return {name: self.example(properties[name]) for name in schema.get("required", []) if name in properties}
        if kind == "array":
            return [self.example(schema["items"]) for _ in range(schema.get("minItems", 0))]
        if kind in ("integer", "number"):
            return max(1, schema.get("minimum", 1))
        if kind == "boolean":
            return True
        if kind == "null":
            return None
        return "0" * 64 if "{64}" in schema.get("pattern", "") else "x" * max(4, schema.get("minLength", 0))

    def drawn(self, schema, known, chance):
        """A value that mostly follows the schema; texts are often `known` ones."""
        schema = self.resolved(schema)
        if chance.random() < 0.05:
            return edge_value(chance.choice(known), known, chance)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kinds = schema.get("type", "object")
        kind = chance.choice(kinds) if isinstance(kinds, list) else kinds
        if kind == "object":
            names = list(schema.get("properties", {})) + ([] if "properties" in schema else chance.sample(TEXTS, 2))
            return {name: self.drawn(schema.get("properties", {}).get(name, {}), known, chance) for name in names
                    if name in schema.get("required", []) and chance.random() < 0.95 or chance.random() < 0.5}
        if kind == "array":
            return [self.drawn(schema["items"], known, chance) for _ in range(chance.choice((0, 1, 1, 2, 5)))]
        if kind in ("integer", "number"):
            least, most = schema.get("minimum", -2**63), schema.get("maximum", 2**63)
            return chance.choice((least, most, max(least, min(most, 1)), chance.uniform(least, most),
                                  int(chance.uniform(least, most))))
        if kind == "boolean":
            return chance.random() < 0.5
        return None if kind == "null" else chance.choice((*known, *known, *known, chance.choice(TEXTS)))

    def drawn_request(self, operation, known, chance):
        """A request of an operation that mostly follows the document; texts are often `known` ones."""
        def value(parameter):
            if parameter["in"] != "path" and not parameter["required"] and chance.random() < 0.5:
                return None
            return self.drawn(parameter["schema"], known, chance)

        content = operation[2].get("requestBody", {}).get("content", {})
        body = chance.randbytes(20) if content else None
        if "application/json" in content:
            drawn = self.drawn(content["application/json"]["schema"], known, chance)
            body = to_json(drawn).encode("utf-8", "surrogatepass")
        return self.request(operation, value, body, plain_text)

    def request(self, operation, values, body, text_of):
        """The request of an operation: (method, path, headers, body).

        `values`: of parameters, by their names; those that are None are left out. `text_of` writes a value's text.
        """
        method, path, declaration = operation
        headers, query = {}, []
        for parameter in declaration.get("parameters", []):
            value = values(parameter)
            if value is None and parameter["in"] != "path":
                continue
            text = text_of(value)
            if parameter["in"] == "header":
                headers[parameter["name"]] = header_text(text)
            elif parameter["in"] == "query":
                query.append(f"{parameter['name']}={urllib.parse.quote(text.encode('utf-8', 'replace'), safe='')}")
            else:
                quoted = urllib.parse.quote(text.encode("utf-8", "replace"), safe="")
                path = path.replace("{%s}" % parameter["name"], quoted)
        for content_type in declaration.get("requestBody", {}).get("content", {}):
            headers["Content-Type"] = content_type
        return method, path + ("?" + "&".join(query) if query else ""), headers, body
