#!/usr/bin/env python3
"""Include graph of the code: folders as boxes, arrows from the including to the included folder.

    tools/structure.py [ROOT]            counts: folders, arrows, cycles, the longest chains
    tools/structure.py [ROOT] --dot      the same as a Graphviz graph: pipe it through `dot -Tsvg`

A source and its header are one unit; tests are excluded. A cycle is a set of units, or of folders, that include each
other, directly or indirectly. A chain is a path of includes; a cycle counts as one link.
"""
import argparse
import collections
from pathlib import Path

from check_layers import LAYERS, source_files


def unit_of(name):
    return name.rsplit(".", 1)[0]


def folder_of(unit):
    return unit.rsplit("/", 1)[0]


def unit_graph(root):
    """{unit: units that it includes}."""
    graph = collections.defaultdict(set)
    for name, includes in source_files(root).items():
        if name.split("/")[0] not in LAYERS:
            continue
        unit = unit_of(name)
        graph[unit] |= {unit_of(include) for _, include, quoted in includes if quoted and (root / include).exists()}
        graph[unit].discard(unit)
    return {unit: {other for other in others if other in graph} for unit, others in graph.items()}


def folder_graph(units):
    graph = {folder_of(unit): set() for unit in units}
    for unit, others in units.items():
        graph[folder_of(unit)] |= {folder_of(other) for other in others} - {folder_of(unit)}
    return graph


def components(graph):
    """Strongly connected components, each before those that point to it (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def longest_chain(graph):
    best = {}
    for component in components(graph):
        below = [best[other] for node in component for other in sorted(graph[node]) if other not in component]
        chain = [component[0], *max(below, key=len, default=[])]
        best.update((node, chain) for node in component)
    return max(best.values(), key=len, default=[])


def describe(name, graph):
    cycles = [sorted(component) for component in components(graph) if len(component) > 1]
    chain = longest_chain(graph)
    print(f"{name}: {len(graph)}, arrows: {sum(map(len, graph.values()))}, cycles: {len(cycles)}, "
          f"longest chain: {len(chain)}")
    for cycle in cycles:
        print(f"  cycle: {', '.join(cycle)}")
    print(f"  chain: {' > '.join(chain)}")


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
