// Tests the properties of seq2seq_properties.h for all architectures and their variants.
#include "model/seq2seq.h"

#include "kernels/compute_scope.h"
#include "tests/model/seq2seq_properties.h"
#include "tests/support/skip.h"

using namespace attn;
using testing::ModelVariant;

namespace {

template <class Check>
void over_variants(Check&& check) {
  for (const ModelVariant& variant : testing::variants()) {
    INFO(variant.name);
    check(variant);
  }
}

}  // namespace

TEST_CASE("the module has exactly the parameters that the closed form counts, in every variant") {
  over_variants([](const ModelVariant& variant) { testing::check_parameter_count(variant); });
}

TEST_CASE("target positions do not see later ones, and see the whole source") {
  const ComputeScope scope({.kernels = GENERATE(true, false)});
  over_variants(testing::check_causality);
}

TEST_CASE("a sentence's result does not depend on the batch around it") {
  const ComputeScope scope({.kernels = GENERATE(true, false)});
  over_variants(testing::check_batch_independence);
}

TEST_CASE("cached decoding equals teacher forcing, through reorderings and endings") {
  const ComputeScope modules({.kernels = false});
  over_variants([](const ModelVariant& variant) { testing::check_session(variant); });
}

TEST_CASE("fast inference equals teacher forcing, through reorderings and endings") {
  over_variants([](const ModelVariant& variant) {
    REQUIRE(testing::seeded_model(variant.config)->has_packed_inference() == variant.packed);
    testing::check_session(variant, 5e-5);
  });
}

TEST_CASE("decoding the prefix again equals teacher forcing, through reorderings and endings") {
  over_variants([](const ModelVariant& variant) {
    testing::check_session(variant, 5e-5, torch::kCPU, /*by_prefix=*/true);
  });
}

TEST_CASE("source features add the sum of their embeddings") {
  over_variants(testing::check_features);
}

TEST_CASE("a replica is the same model over other memory") {
  over_variants(testing::check_replica);
}

TEST_CASE("every parameter gets a gradient") {
  over_variants(testing::check_all_gradients);
}

TEST_CASE("every model computes on a GPU what it computes on a CPU, in training and in search",
          "[gpu]") {
  if (!testing::machine_has(torch::cuda::is_available(), "GPU")) return;
  over_variants([](const ModelVariant& variant) {
    testing::check_device(variant, torch::kCUDA);
    testing::check_session(variant, 5e-3, torch::kCUDA);
  });
}
