// Penn Treebank tokenization of raw English text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The treebank's tokens of one sentence, after its conventions: punctuation stands alone, "don't"
/// is "do n't", "dog's" is "dog 's", quotation marks become `` and '', brackets -LRB-, -RRB-,
/// -LSB-, -RSB-, -LCB- and -RCB-, the last full stop is a token, that of an abbreviation within the
/// sentence is not. Numbers (1,000.5), times (12:30), hyphenated words, e-mail and web addresses
/// stay whole. Tokenized text is unchanged, except for brackets.
std::vector<std::string> penn_tokenize(std::string_view sentence);

/// A token as trees hold it: "(" is "-LRB-" and ")" is "-RRB-", also within a word.
std::string escape_brackets(std::string_view word);

}  // namespace attn
