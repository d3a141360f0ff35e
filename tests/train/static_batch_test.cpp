#include "train/static_batch.h"

#include <ATen/record_function.h>

#include <numeric>
#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/device_path.h"
#include "tests/support/kernels.h"
#include "tests/support/model_variants.h"
#include "tests/support/threads.h"

using namespace attn;

namespace {

constexpr int64_t kWords = testing::kCopyingClasses;

// Of six sentences each, of other lengths.
std::vector<Batch> two_of_a_class(const EncodedCorpus& pairs, const ClassRule& rule) {
  std::vector<Batch> batches;
  for (uint32_t first = 0; first + 6 <= pairs.size() && batches.size() < 2; ++first) {
    std::vector<uint32_t> ids(6);
    std::iota(ids.begin(), ids.end(), first);
    const Batch next = make_batch(pairs, ids);
    const bool fits = batches.empty() || class_of(next, rule) == class_of(batches[0], rule);
    if (fits && (batches.empty() || next.source_tokens != batches[0].source_tokens)) {
      batches.push_back(next);
    }
  }
  return batches;
}

void write_input(std::ostream& out, const c10::IValue& value) {
  if (value.isTensor()) {
    const torch::Tensor& x = value.toTensor();
    if (!x.defined()) return;
    out << " " << x.scalar_type() << x.sizes() << x.strides();
  } else if (value.isTensorList()) {
    for (const torch::Tensor& x : value.toTensorVector()) write_input(out, x);
  } else if (value.isScalar() || value.isBool() || value.isIntList()) {
    out << " " << value;
  }
}

// A line for each operator of an update: its name, and the shapes, strides and numbers it is given.
std::vector<std::string> operators(BatchGradient& gradient, const StaticBatch& batch) {
  static std::vector<std::string> lines;
  lines.clear();
  const auto handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback([](const at::RecordFunction& call) {
                                   std::ostringstream line;
                                   line << call.name();
                                   for (const c10::IValue& input : call.inputs())
                                     write_input(line, input);
                                   lines.push_back(line.str());
                                   return std::unique_ptr<at::ObserverContext>();
                                 }).needsInputs(true));
  gradient.zero();
  gradient.add(batch, 0.25, 1);
  at::removeCallback(handle);
  return lines;
}

}  // namespace

TEST_CASE("batches of a class take the same operators, for every model that pads its batches") {
  const testing::Threads threads(1);
  const testing::DevicePath path(/*gpu=*/true);
  const EncodedCorpus pairs = testing::copying_corpus();
  const ClassRule rule{.row_step = 64};
  const std::vector<Batch> batches = two_of_a_class(pairs, rule);
  REQUIRE(batches.size() == 2);
  for (const testing::ModelVariant& variant : testing::variants()) {
    CAPTURE(variant.name);
    ModelConfig config = variant.config;
    if (auto* transformer = std::get_if<TransformerConfig>(&config.options)) {
      transformer->attention_dropout = transformer->activation_dropout = 0.1;
    }
    const auto model = make_model(config, {kWords, kWords, 0, {4}});
    if (!varies_within_class(*model).empty()) continue;
    FlatParameters parameters(*model);
    BatchGradient gradient(*model, parameters, Precision::fp32,
                           smoothed_targets(Smoothing::wrong_no_pad, 0.1, kWords, 1));
    operators(gradient, static_batch(batches[0], rule));  // makes tables and the block
    const auto first = operators(gradient, static_batch(batches[0], rule)),
               second = operators(gradient, static_batch(batches[1], rule));
    CHECK(first.size() > 300);
    CHECK(first == second);
    CHECK(std::ranges::none_of(second, [](const std::string& line) {  // it would read from a GPU
      return line.starts_with("aten::item") || line.starts_with("aten::_local_scalar_dense");
    }));
  }
}

TEST_CASE("a batch in the block of another one of its class gives its own results, bit for bit") {
  const testing::DevicePath path(/*gpu=*/true);
  TransformerConfig shape = testing::copying_model();
  shape.word_positions = GENERATE(false, true);
  shape.attention_dropout = GENERATE(0.0, 0.2);
  const EncodedCorpus pairs = testing::copying_corpus();
  const ClassRule rule{.row_step = 64};
  const std::vector<Batch> batches = two_of_a_class(pairs, rule);
  REQUIRE(batches.size() == 2);
  std::vector<torch::Tensor> gradients;
  std::vector<UpdateSums> sums;
  for (const bool alone : {true, false}) {
    Transformer model = testing::CopyingTask::seeded(shape);
    FlatParameters parameters(*model);
    BatchGradient gradient(*model, parameters, Precision::fp32,
                           smoothed_targets(Smoothing::wrong, 0.1, kWords, 1));
    for (const Batch& batch : batches) {
      if (alone && &batch == &batches[0]) continue;
      gradient.zero();
      gradient.add(static_batch(batch, rule), 0.5, 1);
      sums.push_back(gradient.collect());
    }
    gradients.push_back(parameters.gradients.clone());
  }
  CHECK(torch::equal(gradients[0], gradients[1]));
  CHECK(sums[0].smoothed == sums[2].smoothed);
  CHECK(sums[0].smoothed != sums[1].smoothed);
}

TEST_CASE("what keeps batches from being padded is named") {
  const auto reason = [](const ModelConfig& config, int64_t features = 0) {
    return varies_within_class(*make_model(config, {kWords, kWords, features, {4}}));
  };
  TransformerConfig config = testing::small_model();
  CHECK(reason(config).empty());
  CHECK(reason(config, 3) == "source features");
  CHECK(reason(RecurrentConfig{.d_model = 12, .hidden = 10, .d_attention = 14}) ==
        "the architecture");
  config.decoder_mixer.kind = Mixer::recurrence;
  CHECK(reason(config) == "model.decoder_mixer: recurrence");
  config.decoder_mixer = {};
  config.deterministic_attention = true;
  CHECK(reason(config) == "model.deterministic_attention");
  const testing::KernelUse kernels(Kernels::off);
  CHECK(reason(testing::small_model()) == "the loss as it is read");
}
