// Treebank tokens of plain text.
#include "data/parsing/penn_tokenize.h"

#include <algorithm>

#include "data/parsing/tree.h"
#include "tests/support/catch.h"
#include "tests/support/shared_data.h"

using namespace attn;
using namespace attn::testing;

namespace {

std::string tokens(std::string_view sentence) {
  std::string text;
  for (const auto& token : penn_tokenize(sentence)) text += (text.empty() ? "" : " ") + token;
  return text;
}

}  // namespace

TEST_CASE("plain text is cut as the treebank cuts it") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"The dog barks.", "The dog barks ."},
      {"I don't think it's Kim's.", "I do n't think it 's Kim 's ."},
      {"They cannot go, can they?", "They can not go , can they ?"},
      {"Mr. Smith (aged 40) left.", "Mr. Smith -LRB- aged 40 -RRB- left ."},
      {"\"We won,\" she said.", "`` We won , '' she said ."},
      {"\u201CWe won,\u201D she said\u2026", "`` We won , '' she said ..."},
      {"It cost $1,000.50 at 12:30; fine!", "It cost $ 1,000.50 at 12:30 ; fine !"},
      {"the dogs' food", "the dogs ' food"},
      {"See http://example.org/a or a@b.org.", "See http://example.org/a or a@b.org ."},
      {"See http://x.org/a?b=c&d=1,2!", "See http://x.org/a?b=c&d=1,2 !"},
      {"(www.x.org/a;b=1, http://y.org)", "-LRB- www.x.org/a;b=1 , http://y.org -RRB-"},
      {"www...", "www ..."},
      {"a --- b ----- c--d", "a --- b ----- c -- d"},
      {"A 5% rise--or [maybe] more", "A 5 % rise -- or -LSB- maybe -RSB- more"},
      {"well-known AT&T and R & D", "well-known AT&T and R & D"},
      {"He works for the U.S.", "He works for the U.S ."},
      {"She said \"no.\"", "She said `` no . ''"},
      {"10\u00A0km\u3000away\u2028now", "10 km away now"},
      {"", ""},
      {" \t ", ""},
      {"...", "..."},
      {".", "."},
      {"'", "'"}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(tokens(text) == expected);
  }
}

TEST_CASE("brackets are escaped wherever they stand") {
  CHECK(escape_brackets("(") == "-LRB-");
  CHECK(escape_brackets("f(x)") == "f-LRB-x-RRB-");
  CHECK(escape_brackets("-RRB-") == "-RRB-");
}

TEST_CASE("tokenized text is mostly unchanged") {
  const auto folder = shared_data("wsj-sample");
  if (!folder) return;
  int64_t same = 0, all = 0;
  for (const Tree& tree : read_trees(*folder / "dev.ptb")) {
    std::string line;
    for (const auto& word : tree_words(tree)) line += (line.empty() ? "" : " ") + word;
    same += tokens(line) == line;
    ++all;
  }
  CHECK(same >= 95 * all / 100);
}
