// Trees for the terminal.
#pragma once

#include <string>

#include "data/parsing/tree.h"

namespace attn {

/// The tree over several lines with box-drawing characters, each ended by a line end: a constituent
/// a line, its parts below it; one of words alone is written with them.
///
///   S
///   ├─ NP  the old dog
///   └─ VP
///      ├─ VBZ  sees
///      └─ NP  it
std::string draw_tree(const Tree& tree);

}  // namespace attn
