#!/usr/bin/env python3
"""Checks includes against the layer tables of docs/explanation/architecture.md, for include cycles, and the lines of each
folder against its budget. Run by the test tools/check_layers.

    tools/check_layers.py [ROOT]                   prints each violation as file:line; exits 1 if there is one
    tools/check_layers.py --dot | dot -Tsvg        the folders' include graph, for Graphviz
"""

import graphlib
import re
import sys
from pathlib import Path

# A folder may include itself and these. train and eval are siblings, and so are data and model.
LAYERS = {
    "base": [],
    "kernels": ["base"],
    "model": ["base", "kernels"],
    "data": ["base"],
    "train": ["base", "kernels", "data", "model"],
    "eval": ["base", "kernels", "data", "model"],
    "report": ["base", "eval"],
    "app": ["base", "kernels", "data", "model", "train", "eval", "report"],
}

# The subfolders of a folder. A file in a subfolder may include that one, the listed ones of the same folder, and the
# folders that its folder may include. The folder's own name stands for the files directly in it.
SUBFOLDERS = {
    "kernels": ["kernels/cpu"],
    "kernels/cpu": [],
    "kernels/cuda": ["kernels"],
    "kernels/ops": ["kernels", "kernels/cpu", "kernels/cuda"],
    "model": ["model/bytenet", "model/convolutional", "model/recurrent", "model/transformer"],
    "model/bytenet": ["model", "model/layers"],
    "model/convolutional": ["model", "model/layers"],
    "model/layers": ["model"],
    "model/recurrent": ["model", "model/layers"],
    "model/transformer": ["model", "model/layers"],
    "data": [],
    "data/parsing": ["data"],
    "data/synthetic": ["data", "data/parsing"],
    "eval/heads": ["eval/metrics", "eval/search", "eval/tasks"],
    "train": ["train/parallel"],
    "train/parallel": [],
    "eval/metrics": [],
    "eval/search": [],
    "eval/tasks": ["eval/metrics", "eval/search"],
    "app/machine": [],
    "app/experiment": ["app/machine"],
    "app/inspect": ["app/experiment", "app/machine"],
    "app/sweep": ["app/experiment", "app/machine"],
    "app/commands": ["app/experiment", "app/inspect", "app/machine", "app/sweep"],
    "app": ["app/commands", "app/machine"],
}

# The most lines of C++ in a folder, and of the shell script. Files that a script writes do not count, nor do subfolders
# with a budget of their own. A commit that removes lines lowers a budget; one that raises it says why.
BUDGETS = {
    "base": 2450,
    "kernels": 7022,
    "kernels/cuda": 1726,
    "model": 6348,
    "data": 6028,
    "train": 4283,
    "eval": 6891,
    "report": 1846,
    "app": 10300,
    "tests": 18000,
    "run": 200,
}
PYTHON_BUDGET = 11500  # tools and tests; pages of reports, exports, the models in PyTorch (700) and treebanks
GENERATED = "Written by tools/"  # at the head of files that a script writes

# Libraries that only some files may include, since everything else should compile and be read without them.
# {include: files, as patterns on the path from the root}
LIBRARIES = {
    r"nlohmann/.*": ["base/[^/]*\\.cpp", "base/json[^/]*\\.h", "app/.*", "tests/.*"],
    r"CLI/.*": ["app/.*", "tests/app/.*"],
    r"sentencepiece.*": ["data/sentencepiece[^/]*\\.cpp"],
    r"catch2/.*": ["tests/support/.*"],
    r"mpi\.h": ["train/parallel/mpi_communicator\\.cpp"],
    r"(ATen/cuda|c10/cuda|cuda.*)/?.*": ["kernels/cuda/graph\\.cpp"],
}

TORCH = re.compile(r"(torch|ATen|c10)/.*")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCES = (".h", ".cpp", ".cu")


def includes_of(path):
    """[(line number, name, quoted)] of the file's includes."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if match := INCLUDE.match(line):
            found.append((number, match.group(1) or match.group(2), match.group(1) is not None))
    return found


def source_files(root):
    """The project's files by path from the root, with their includes."""
    files = {}
    for folder in (*LAYERS, "tests"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES:
                files[path.relative_to(root).as_posix()] = includes_of(path)
    return files


def allowed_folders(name):
    """The folders that this file may include."""
    folder = name.split("/")[0]
    if folder != "tests":
        return [folder, *LAYERS[folder]]
    layer = name.split("/")[1]
    below = [layer, *LAYERS[layer]] if layer in LAYERS else list(LAYERS)
    return [*below, "tests/support", f"tests/{layer}"]


def subfolder_of(name):
    return name.rpartition("/")[0]


def check_subfolders(name, includes, root):
    """A file's includes within its folder. Tests are not checked."""
    subfolder, folder = subfolder_of(name), name.split("/")[0]
    if folder == "tests":
        return
    if subfolder != folder and subfolder not in SUBFOLDERS:
        yield f"{name}: {subfolder} is not in SUBFOLDERS; say in tools/check_layers.py what it may include"
        return
    allowed = [subfolder, *SUBFOLDERS.get(subfolder, [])]
    for number, include, quoted in includes:
        inside = quoted and include.split("/")[0] == folder and (root / include).exists()
        if inside and subfolder_of(include) not in allowed:
            yield f"{name}:{number}: includes \"{include}\"; of {folder} it may include {', '.join(allowed)}"


def unit_of(name):
    """A header and the source file of the same name are one unit."""
    return name.rpartition(".")[0]


def units_of(files):
    """{unit: {unit that it includes: an include as file:line}}, tests left out."""
    units = {}
    for name, includes in files.items():
        if name.startswith("tests/"):
            continue
        for number, include, quoted in includes:
            if quoted and include in files and unit_of(include) != unit_of(name):
                units.setdefault(unit_of(name), {}).setdefault(unit_of(include), f"{name}:{number}")
    return units


def cycle_of(graph):
    """A cycle of {node: those that it includes}, from its first node back to it; empty without one."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        nodes = error.args[1][:0:-1]
        first = nodes.index(min(nodes))
        return [*nodes[first:], *nodes[:first + 1]]
    return []


def check_cycles(files):
    units = units_of(files)
    if cycle := cycle_of(units):
        yield f"{units[cycle[0]][cycle[1]]}: an include cycle: {' > '.join(cycle)}"


def folder_graph(files):
    """{folder: folders that its units include}, tests left out."""
    graph = {subfolder_of(name): set() for name in files if not name.startswith("tests/")}
    for unit, others in units_of(files).items():
        graph[subfolder_of(unit)] |= {subfolder_of(other) for other in others} - {subfolder_of(unit)}
    return graph


def print_dot(graph):
    print('digraph structure {\n  rankdir=TB; node [shape=box, fontname="sans-serif"];')
    for folder, others in sorted(graph.items()):
        print("\n".join([f'  "{folder}";', *(f'  "{folder}" -> "{other}";' for other in sorted(others))]))
    print("}")


def is_generated(include, root):
    """Whether the build writes this header: then the folder's CMakeLists.txt names it under generated/."""
    lists = root / include.split("/")[0] / "CMakeLists.txt"
    return lists.exists() and f"generated/{include}" in lists.read_text()


def check_project_includes(name, includes, root):
    for number, include, quoted in includes:
        if not quoted:
            continue
        if not (root / include).exists() and not is_generated(include, root):
            yield f"{name}:{number}: \"{include}\" is not a file of the project: write it from the repository's root"
        elif not any(include.startswith(folder + "/") for folder in allowed_folders(name)):
            yield f"{name}:{number}: includes \"{include}\"; it may include {', '.join(allowed_folders(name))}"


def check_libraries(name, includes):
    for number, include, quoted in includes:
        for library, files in LIBRARIES.items():
            if not quoted and re.fullmatch(library, include) and not any(re.fullmatch(file, name) for file in files):
                yield f"{name}:{number}: includes <{include}>, which only {', '.join(files)} may"


def torch_free_sources(root):
    """The files that some CMakeLists.txt lists under TEXT, by path from the root; and all of base."""
    found = []
    for lists in (root / folder / "CMakeLists.txt" for folder in (*LAYERS, "tests")):
        if not lists.exists():
            continue
        text = re.sub(r"#[^\n]*", "", lists.read_text())
        for body in re.findall(r"attn_folder(?:_tests)?\(([^)]*)\)", text):
            sections = re.split(r"\b(TEXT|TORCH|USES)\b", body)[1:]
            for name in dict(zip(sections[::2], sections[1::2])).get("TEXT", "").split():
                found.append((lists.parent / name).relative_to(root).as_posix())
    return found


def check_torch_free(files, root):
    """Follows the includes of each torch-free source file: none may lead to LibTorch."""
    starts = torch_free_sources(root) + [name for name in files if name.startswith("base/")]
    for start in dict.fromkeys(starts):
        seen, waiting = {start}, [(start, start)]
        while waiting:
            name, trail = waiting.pop()
            for number, include, quoted in files.get(name, []):
                if not quoted and TORCH.fullmatch(include):
                    yield f"{name}:{number}: includes <{include}>, but {trail} is torch-free"
                elif quoted and include not in seen:
                    seen.add(include)
                    waiting.append((include, f"{trail} > {include}"))


def lines_of(root, folder, endings):
    """Lines of the files in the folder, or of the file of this name, with one of these endings."""
    apart = [root / other for other in BUDGETS if other.startswith(folder + "/")]
    lines = 0
    for path in (root / folder, *(root / folder).rglob("*")):
        if path.is_file() and path.suffix in endings and not any(other in path.parents for other in apart):
            text = path.read_text(encoding="utf-8")
            lines += 0 if GENERATED in text[:500] else text.count("\n")
    return lines


def check_budgets(root):
    counts = {folder: (lines_of(root, folder, SOURCES if folder != "run" else ("",)), budget) for folder, budget in BUDGETS.items()}
    counts["Python"] = (sum(lines_of(root, folder, (".py",)) for folder in ("tools", "tests")), PYTHON_BUDGET)
    for name, (lines, budget) in counts.items():
        if lines > budget:
            yield f"{name}: {lines} lines; the budget in tools/check_layers.py is {budget}"


def problems(root):
    """Every broken rule, one line each."""
    files = source_files(root)
    found = []
    for name, includes in files.items():
        found += check_project_includes(name, includes, root)
        found += check_subfolders(name, includes, root)
        found += check_libraries(name, includes)
    return list(dict.fromkeys([*found, *check_cycles(files), *check_torch_free(files, root), *check_budgets(root)]))


def main(arguments):
    if arguments == ["--dot"]:
        print_dot(folder_graph(source_files(Path(__file__).resolve().parent.parent)))
        return 0
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = problems(root)
    for line in found:
        print(line)
    print(f"check_layers: {len(source_files(root))} files, {len(found)} broken rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
