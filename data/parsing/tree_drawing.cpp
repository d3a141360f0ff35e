#include "data/parsing/tree_drawing.h"

#include <algorithm>

namespace attn {
namespace {

std::string caption(const Tree& tree) {
  std::string text = tree.label.empty() ? "·" : tree.label;
  if (tree.is_leaf()) return text + "  " + tree.word;
  const bool flat = !tree.children.empty() &&
                    std::ranges::all_of(tree.children, [](auto& t) { return t.is_leaf(); });
  if (!flat) return text;
  text += " ";
  for (const Tree& leaf : tree.children) text += " " + leaf.word;
  return text;
}

void draw_below(const Tree& tree, const std::string& margin, std::string& out) {
  const bool flat = std::ranges::all_of(tree.children, [](auto& t) { return t.is_leaf(); });
  if (flat) return;
  for (size_t i = 0; i < tree.children.size(); ++i) {
    const bool last = i + 1 == tree.children.size();
    out += margin;
    out += last ? "└─ " : "├─ ";
    out += caption(tree.children[i]);
    out += '\n';
    draw_below(tree.children[i], margin + (last ? "   " : "│  "), out);
  }
}

}  // namespace

std::string draw_tree(const Tree& tree) {
  std::string out = caption(tree) + "\n";
  draw_below(tree, "", out);
  return out;
}

}  // namespace attn
