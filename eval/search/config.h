// Options of beam search; the defaults are the paper's (section 6.1).
#pragma once

#include <cstdint>

#include "base/enum_names.h"
#include "model/search_backend.h"

namespace attn {

/// Length penalty: the divisor of a hypothesis's log-probability. n is its number of tokens with
/// EOS, without BOS, as in Tensor2Tensor, fairseq and JoeyNMT.
enum class LengthPenalty {
  gnmt,  ///< ((5 + n) / 6)^α: Wu et al. 2016, eq. 14; the paper, Tensor2Tensor, JoeyNMT, OpenNMT's
         ///< "wu"
  power,  ///< n^α: fairseq (its lenpen), Marian, CTranslate2; α = 1 is the average per token
  none    ///< 1
};
/// When the search of a sentence ends. A beam of 1 is greedy search: always `first_finished`.
enum class StopRule {
  optimal,        ///< when no active hypothesis can still enter the n-best list: Tensor2Tensor
  first_finished  ///< when `beam` hypotheses are finished, each among its step's best `beam`:
                  ///< fairseq; faster
};

template <>
struct EnumNames<LengthPenalty> {
  static constexpr auto values =
      std::to_array<EnumName<LengthPenalty>>({{LengthPenalty::gnmt, "gnmt"},
                                              {LengthPenalty::power, "power"},
                                              {LengthPenalty::none, "none"}});
};
template <>
struct EnumNames<StopRule> {
  static constexpr auto values = std::to_array<EnumName<StopRule>>(
      {{StopRule::optimal, "optimal"}, {StopRule::first_finished, "first_finished"}});
  static constexpr auto former = std::to_array<EnumName<StopRule>>(
      {{StopRule::optimal, "bound"}, {StopRule::first_finished, "count"}});
};

struct SearchConfig {
  int64_t beam = 4;
  double alpha = 0.6;
  LengthPenalty penalty = LengthPenalty::gnmt;
  int64_t extra_length = 50;
  int64_t nbest = 1;
  StopRule stop = StopRule::optimal;
  bool constrained = true;
  int64_t known_tags = 0;
  StepPath decoder = StepPath::packed;  ///< not an option: RuntimeConfig sets it
  WeightType weights = WeightType::fp32;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("beam", self.beam, "beam size; 1 is greedy search");
    visit("alpha", self.alpha, "α of the length penalty; larger values favour longer output");
    visit("penalty", self.penalty,
          "length penalty: gnmt ((5 + n) / 6)^α, power n^α, or none; n counts EOS");
    visit("extra_length", self.extra_length,
          "maximum output length: the input length plus this, in tokens");
    visit("nbest", self.nbest, "size of the n-best list");
    visit(
        "stop", self.stop,
        "when search ends: optimal, when no active hypothesis can still enter the n-best list, or "
        "first_finished, when beam hypotheses are finished");
    visit("constrained", self.constrained,
          "parsing: constrain search to well-formed trees over the sentence; false: repair the "
          "output");
    visit("known_tags", self.known_tags,
          "parsing, constrained: words seen at least this often in training get only the tags seen "
          "with them; 0: any tag");
    visit("weights", self.weights,
          "precision of the weights in search, with the packed decoder: fp32, bf16 (encoder and "
          "decoder, needs AVX-512 BF16 or AMX) or int8 (decoder)");
  }
  bool operator==(const SearchConfig&) const = default;
  SearchBackend backend() const { return {.path = decoder, .weights = weights}; }
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
};

/// The divisor for a hypothesis of `length` >= 1 tokens, EOS included.
double length_penalty(const SearchConfig& config, int64_t length);

}  // namespace attn
