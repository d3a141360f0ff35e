// ConvS2S and ByteNet. Golden values are from tools/goldens/convolutional.py.
#include "model/convolutional/convolutional.h"
#include "model/attention_heads.h"
#include "model/bytenet/bytenet.h"
#include "tests/model/seq2seq_properties.h"
#include "tests/support/golden.h"

using namespace attn;
using testing::check_gradients;
using testing::fill;
using testing::Golden;
using testing::max_difference;
using testing::sequences;

namespace {

const char* const kFile = "model/data/convolutional.safetensors";

ConvolutionalConfig golden_config() {
  return {.d_model = 6,
          .encoder = {{1, 5, 3}, {1, 7, 1}},
          .decoder = {{1, 4, 3}, {1, 4, 2}, {1, 8, 3}},
          .max_positions = 8,
          .dropout = 0.0};
}

}  // namespace

TEST_CASE("a gated convolution with weight norm computes what PyTorch's computes") {
  const bool causal = GENERATE(false, true);
  CAPTURE(causal);
  const Golden golden(kFile, causal ? "block.causal." : "block.centred.");
  const ConvolutionLayerShape shape =
      causal ? ConvolutionLayerShape{5, 5, 4} : ConvolutionLayerShape{4, 5, 3};
  GatedConvolution layer(shape, causal, 0.0);
  fill(*layer, golden);
  const std::vector<int64_t> lengths = {5, 1, 4};
  const torch::Tensor x = golden("x").requires_grad_();
  const torch::Tensor out = scaled_sum(layer(x, Segments(lengths)), layer->residual(x));
  CHECK(max_difference(out, golden("output")) < 1e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(x.grad(), golden("x_gradient")) < 1e-5);
  check_gradients(*layer, golden);
}

TEST_CASE("ConvS2S computes what it computes in plain PyTorch, with all gradients") {
  const Golden golden(kFile, "model.");
  Convolutional model(golden_config(), VocabularySizes{11, 11});
  fill(*model, golden);
  const torch::Tensor out = model->Seq2SeqModel::forward(
      sequences({{4, 5, 6, 7, 8}, {9, 3}, {10, 4, 4}}), sequences({{1, 5, 6}, {1, 9, 10, 3}, {1}}));
  CHECK(max_difference(out, golden("output")) < 2e-5);
  out.backward(golden("upstream"));
  check_gradients(*model, golden);
}

TEST_CASE("attention of ConvS2S is recorded in every decoder layer, with the same output") {
  const ModelConfig config{golden_config()};
  const auto model = testing::seeded_model(config);
  const TokenSequences source = sequences({{4, 5, 6, 7, 8}, {9, 3}, {}}),
                       target = sequences({{1, 5, 6}, {1, 9, 10, 3}, {1, 2}});
  const torch::Tensor expected = model->forward(source, target);
  AttentionRecorder recorder(*model);
  CHECK(max_difference(model->forward(source, target), expected) < 1e-5);
  const std::vector<AttentionRecord> records = recorder.take();
  REQUIRE(records.size() == 3);
  for (size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i].kind == AttentionKind::cross);
    CHECK(records[i].layer == static_cast<int64_t>(i));
    const torch::Tensor& weights_B1LM = records[i].observed.weights_BHLM;
    REQUIRE(weights_B1LM.sizes() == at::IntArrayRef{3, 1, 4, 5});
    const torch::Tensor sums_BL = weights_B1LM.sum(-1).squeeze(1);
    CHECK(max_difference(sums_BL[0].narrow(0, 0, 3), torch::ones({3})) < 1e-5);
    CHECK(max_difference(sums_BL[1], torch::ones({4})) < 1e-5);
    CHECK(sums_BL[2].abs().max().item<double>() == 0.0);                        // no keys
    CHECK(weights_B1LM[1].narrow(-1, 2, 3).abs().max().item<double>() == 0.0);  // padding
    CHECK(records[i].observed.contexts_BHLK.sizes() == at::IntArrayRef{3, 1, 4, 6});
  }
}

TEST_CASE("ConvS2S keeps the scale of its inputs through its layers at first") {
  torch::manual_seed(3);
  ConvolutionalConfig config;
  config.dropout = 0.0;
  Convolutional model(config, VocabularySizes{500, 500});
  model->eval();
  const torch::NoGradGuard no_grad;
  std::vector<int64_t> sentence;
  for (int64_t i = 0; i < 200; ++i) sentence.push_back(4 + i * 37 % 490);
  const torch::Tensor keys =
      model->encode(sequences({sentence})).rows_MD.narrow(1, 0, config.d_model);
  // Token and position, 0.1 each: 0.14; four halved sums of a like pair leave it of that order.
  CHECK(keys.std().item<double>() > 0.03);
  CHECK(keys.std().item<double>() < 0.3);
}

TEST_CASE("ByteNet's decoder reads the encoder position by position, as far as it is unfolded") {
  torch::manual_seed(4);
  const ByteNetConfig config{
      .d_model = 8, .hidden = 4, .repeats = 1, .dilations = {1}, .length_factor = 1.5};
  ByteNet model(config, VocabularySizes{23, 23});
  model->eval();
  const torch::NoGradGuard no_grad;
  const Memory memory = model->encode(sequences({{4, 5, 6, 7}, {8, 9, 10}}));
  CHECK(memory.segments.length(0) == 6);
  CHECK(memory.segments.length(1) == 5);
  const TokenSequences target = sequences({{1, 5, 6, 7, 8, 9, 10, 11}, {1, 5}});
  const torch::Tensor before = model->decode(target, memory);
  Memory changed{memory.rows_MD.clone(), memory.segments};
  changed.rows_MD[3].add_(1.0);
  const torch::Tensor moved = (model->decode(target, changed) - before).abs().amax(1);
  // The join and one block read two positions back each.
  for (int64_t t = 0; t < moved.size(0); ++t) {
    CAPTURE(t);
    CHECK((moved[t].item<double>() > 0.0) == (t >= 3 && t <= 7));
  }
}
