// Lists of parses, tags of words, and treebank tokens of plain text.
#include "data/parsing/parse_list.h"

#include "base/format.h"
#include "data/lines.h"
#include "data/nbest_list.h"
#include "data/parsing/penn_tokenize.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/tree.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace attn;
using namespace attn::testing;
using Words = std::vector<std::string>;

TEST_CASE("a written line of an n-best list is read back") {
  for (const char* text : {"(S (A a))", "(S (A |||) (B b))", "one ||| two", ""}) {
    const std::string line = nbest_list_line(7, text, -1.25, -0.5);
    const auto entry = read_nbest_line(line);
    REQUIRE(entry);
    CHECK(entry->sentence == 7);
    CHECK(entry->text == text);
    CHECK(entry->log_prob == -1.25);
  }
  const auto entry = read_nbest_line("0 ||| ||| logp= -1.0 ||| -1.0");  // has lost a space
  REQUIRE(entry);
  CHECK(entry->text.empty());
  CHECK(entry->log_prob == -1.0);
  for (const char* line :
       {"", "7", "7 ||| a", "7 ||| a ||| logp= -1", "-1 ||| a ||| logp= -1 ||| -1",
        "x ||| a ||| logp= -1 ||| -1", "7 ||| a ||| -1 ||| -1", "7 ||| a ||| logp= nan ||| -1",
        "7 ||| a ||| logp= -inf ||| -1", "99999999999999999999 ||| a ||| logp= -1 ||| -1"}) {
    CAPTURE(line);
    CHECK(!read_nbest_line(line));
  }
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

TEST_CASE("a word has the tags that it was seen with, if often enough, also when read back") {
  TagDictionary dictionary;
  dictionary.add(Words{"the", "run", "run", ":"}, Words{"DT", "NN", "VB", ":"});
  dictionary.add(Words{"the", "run", "once"}, Words{"DT", "NN", "RB"});
  const std::string text = dictionary.serialized();
  CHECK(text == ":\t::1\nonce\tRB:1\nrun\tNN:2 VB:1\nthe\tDT:2\n");
  for (const TagDictionary& one : {dictionary, parse_tag_dictionary(text, "t")}) {
    CHECK(one.serialized() == text);
    CHECK(one.symbols("run", 3) == Words{"NN", "VB"});
    CHECK(one.symbols("run", 4).empty());
    CHECK(one.symbols("never", 1).empty());
  }
  // Tags may hold what separates them from their counts.
  CHECK(parse_tag_dictionary("--\t:::4\n", "t").symbols("--", 1) == Words{"::"});
}

TEST_CASE("rare tags of a word, which are annotation errors, are excluded") {
  TagDictionary dictionary;
  for (int i = 0; i < 100; ++i)
    dictionary.add(Words{",", "run"}, Words{i == 7 ? "NN" : ",", i % 25 == 7 ? "NN" : "VB"});
  CHECK(dictionary.symbols(",", 1) == Words{","});
  CHECK(dictionary.symbols("run", 1) == Words{"NN", "VB"});
}

TEST_CASE("a broken dictionary is rejected with its line") {
  for (const char* bad : {"run", "run\t", "run\tNN", "run\tNN:0", "run\tNN:x", "\tNN:1", "run\t:3",
                          "run\tNN:9223372036854775807"}) {
    INFO(bad);
    CHECK_THROWS_WITH(parse_tag_dictionary(std::string("the\tDT:2\n") + bad + "\n", "t"),
                      contains("t:2"));
  }
}

TEST_CASE("tags are learnt from words and symbols line by line") {
  const testing::TemporaryDirectory folder;
  folder.write("w", "a dog\na dog\n");
  folder.write("s", "NP DT NN /NP\nNP DT =NP /NP\n");
  const LabelSet labels = {"NP"};
  const TagDictionary learnt = learn_tags(folder / "w", folder / "s", TreeForm::tags, labels);
  CHECK(learnt.symbols("dog", 2) == Words{"=NP", "NN"});
  folder.write("s", "NP DT NN /NP\nNP DT /NP\n");
  CHECK_THROWS_WITH(learn_tags(folder / "w", folder / "s", TreeForm::tags, labels),
                    contains("1 leaves for 2 words"));
}

TEST_CASE("trees too long for a line teach no tags") {
  const testing::TemporaryDirectory folder;
  std::string words, symbols = "NP";
  for (int i = 0; i < 220'000; ++i) words += "word ", symbols += " NN";
  folder.write("w", words + "\na dog\n");
  folder.write("s", symbols + " /NP\nNP DT NN /NP\n");
  REQUIRE(symbols.size() < LineReader::max_bytes);
  const TagDictionary learnt = learn_tags(folder / "w", folder / "s", TreeForm::tags, {"NP"});
  CHECK(learnt.symbols("dog", 1) == Words{"NN"});
  CHECK(learnt.symbols("word", 1).empty());
}

TEST_CASE("plain text is cut as the treebank cuts it") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"The dog barks.", "The dog barks ."},
      {"I don't think it's Kim's.", "I do n't think it 's Kim 's ."},
      {"They cannot go, can they?", "They can not go , can they ?"},
      {"'Twas gonna be 'tis", "'T was gon na be 't is"},
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
    CHECK(joined(penn_tokenize(text)) == expected);
  }
}
