// The options of search: the paper's section 6.1 is the default.
#pragma once

#include <cstdint>

#include "base/enum_names.h"
#include "model/search_backend.h"

namespace attn {

/// What a hypothesis' log-probability is divided by, so that longer ones stand a chance. n is its
/// number of tokens with eos and without bos, as Tensor2Tensor, fairseq and JoeyNMT count.
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
    visit("beam", self.beam, "hypotheses kept alive for each sentence; 1 is greedy search");
    visit("alpha", self.alpha, "α of the length penalty: higher favours longer output");
    visit("penalty", self.penalty, "gnmt: ((5 + n) / 6)^α, power: n^α, n counting eos");
    visit("extra_length", self.extra_length,
          "tokens by which the output may be longer than the input");
    visit("nbest", self.nbest, "hypotheses returned for each sentence");
    visit("stop", self.stop,
          "optimal: when no active hypothesis can still enter the n-best list; first_finished: "
          "when beam "
          "hypotheses are finished");
    visit("constrained", self.constrained,
          "parsing: only well-formed trees over the sentence's words; false: anything, repaired");
    visit(
        "known_tags", self.known_tags,
        "parsing, constrained: words seen at least so often in training keep to the tags that they "
        "had there; 0: any tag");
    visit("weights", self.weights,
          "fp32, or with the packed decoder: bf16, every product with a weight, the encoder's too, "
          "on processors with AVX-512 BF16 or AMX; int8, the decoder's weights in 8 bits");
  }
  bool operator==(const SearchConfig&) const = default;
  SearchBackend backend() const { return {.path = decoder, .weights = weights}; }
  /// Throws ConfigError naming the first option that contradicts itself.
  void validate() const;
};

/// The divisor of the log-probability of a hypothesis of `length` >= 1 tokens, eos among them.
double length_penalty(const SearchConfig& config, int64_t length);

}  // namespace attn
