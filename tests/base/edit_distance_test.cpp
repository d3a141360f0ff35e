#include "base/edit_distance.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("an insertion, a deletion, a substitution and a swap of neighbours count one each") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("heads", "head") == 1);
  CHECK(edit_distance("heads", "hexds") == 1);
  CHECK(edit_distance("heads", "hedas") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the distance does not depend on the order of the two words") {
  const std::vector<std::string> words = {"", "a", "ab", "ba", "beam", "bema", "beams", "layers"};
  for (const auto& a : words) {
    for (const auto& b : words) CHECK(edit_distance(a, b) == edit_distance(b, a));
  }
}

TEST_CASE("a misspelt word gets the nearest choice, another word the list of all") {
  const std::vector<std::string> choices = {"heads", "layers", "d_model"};
  CHECK(nearest("hedas", choices) == "heads");
  CHECK(nearest("layer", choices) == "layers");
  CHECK(nearest("zzzzzz", choices).empty());
  // Neither its case nor its end matters; of a short word only one letter may differ.
  const std::vector<std::string> names = {"adam", "adamw", "none", "convolution", "gelu"};
  CHECK(nearest("adamW", names) == "adamw");
  CHECK(nearest("conv", names) == "convolution");
  CHECK(nearest("rope", names).empty());
  CHECK(suggestion_of_all("glu", std::vector<std::string>{"relu", "gelu"}) ==
        "; did you mean gelu? One of: relu, gelu");
  CHECK(suggestion_of_all("tanh", std::vector<std::string>{"relu", "gelu"}) ==
        "; one of: relu, gelu");
  CHECK(suggestion("d_modle", choices) == "; did you mean d_model?");
  CHECK(suggestion("zzzzzz", choices) == "; one of: heads, layers, d_model");
}
