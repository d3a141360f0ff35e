#!/usr/bin/env python3
"""Include graph of the code: folders as boxes, arrows from the including to the included folder.

    tools/structure.py [ROOT]            counts: folders, arrows, cycles
    tools/structure.py [ROOT] --dot      the same as a Graphviz graph: pipe it through `dot -Tsvg`

A source and its header are one unit; tests are excluded. A cycle is a set of units, or of folders, that include each
other, directly or indirectly.
"""
import argparse
from pathlib import Path

from check_layers import source_files, unit_of, units_of


def folder_of(unit):
    return unit.rsplit("/", 1)[0]


def unit_graph(root):
    """{unit: units that it includes}."""
    files = source_files(root)
    including = units_of(files)
    return {unit: set(including.get(unit, ())) for unit in map(unit_of, files) if not unit.startswith("tests/")}


def folder_graph(units):
    graph = {folder_of(unit): set() for unit in units}
    for unit, others in units.items():
        graph[folder_of(unit)] |= {folder_of(other) for other in others} - {folder_of(unit)}
    return graph


def reachable(graph, start):
    seen, waiting = set(), [start]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def cycles(graph):
    """The sets of nodes that reach each other."""
    reach = {node: reachable(graph, node) for node in graph}
    return sorted({tuple(sorted(other for other in reach[node] if node in reach[other]))
                   for node in graph if node in reach[node]})


def describe(name, graph):
    found = cycles(graph)
    print(f"{name}: {len(graph)}, arrows: {sum(map(len, graph.values()))}, cycles: {len(found)}")
    for cycle in found:
        print(f"  cycle: {', '.join(cycle)}")


def print_dot(graph):
    print('digraph structure {\n  rankdir=TB; node [shape=box, fontname="sans-serif"];')
    for folder, others in sorted(graph.items()):
        print(f'  "{folder}";')
        for other in sorted(others):
            print(f'  "{folder}" -> "{other}";')
    print("}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--dot", action="store_true", help="print a Graphviz graph of the folders")
    options = parser.parse_args()
    units = unit_graph(options.root)
    folders = folder_graph(units)
    if options.dot:
        print_dot(folders)
        return
    describe("folders", folders)
    describe("units", units)


if __name__ == "__main__":
    main()
