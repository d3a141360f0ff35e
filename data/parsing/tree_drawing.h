// Draws trees for the terminal.
#pragma once

#include <string>

#include "data/parsing/tree.h"

namespace attn {

/// Draws the tree with box-drawing characters, one constituent per line, followed by its children.
/// A constituent that only has words is on one line with them. Every line ends in "\n".
///
///   S
///   ├─ NP  the old dog
///   └─ VP
///      ├─ VBZ  sees
///      └─ NP  it
std::string draw_tree(const Tree& tree);

}  // namespace attn
