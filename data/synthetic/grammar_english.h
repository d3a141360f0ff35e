// English for the generator: an abstract sentence to its constituency tree.
#pragma once

#include "data/parsing/tree.h"
#include "data/synthetic/grammar_syntax.h"

namespace attn::grammar {

/// The tree with labels and attachment as in the Penn treebank, without traces and function tags,
/// under a TOP bracket: (TOP (S (NP (PRP I)) (VP (VBP sleep)) (. .))). Its first word is
/// capitalized.
Tree english_tree(const Sentence& sentence);

}  // namespace attn::grammar
