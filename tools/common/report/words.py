"""Words for numbers, machines and programs on pages."""


def milliseconds(value):
    """Three digits: 6.67, 22.3, 289."""
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def plural(count, word):
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def duration(seconds):
    """40 s, 12 min, 3:05 h"""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60}:{minutes % 60:02} h"


def machine(described):
    """The machine on one line."""
    def size(count):
        return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"
    caches = [f"L{cache['level']} {size(cache['bytes'])} for {plural(cache['processors'], 'core')}"
              for cache in described["caches"] if cache["type"] != "instruction"]
    return (f"{plural(described['processors'], 'core')} of {described['cpu']} (family {described['cpu_family']}, model "
            f"{described['cpu_model']}; {', '.join(described['instructions'])}), {', '.join(caches)}, "
            f"{described['memory_bytes'] / 2**30:.0f} GiB of memory, {described['system']}")


def program_text(program):
    changed = " with changes" if program["modified"] else ""
    return f"{program['version']} ({program['commit'][:12]}{changed})" if program["commit"] else program["version"]


def program_title(program):
    """Attune 0.1.0 (commit 0123456789ab, with changes)"""
    changed = ", with changes" if program["modified"] else ""
    commit = f" (commit {program['commit'][:12]}{changed})" if program["commit"] else ""
    return f"Attune {program['version']}{commit}"
