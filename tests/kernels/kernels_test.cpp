// Kernels against LibTorch's operations: values, gradients, dropout rates.
#include <ATen/Parallel.h>
#ifdef __linux__
#include <dlfcn.h>
#endif

#include <mutex>
#include <set>
#include <thread>

#include "kernels/compute_scope.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/top_k.h"
#include "tests/support/catch.h"
#include "tests/support/scopes.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

TEST_CASE("at::parallel_for really is parallel: without OpenMP's flag it silently is not") {
  const testing::Threads two(2);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  bool inside = true;
  at::parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    inside = inside && at::in_parallel_region();
  });
  // LibTorch sees our region: there is one OpenMP runtime, not two that fight over the cores.
  CHECK(inside);
  CHECK(threads.size() == 2);
}

#ifdef __linux__
TEST_CASE("the standard library is the system's, not the parts of one that LibTorch exports") {
  // As libstdc++ names std::filesystem::remove_all(const path&, error_code&).
  void* function =
      dlsym(RTLD_DEFAULT, "_ZNSt10filesystem10remove_allERKNS_7__cxx114pathERSt10error_code");
  if (function == nullptr) return;  // another standard library
  Dl_info found{};
  REQUIRE(dladdr(function, &found) != 0);
  CHECK(std::string(found.dli_fname).find("libtorch") == std::string::npos);
}
#endif

TEST_CASE("a dropout seed determines the keys of its thread, also in nested scopes") {
  const ComputeScope outer({.dropout_seed = 7});
  const uint64_t first = draw_dropout_key(0.5).key;
  const uint64_t second = draw_dropout_key(0.5).key;
  CHECK(first != second);
  {
    const ComputeScope inner({.dropout_seed = 7});
    CHECK(draw_dropout_key(0.5).key == first);
    torch::manual_seed(1);  // has no say
    CHECK(draw_dropout_key(0.5).key == second);
  }
  CHECK(draw_dropout_key(0.5).key != second);  // the outer one continues its sequence
}

TEST_CASE("dropout keeps the stated share, is unbiased and repeats under the same seed") {
  const double p = GENERATE(0.1, 0.3, 0.9);
  const torch::Tensor x = torch::ones({1 << 20});
  torch::manual_seed(3);
  const torch::Tensor a = fast_dropout(x, p);
  const torch::Tensor b = fast_dropout(x, p);
  torch::manual_seed(3);
  CHECK(torch::equal(a, fast_dropout(x, p)));
  CHECK(!torch::equal(a, b));
  const double share = (a == 0).to(torch::kFloat64).mean().item<double>();
  CHECK(share == Approx(p).margin(0.002));
  CHECK(a.mean().item<double>() == Approx(1.0).margin(0.02));
  // Independent of its neighbour, of the next row and of the next key.
  const torch::Tensor z = (a == 0).to(torch::kFloat64) - share;
  const double variance = share * (1 - share);
  for (const int64_t lag : {1, 2, 16, 64, 128, 1024}) {
    const double correlation = (z.narrow(0, 0, z.size(0) - lag) * z.narrow(0, lag, z.size(0) - lag))
                                   .mean()
                                   .item<double>() /
                               variance;
    CHECK(std::abs(correlation) < 0.006);
  }
  const torch::Tensor other = (b == 0).to(torch::kFloat64) - share;
  CHECK(std::abs((z * other).mean().item<double>() / variance) < 0.006);
}

TEST_CASE("dropout's gradient is its mask") {
  torch::manual_seed(4);
  const torch::Tensor x = torch::randn({1000}, torch::requires_grad());
  const torch::Tensor y = fast_dropout(x, 0.5);
  y.sum().backward();
  CHECK(max_difference(x.grad() * x.detach(), y.detach()) < 1e-6);
  torch::manual_seed(4);
  torch::randn({1000});  // as above
  CHECK(torch::equal(dropout_factors(x, 0.5), x.grad()));
  CHECK(fast_dropout(x, 0.0).is_same(x));
}

TEST_CASE("the best candidates are those of a full sort of the allowed classes, exactly") {
  torch::manual_seed(6);
  constexpr int64_t rows = 7;
  const int64_t classes = GENERATE(5, 130, 9999);
  const bool masked = GENERATE(false, true), by_topk = GENERATE(false, true);
  torch::Tensor logits = torch::randn({rows, classes}) * 3;
  logits[1].fill_(0.5);  // all equal: the smaller classes come first
  // Row r allows every (r + 1)-th class, the last row two.
  const auto words = static_cast<size_t>(classes / 64 + 1);
  std::vector<std::vector<uint64_t>> masks(rows, std::vector<uint64_t>(words, 0));
  std::vector<const uint64_t*> allowed;
  torch::Tensor expected = logits.log_softmax(-1);  // among all classes
  const torch::Tensor log_p = expected.clone();
  for (int64_t r = 0; masked && r < rows; ++r) {
    auto& mask = masks[static_cast<size_t>(r)];
    for (int64_t c = 0; c < classes; ++c) {
      const bool allow = r + 1 < rows ? c % (r + 1) == 0 : c == 3 || c == classes - 1;
      if (allow) mask[static_cast<size_t>(c / 64)] |= uint64_t{1} << (c % 64);
      if (!allow) expected[r][c] = -INFINITY;
    }
    allowed.push_back(mask.data());
  }
  std::vector<int32_t> best;
  std::vector<float> values;
  (by_topk ? top_k_by_libtorch : top_k)(logits, 8, best, values, allowed);
  const int64_t count = std::min<int64_t>(8, classes);
  REQUIRE(static_cast<int64_t>(best.size()) == rows * count);
  const torch::Tensor top = std::get<0>(expected.topk(count, -1));
  for (int64_t r = 0; r < rows; ++r) {
    std::set<int32_t> seen;
    for (int64_t k = 0; k < count; ++k) {
      const size_t at = static_cast<size_t>(r * count + k);
      const float wanted = top[r][k].item<float>();
      CHECK(seen.insert(best[at]).second);
      CHECK(std::isinf(values[at]) == std::isinf(wanted));
      if (std::isinf(wanted)) continue;
      CHECK(values[at] == Approx(wanted).margin(1e-5));
      CHECK(log_p[r][best[at]].item<float>() == Approx(values[at]).margin(1e-5));
      if (r == 1 && !masked && !by_topk) CHECK(best[at] == k);
    }
  }
}
