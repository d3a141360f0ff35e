#include "model/transformer/word_index.h"

#include "model/transformer/transformer.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

TEST_CASE("words are counted from the first row of each sentence up to each row, and in steps") {
  torch::nn::Module owner;
  const WordIndex index(owner, {23, 23, 0, {5, 9}});
  const std::vector<int64_t> tokens = {1, 5, 6, 9, 9, 1}, lengths = {4, 0, 2};
  CHECK(torch::equal(index.of_rows(token_sequences(tokens, lengths)),
                     torch::tensor({0, 1, 1, 2, 1, 1}, torch::kInt64)));
  const std::vector<int64_t> parents = {1, 1, 0}, sentences = {0, 0, 0};
  const std::vector<int32_t> step = {9, 8, 5};
  const torch::Tensor first = index.of_step({parents, step, sentences}, {});
  CHECK(torch::equal(first, torch::tensor({1, 0, 1}, torch::kInt64)));
  CHECK(torch::equal(index.of_step({parents, step, sentences}, first + 3),
                     torch::tensor({4, 3, 5}, torch::kInt64)));
}

TEST_CASE("the selected row is that of the next word, at the end that of EOS") {
  const Segments memory(std::vector<int64_t>{3, 1, 4});
  const torch::Tensor rows_MD = torch::arange(8, torch::kFloat32).unsqueeze(1);
  const std::vector<int64_t> sentences = {0, 0, 0, 0, 1, 1, 2, 2};
  const torch::Tensor words_R = torch::tensor({0, 1, 2, 3, 0, 7, 0, 3}, torch::kInt64);
  const torch::Tensor selected = select_next_words(rows_MD, memory, sentences, words_R);
  CHECK(torch::equal(selected.flatten(), torch::tensor({0, 1, 2, 2, 3, 3, 4, 7}, torch::kFloat32)));
  const std::vector<int64_t> beyond = {3};
  CHECK_THROWS_WITH(select_next_words(rows_MD, memory, beyond, words_R.narrow(0, 0, 1)),
                    testing::contains("no memory of sentence 3"));
}

TEST_CASE("the next word reaches the decoder without cross-attention") {
  torch::manual_seed(2);
  TransformerConfig config = testing::small_model();
  config.deterministic_attention = true;
  Transformer model(config, VocabularySizes{23, 23, 0, {8, 9}});
  model->eval();
  const torch::NoGradGuard no_grad;
  for (const auto& layer : *model->decoder->layers) {
    for (auto& parameter : layer->as<DecoderLayer>()->cross_attention->output->parameters()) {
      parameter.zero_();
    }
  }
  Memory memory{torch::randn({5, config.d_model}), Segments(std::vector<int64_t>{2, 3})};
  const std::vector<int64_t> tokens = {1, 7, 8, 1, 9}, lengths = {3, 2};
  const auto decode = [&] {
    return model->decode(token_sequences(tokens, lengths), memory).clone();
  };
  const torch::Tensor before = decode();
  memory.rows_MD[1] += 1.0;  // the second word of the first sentence
  const torch::Tensor after = decode();
  CHECK(max_difference(before.narrow(0, 0, 2), after.narrow(0, 0, 2)) == 0.0);
  CHECK(max_difference(before[2], after[2]) > 1e-3);
  CHECK(max_difference(before.narrow(0, 3, 2), after.narrow(0, 3, 2)) == 0.0);
}
