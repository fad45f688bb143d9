# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of MkDocs: pages from what is not in docs/, so that nothing has to be written twice, and links to them.

LAPLE_BIN is where the programs are whose --help makes reference/laple-*.md.
"""
import os
import re
import subprocess
import textwrap
from pathlib import Path
from posixpath import dirname, normpath, relpath

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
# Pages of the site, and where they come from.
ELSEWHERE = {
    "overview": "README.md",
    "changes": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "reference/grid": "tools/grid/README.md",
    "performance/examples": "examples/README.md",
    "performance/simulation": "bench/smpi/README.md",
    "performance/planner": "bench/planner/README.md",
    "performance/netpipe": "bench/netpipe/README.md",
    "performance/streams": "bench/streams/README.md",
}
PAGE_OF = {source: f"{page}.md" for page, source in ELSEWHERE.items()}
PROGRAM = re.compile(r'^ *laple_add_page\((laple-\w+) "(.*?)"', re.MULTILINE)
SUBCOMMANDS = re.compile(r"^Subcommands:\n((?:  .*\n)+)", re.MULTILINE)
LINK = re.compile(r"\[([^][]*)\]\(([^)\s]+)\)")
WIDTH = 120


def help_of(*command):
    """What COMMAND --help prints; long lines go on below their last column."""
    environment = {**os.environ, "COLUMNS": str(WIDTH)}
    program = Path(os.environ["LAPLE_BIN"]) / command[0]
    text = subprocess.run([program, *command[1:], "--help"], check=True, capture_output=True, text=True,
                          env=environment).stdout
    lines = []
    for line in text.strip().splitlines():
        column = max((match.end() for match in re.finditer(r"^ +| {2,}", line)), default=0)
        lines += textwrap.wrap(line, WIDTH, subsequent_indent=" " * column, replace_whitespace=False,
                               break_on_hyphens=False, break_long_words=False) or [""]
    return "\n".join(lines)


def program_page(name, summary):
    text = help_of(name)
    parts = [f"# {name}\n\nTo {summary}.\n", f"```text\n{text}\n```\n"]
    found = SUBCOMMANDS.search(text + "\n")
    for line in found.group(1).splitlines() if found else []:
        if command := re.match(r"  (\w+)", line):
            parts.append(f"## {name} {command[1]}\n\n```text\n{help_of(name, command[1])}\n```\n")
    return "\n".join(parts)


def on_files(files, config):
    for source, page in PAGE_OF.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for name, summary in PROGRAM.findall((ROOT / "tools/man/CMakeLists.txt").read_text()):
        files.append(File.generated(config, f"reference/{name}.md", content=program_page(name, summary)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links that lead to files of the repository lead to their pages, or, if they have none, to copies of them."""
    source = ELSEWHERE.get(page.file.src_uri.removesuffix(".md"), f"docs/{page.file.src_uri}")

    def moved(match):
        text, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or ":" in path:
            return match.group()
        path = normpath(f"{dirname(source)}/{path}" if dirname(source) else path)
        if (ROOT / path).is_dir():
            return text
        uri = PAGE_OF.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else f"files/{path}")
        if uri.startswith("files/") and uri not in files.src_uris and (ROOT / path).is_file():
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
        return f"[{text}]({relpath(uri, dirname(page.file.src_uri) or '.')}{'#' if anchor else ''}{anchor})"

    return LINK.sub(moved, markdown)
