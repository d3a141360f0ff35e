#include "kernels/fast_path.h"

#include <atomic>
#include <cstdlib>

#include "base/check.h"
#include "base/error.h"

namespace attn {
namespace {

constexpr size_t kPaths = EnumNames<FastPath>::values.size();

struct State {
  std::array<bool, kPaths> followed;
  std::array<std::atomic<bool>, kPaths> run_as_read = {};

  State() {
    followed.fill(true);
    for (const Formula& formula : formulas()) {
      if (!formula.followed) followed[static_cast<size_t>(formula.path)] = false;
    }
  }
};

State& state() {
  static State all;
  return all;
}

Kernels from_environment() {
  const char* name = std::getenv("ATTN_KERNELS");
  if (name == nullptr || *name == '\0') return Kernels::automatic;
  const auto kernels = enum_named<Kernels>(name);
  require(kernels.has_value(), "ATTN_KERNELS", name, "expected auto, strict or off");
  return *kernels;
}

std::atomic<Kernels>& chosen() {
  static std::atomic<Kernels> kernels = from_environment();
  return kernels;
}

}  // namespace

std::vector<std::string> edited_formulas(FastPath path) {
  std::vector<std::string> edited;
  for (const Formula& formula : formulas()) {
    if (formula.path != path || formula.followed) continue;
    edited.push_back(std::string(formula.name) + " (" + formula.place + ")");
  }
  return edited;
}

void use_kernels(Kernels kernels) {
  chosen() = kernels == Kernels::automatic ? from_environment() : kernels;
}

Kernels kernels_in_use() {
  return chosen();
}

bool follows_formulas(FastPath path) {
  const auto at = static_cast<size_t>(path);
  if (state().followed[at]) return true;
  state().run_as_read[at] = true;
  if (chosen() == Kernels::strict) {
    throw ConfigError("runtime.kernels: strict: the formula " + edited_formulas(path).front() +
                      " was edited, so that the fast path " + std::string(enum_name(path)) +
                      " is off; use auto, or let it follow and run tools/formulas --accept");
  }
  return false;
}

std::vector<FastPath> paths_run_as_read() {
  std::vector<FastPath> paths;
  for (size_t i = 0; i < kPaths; ++i) {
    if (state().run_as_read[i]) paths.push_back(static_cast<FastPath>(i));
  }
  return paths;
}

}  // namespace attn
