#include <utility>

#include "train/adam.h"
#include "train/lion.h"
#include "train/muon.h"

namespace attn {

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, FlatParameters& parameters,
                                          double hidden_rate, const std::optional<FlatRange>& own) {
  const FlatRange range = own.value_or(whole_range(parameters));
  std::vector<RateGroup> groups = rate_groups(parameters, hidden_rate);
  switch (config.kind) {
    case OptimizerKind::adam:
      return std::make_unique<Adam>(config.adam, parameters, std::move(groups), range);
    case OptimizerKind::adamw:
      return std::make_unique<Adam>(config.adamw, parameters, std::move(groups), range);
    case OptimizerKind::lion:
      return std::make_unique<Lion>(config.lion, parameters, std::move(groups), range);
    case OptimizerKind::muon:
      TORCH_CHECK(hidden_rate == 1.0, "Muon has no factor for hidden matrices");
      TORCH_CHECK(range == whole_range(parameters), "Muon updates whole matrices");
      return std::make_unique<Muon>(config.muon, parameters);
  }
  TORCH_CHECK(false, "unknown optimizer");
}

}  // namespace attn
