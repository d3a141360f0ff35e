// Options of the optimizers. The keys of the chosen one are keys of "train".
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "base/enum_names.h"

namespace attn {

enum class OptimizerKind {
  adam,   ///< section 5.3 (Kingma and Ba 2015)
  adamw,  ///< Adam with decoupled weight decay (Loshchilov and Hutter 2019)
  lion,   ///< the sign of an interpolated momentum (Chen et al. 2023)
  muon    ///< orthogonalized momentum for hidden matrices (Jordan et al. 2024), AdamW for the rest
};
/// Factor on Muon's orthogonalized update of a matrix of R rows and C columns.
enum class MuonScale {
  match_rms,  ///< 0.2 √max(R, C): the root mean square of Adam's updates (Liu et al. 2025), so
              ///< that both use the same learning rate
  original    ///< √max(1, R / C), as published; its learning rate is 0.2 √C times Adam's
};

template <>
struct EnumNames<OptimizerKind> {
  static constexpr auto values =
      std::to_array<EnumName<OptimizerKind>>({{OptimizerKind::adam, "adam"},
                                              {OptimizerKind::adamw, "adamw"},
                                              {OptimizerKind::lion, "lion"},
                                              {OptimizerKind::muon, "muon"}});
};
template <>
struct EnumNames<MuonScale> {
  static constexpr auto values = std::to_array<EnumName<MuonScale>>(
      {{MuonScale::match_rms, "match_rms"}, {MuonScale::original, "original"}});
};

inline constexpr const char* kWeightDecayText =
    "decoupled weight decay of all parameters, including biases and gains; default: 0.01 for "
    "adamw, 0 for the others (none, as in the paper)";

/// The options of an optimizer have the fields of the config, validate(), which throws ConfigError
/// naming the first invalid one, and kState, the number of tensors of Optimizer::state().
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double weight_decay = 0.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("beta1", self.beta1, "β₁: decay of the first moment (Lion: of the update)");
    visit("beta2", self.beta2,
          "β₂: decay of the second moment (Lion: of the momentum, 0.99 unless given)");
    visit("epsilon", self.epsilon, "Adam's ε");
    visit("weight_decay", self.weight_decay, kWeightDecayText);
  }
  bool operator==(const AdamOptions&) const = default;
  void validate() const;
  static constexpr int64_t kState = 2;
};

/// Adam's but ε, which is not used.
struct LionOptions : AdamOptions {
  LionOptions() { beta2 = 0.99; }

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    AdamOptions::fields(self, [&](const char* name, auto& value, const char* text) {
      if (std::string_view(name) != "epsilon") visit(name, value, text);
    });
  }
  bool operator==(const LionOptions&) const = default;
  static constexpr int64_t kState = 1;
};

struct MuonOptions {
  double momentum = 0.95;
  MuonScale scale = MuonScale::match_rms;
  double rate_scale = 1.0;
  AdamOptions rest = {};  ///< its weight decay is that of all parameters

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("momentum", self.momentum, "μ: decay of Muon's momentum");
    visit(
        "muon_scale", self.scale,
        "scale of Muon's updates: match_rms (0.2 √max(rows, columns)), for Adam's learning rates, "
        "or original (√max(1, rows / columns))");
    visit("muon_rate_scale", self.rate_scale,
          "learning rate of Muon's matrices, as a multiple of that of the other parameters; their "
          "weight decay grows with it");
    AdamOptions::fields(self.rest, visit);
  }
  bool operator==(const MuonOptions&) const = default;
  void validate() const;
  static constexpr int64_t kState = 2;  ///< AdamW's moments; the momentum in place of the first
};

/// The chosen optimizer with its options.
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adam;
  AdamOptions adam = {};
  AdamOptions adamw = {.weight_decay = 0.01};
  LionOptions lion = {};
  MuonOptions muon = {};

  /// Calls work(options) with those of the chosen optimizer.
  template <class Self, class Work>
  static auto with_chosen(Self& self, Work&& work) {
    switch (self.kind) {
      case OptimizerKind::adam:
        return work(self.adam);
      case OptimizerKind::adamw:
        return work(self.adamw);
      case OptimizerKind::lion:
        return work(self.lion);
      case OptimizerKind::muon:
        return work(self.muon);
    }
    throw std::logic_error("unknown optimizer");
  }
  bool operator==(const OptimizerConfig&) const = default;
};

}  // namespace attn
