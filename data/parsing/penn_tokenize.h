// Penn Treebank tokenization of raw English text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Tokens of one sentence by the conventions of the treebank. Punctuation marks are separate
/// tokens, "don't" becomes "do n't" and "dog's" "dog 's", quotation marks become `` and '',
/// brackets -LRB-, -RRB-, -LSB-, -RSB-, -LCB- and -RCB-. The final full stop is a token, that of an
/// abbreviation within the sentence is not. Numbers (1,000.5), times (12:30), hyphenated words,
/// e-mail addresses, web addresses (http://…, www.…) and three dashes or more are not split.
/// Tokenized text changes rarely, except for brackets.
std::vector<std::string> penn_tokenize(std::string_view sentence);

/// The words of tokenized text, separated by ASCII white space and escaped: what attn parse reads.
std::vector<std::string> tokenized_words(std::string_view line);

/// Escapes a token for bracketed trees: "(" as "-LRB-" and ")" as "-RRB-", also within a word.
std::string escape_brackets(std::string_view word);

}  // namespace attn
