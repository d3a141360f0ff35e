// CUDA graphs need a GPU; these tests capture the work itself, with all that the host knew of the
// captured batch, and replay it on the block of another one, as a graph is.
#include "train/class_graphs.h"

#include <ATen/record_function.h>
#include <array>
#include <set>
#include <stdexcept>

#include "tests/support/catch.h"
#include "tests/support/model_variants.h"
#include "tests/support/scopes.h"
#include "tests/train/updates.h"
#include "train/static_batch.h"

using namespace attn;

namespace {

constexpr int64_t kWords = testing::kCopyingClasses;

}  // namespace

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

namespace {

// Operators of replays, and those that would read a value or a size from a GPU, for which a capture
// may not wait.
int64_t operators = 0, values_read = 0;

class CountedOperators {
 public:
  CountedOperators()
      : handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback([](const at::RecordFunction& call) {
              static const std::set<std::string> kReading = {
                  "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select",
                  "aten::repeat_interleave.Tensor"};  // not that by a number
              const auto name = call.operator_name();
              ++operators;
              values_read += name && kReading.contains(toString(*name)) ? 1 : 0;
              return std::unique_ptr<at::ObserverContext>();
            }))) {}
  ~CountedOperators() { at::removeCallback(handle_); }
  CountedOperators(const CountedOperators&) = delete;
  CountedOperators& operator=(const CountedOperators&) = delete;

 private:
  at::CallbackHandle handle_;
};

struct Replays {
  int captures = 0, replays = 0;
  std::vector<std::string> said;

  Capture capture() {
    return [this](const std::function<void()>& work) {
      ++captures;
      return std::make_unique<testing::RepeatedWork>([this, work] {
        const Capturing as_captured;
        ++replays;
        const CountedOperators counted;
        work();
      });
    };
  }
  std::function<void(const std::string&)> say() {
    return [this](const std::string& line) { said.push_back(line); };
  }
};

// The first batches of a stream, padded.
std::vector<StaticBatch> padded_batches(int64_t count) {
  const EncodedCorpus pairs = testing::copying_corpus();
  BatchStream stream(pairs, {.batch_tokens = 60, .seed = 5});
  std::vector<StaticBatch> batches;
  while (std::ssize(batches) < count) {
    batches.push_back(static_batch(stream.next(), class_rule(60, 0)));
  }
  return batches;
}

// Sums of the source tokens of batches, and of what `host` says of them.
struct Summed {
  torch::Tensor sum = torch::zeros({1}, torch::kFloat64);
  std::function<int64_t(const StaticBatch&)> host = [](const StaticBatch&) { return 0; };
  ClassGraphs graphs{torch::kCPU, {sum}, [this](const StaticBatch& own) {
                       sum.add_(own.source.tokens_N.sum() + host(own));
                     }};
};

// A number that the host knows of the lengths of a batch.
int64_t known_of(const StaticBatch& batch) {
  int64_t sum = 0;
  for (const int64_t offset : batch.source.segments.offsets()) sum = 31 * sum % 1000 + offset;
  return sum;
}

int64_t tokens_of(const std::vector<StaticBatch>& batches) {
  int64_t sum = 0;
  for (const StaticBatch& batch : batches) sum += batch.source.tokens_N.sum().item<int64_t>();
  return sum;
}

}  // namespace

TEST_CASE("replayed updates are eager ones bit for bit, for every model that pads its batches") {
  const testing::DevicePath path(/*gpu=*/true);
  const testing::Threads threads(1);
  const TrainConfig training = testing::in_two_batches();
  int padded = 0;
  for (const testing::ModelVariant& variant : testing::variants()) {
    CAPTURE(variant.name);
    ModelConfig config = variant.config;
    if (auto* transformer = std::get_if<TransformerConfig>(&config.options)) {
      transformer->attention_dropout = transformer->activation_dropout = 0.1;
    }
    const auto eager = testing::updates(config, training, {.count = 6, .padded = true});
    if (!eager.padded) continue;
    ++padded;
    operators = values_read = 0;
    Replays made;
    const auto replayed = testing::updates(
        config, training,
        {.count = 6, .padded = true, .capture = made.capture(), .say = made.say()});
    CHECK(torch::equal(replayed.weights, eager.weights));
    CHECK(replayed.losses == eager.losses);
    CHECK(made.captures > 0);
    CHECK(made.replays > made.captures);
    CHECK(made.said.empty());
    CHECK(operators > 300);
    CHECK(values_read == 0);
  }
  CHECK(padded > 20);
}

TEST_CASE(
    "a class is computed at its first batch, captured at its second, and replayed from then") {
  const std::vector<StaticBatch> batches = padded_batches(30);
  Replays made;
  Summed work;
  work.graphs.use(made.capture(), made.say());
  std::map<BatchClass, int> seen;
  int captures = 0, replays = 0;
  for (const StaticBatch& batch : batches) {
    work.graphs.run(batch, 1);
    const int times = ++seen[batch.shape];
    captures += times == 2 ? 1 : 0;
    replays += times > 1 ? 1 : 0;
    CHECK(made.captures == captures);
    CHECK(made.replays == replays);
  }
  CHECK(replays > 10);
  CHECK(work.sum.item<int64_t>() == tokens_of(batches));
}

TEST_CASE("a value of the captured batch in the graph is found, and costs no result") {
  const std::vector<StaticBatch> batches = padded_batches(30);
  Replays made;
  Summed work;
  int64_t expected = tokens_of(batches);
  work.host = known_of;
  for (const StaticBatch& batch : batches) expected += work.host(batch);
  work.graphs.use(made.capture(), made.say());
  for (const StaticBatch& batch : batches) work.graphs.run(batch, 1);
  CHECK(work.sum.item<int64_t>() == expected);
  REQUIRE(made.said.size() == 1);
  CHECK_THAT(made.said[0], testing::contains("CUDA graphs are off: a replayed batch"));
}

TEST_CASE("results that vary by rounding when they are repeated are not taken for others") {
  const std::vector<StaticBatch> batches = padded_batches(30);
  const double captured_value = GENERATE(0.0, 1.0, NAN);
  Replays made;
  const torch::Tensor sum = torch::zeros({1}, torch::kFloat64);
  int calls = 0;
  ClassGraphs graphs(torch::kCPU, {sum}, [&](const StaticBatch& own) {
    const double noise = 1e-6 * std::array{0, 2, 1}[++calls % 3];
    const auto baked = static_cast<double>(known_of(own));
    sum.add_(own.source.tokens_N.sum() + noise + captured_value * baked);
  });
  graphs.use(made.capture(), made.say());
  for (const StaticBatch& batch : batches) graphs.run(batch, 1);
  CHECK(made.said.empty() == (captured_value != 1.0));  // NaN: a training that diverges
}

TEST_CASE("a capture that fails ends graphs in one line, and costs no result") {
  const std::vector<StaticBatch> batches = padded_batches(30);
  Replays made;
  Summed work;
  work.graphs.use(
      [](const std::function<void()>&) -> std::unique_ptr<Graph> {
        throw std::runtime_error("CUDA out of memory\nand where");
      },
      made.say());
  for (const StaticBatch& batch : batches) work.graphs.run(batch, 1);
  CHECK(work.sum.item<int64_t>() == tokens_of(batches));
  CHECK(made.said == std::vector<std::string>{"CUDA graphs are off: a capture failed: CUDA out of "
                                              "memory; kernels are launched one by one"});
}

TEST_CASE("what is sent to a device beside a batch's block cannot be captured") {
  const std::vector<int64_t> values{1, 2};
  const auto sent = [&] { return int64_tensor(values, torch::kCPU); };
  CHECK(sent().numel() == 2);
  const Capturing as_captured;
  CHECK_THROWS_WITH(sent(), testing::contains("outside its block"));
}
