#include "eval/metrics/tree_agreement.h"

#include "base/error.h"
#include "tests/support/catch.h"

using namespace attn;

namespace {

std::vector<Tree> trees(std::initializer_list<const char*> texts) {
  std::vector<Tree> all;
  for (const char* text : texts) all.push_back(parse_trees(text, "text").at(0));
  return all;
}

const char* const kRight = "(TOP (S (NP (NN a)) (VP (VB b) (NP (NN c)))))";
const char* const kOtherTag = "(TOP (S (NP (NN a)) (VP (VBP b) (NP (NN c)))))";
const char* const kFlat = "(TOP (S (NP (NN a)) (VP (VB b)) (NP (NN c))))";

}  // namespace

TEST_CASE("the F1 of two trees counts labelled brackets, whatever the tags") {
  const auto all = trees({kRight, kOtherTag, kFlat, "(TOP (NN a))"});
  CHECK(*bracket_f1(all[0], all[1]) == 100.0);
  CHECK(*bracket_f1(all[0], all[2]) == Approx(80.0));  // 4 of 5 on both sides
  CHECK(bracket_f1(all[0], all[2]) == bracket_f1(all[2], all[0]));
  CHECK_FALSE(bracket_f1(all[0], all[3]));
}

TEST_CASE("parses agree if they are equal, or close enough to the first one") {
  CHECK(parses_agree(trees({kRight, kRight, kRight}), {}));
  CHECK_FALSE(parses_agree(trees({kRight, kRight, kOtherTag}), {}));
  CHECK(parses_agree(trees({kRight, kOtherTag}), {.min_f1 = 100.0}));
  CHECK_FALSE(parses_agree(trees({kRight, kFlat}), {.min_f1 = 80.1}));
  CHECK(parses_agree(trees({kRight, kFlat}), {.min_f1 = 79.9}));
  CHECK_FALSE(parses_agree(trees({kRight, kRight}), {.min_words = 4}));
  CHECK_FALSE(parses_agree(trees({kRight, kRight}), {.max_words = 2}));
  CHECK_THROWS_AS(parses_agree(trees({kRight, "(TOP (NN a))"}), {}), DataError);
}
