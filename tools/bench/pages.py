"""The pages of docs/performance, one for each kind of machine and set of networks, and docs/performance.md, the summary
of all. Its entry for each page is kept in results/performance/pages.json, since a run has only its own results."""
from bench import results as ask
from common.report.pages import write_text
from common.report.tables import markdown
from common.report.words import machine
from common.results import load, write

# The instructions that decide how fast products can be, the best first: a machine's flag, and the name of the kind.
KINDS = {"amx_tile": "amx", "avx512_vnni": "avx512-vnni", "avx512f": "avx512", "avx_vnni": "avx-vnni", "avx2": "avx2"}
SETS = {"": "networks of floats", "-int8": "networks of 8-bit integers", "-wide": "the wide set"}


def kind_of(machine):
    return next((kind for flag, kind in KINDS.items() if flag in machine["instructions"]), "other")


def set_of(results):
    return "-wide" if ask.is_wide(results) else "-int8" if ask.is_int8(results) else ""


def name_of(results):
    """The name of the page, and of the folder with its figures beside it."""
    return kind_of(results["machine"]) + set_of(results)


def entry(results, means):
    """A page's entry in the summary; `means` are (threads, Attune's speed against the fastest peer)."""
    return {"kind": kind_of(results["machine"]), "set": set_of(results), "date": results["date"][:10],
            "machine": machine(results["machine"]), "networks": len(results["cases"]),
            "means": {str(threads): mean for threads, mean in means if mean}}


def write_summary(docs, listed, name, described):
    """Adds the page to those in the file `listed`, in place of its last state, and writes the summary of all into the
    folder `docs`."""
    pages = load(listed) if listed.exists() else {}
    pages[name] = described
    write(listed, dict(sorted(pages.items())))
    write_text(docs / "performance.md", summary(pages))


def summary(pages):
    order = [*KINDS.values(), "other"]
    rows = [["machine", "networks", "1 thread", "2 threads and more", "measured"]]
    machines = []
    for name, page in sorted(pages.items(), key=lambda each: (order.index(each[1]["kind"]), each[0])):
        more = [f"{mean:.2f} on {threads}" for threads, mean in page["means"].items() if threads != "1"]
        one = page["means"].get("1")
        rows.append([page["kind"], f"[{SETS[page['set']]}](performance/{name}.md), {page['networks']}",
                     f"{one:.2f}" if one else "", ", ".join(more), page["date"]])
        machines.append(f"- [{name}](performance/{name}.md): {page['machine']}")
    return "\n\n".join([
        "# Performance",
        "*Made by `./do bench --write-docs`: changes by hand get lost.*",
        """How many times as fast as the fastest peer of each network Attune is, as the geometric mean. Each kind of
machine, by its instructions, has pages of its own, so that a run on one leaves those of others: networks of floats (`./do
bench`), of 8-bit integers (`--int8`), and many outside the tuned suite (`--wide`).""",
        markdown(rows), "The machines:", "\n".join(machines)]) + "\n"
