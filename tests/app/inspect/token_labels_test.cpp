#include "app/inspect/token_labels.h"

#include "data/tokenizer.h"
#include "tests/support/catch.h"

using namespace attn;

namespace {

std::string shown(const Tokenizer& tokenizer, const std::string& text, const std::string& given) {
  std::string line;
  for (const AttentionToken& token : token_labels(tokenizer, tokenizer.encode(text), given)) {
    line += token.label + (token.piece.empty() ? "" : "=" + token.piece) + " ";
  }
  return line;
}

}  // namespace

TEST_CASE("unknown words are labelled with themselves") {
  const auto words = parse_tokenizer("the\ntime\n<unk:lower>\n", "list");
  CHECK(shown(*words, "the odd  time", "the odd  time") == "the odd=<unk:lower> time ");
  const auto plain = parse_tokenizer("the\ntime\n", "list");
  CHECK(shown(*plain, "Odd time", "Odd time") == "Odd=<unk> time ");
}

TEST_CASE("without the words of the tokens, unknown ones are labelled with their piece") {
  const auto words = parse_tokenizer("the\ntime\n", "list");
  CHECK(shown(*words, "odd time", "") == "<unk> time ");
  CHECK(shown(*words, "odd time", "odd time machine") == "<unk> time ");
}
