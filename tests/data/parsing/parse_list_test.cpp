#include "data/parsing/parse_list.h"

#include "data/nbest_list.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;

TEST_CASE("a written line of an n-best list is read back") {
  for (const char* text : {"(S (A a))", "(S (A |||) (B b))", "one ||| two", ""}) {
    const std::string line = nbest_list_line(7, text, -1.25, -0.5);
    const auto entry = read_nbest_line(line);
    REQUIRE(entry);
    CHECK(entry->sentence == 7);
    CHECK(entry->text == text);
    CHECK(entry->log_prob == -1.25);
  }
  for (const char* line :
       {"", "7", "7 ||| a", "7 ||| a ||| logp= -1", "-1 ||| a ||| logp= -1 ||| -1",
        "x ||| a ||| logp= -1 ||| -1", "7 ||| a ||| -1 ||| -1", "7 ||| a ||| logp= nan ||| -1",
        "7 ||| a ||| logp= -inf ||| -1", "99999999999999999999 ||| a ||| logp= -1 ||| -1"}) {
    CAPTURE(line);
    CHECK(!read_nbest_line(line));
  }
}

TEST_CASE("an empty text in an n-best list may have lost one of its two spaces") {
  const auto entry = read_nbest_line("0 ||| ||| logp= -1.0 ||| -1.0");
  REQUIRE(entry);
  CHECK(entry->text.empty());
  CHECK(entry->log_prob == -1.0);
}

TEST_CASE("parses are read by sentence, from trees and from n-best lists") {
  const testing::TemporaryDirectory directory;
  ParseListReader trees(directory.write("trees", "(S (A a))\r\n()\n(S (B b))\n"));
  CHECK(trees.parses_of(0).trees.size() == 1);
  CHECK(trees.parses_of(1).trees.empty());
  CHECK(!trees.at_end());
  CHECK(write_tree(trees.parses_of(2).trees.at(0)) == "(S (B b))");
  CHECK(trees.at_end());
  CHECK(trees.lines() == 3);

  const std::string first = nbest_list_line(0, "(S (A a))", -1, -1) + "\n",
                    second = nbest_list_line(0, "(T (A a))", -2, -1) + "\n",
                    later = nbest_list_line(4, "(S (B b))", -3, -1) + "\n";
  ParseListReader list(directory.write("list", first + second + later));
  const ParseList both = list.parses_of(0);
  CHECK(both.log_probs == std::vector<double>{-1, -2});
  CHECK(both.places.at(1) == (directory / "list:2").string());
  CHECK(list.parses_of(1).trees.empty());
  CHECK(list.parses_of(4).log_probs == std::vector<double>{-3});
  CHECK(list.at_end());
  CHECK(!list.lines());

  CHECK(ParseListReader(directory.write("empty", "")).at_end());
  const auto fails = [&](const std::string& text, const char* message) {
    CHECK_THROWS_WITH(ParseListReader(directory.write("bad", text)).parses_of(10),
                      testing::contains(message));
  };
  fails(later + first, "bad:2: sentence 0 after sentence 4");
  fails(nbest_list_line(9223372036854775807, "(S (A a))", -1, -1), "bad:1: sentence 9223372036854");
  fails(first + "(S (A a))\n", "bad:2: expected");
  fails("(S (A a)) (S (A a))\n", "bad:1: several trees");
  fails("(S\n  (A a))\n", "bad:1: the tree does not end on this line; expected one tree per line");
  fails("(S (A a)))\n", "bad:1");
}

TEST_CASE("files that are not aligned or empty are reported") {
  const testing::TemporaryDirectory folder;
  const std::string tree = "(S (A a))\n", one = folder.write("one", tree),
                    two = folder.write("two", tree + tree), empty = folder.write("empty", ""),
                    indented = folder.write("indented", "(S\n(A a))\n"),
                    list = folder.write("list", nbest_list_line(0, "(S (A a))", -1, -1) + "\n");
  int64_t calls = 0;
  const auto read = [&](const std::vector<std::string>& files) {
    return for_each_sentence(files, [&](int64_t, const std::vector<ParseList>&) { ++calls; });
  };
  CHECK_THROWS_WITH(read({one, two}), testing::contains("one 1") && testing::contains("two 2"));
  CHECK_THROWS_WITH(read({one, empty}), testing::contains("empty 0"));
  CHECK_THROWS_WITH(read({indented, one}), testing::contains("indented:1: the tree does not end"));
  CHECK_THROWS_WITH(read({"/dev/null"}), testing::contains("/dev/null: empty file"));
  calls = 0;
  CHECK(read({list, two, two}) == 2);
  CHECK(calls == 2);
}

TEST_CASE("parses of a sentence have the same words") {
  const auto list = [](const char* file, const char* tree) {
    return ParseList{parse_trees(tree, file), {0.0}, {std::string(file) + ":1"}};
  };
  const std::vector<ParseList> same = {list("one", "(TOP (S (A a) (B b)))"),
                                       list("two", "(X (C a) (D b))")};
  CHECK_NOTHROW(require_same_words(same));
  const std::vector<ParseList> other = {same[0], same[1], list("three", "(S (A a) (B c))")};
  CHECK_THROWS_WITH(require_same_words(other),
                    testing::contains("three:1: different words than one:1"));
}
