// Options of search; the defaults are the paper's beam search (section 6.1).
#pragma once

#include <cstdint>

#include "base/enum_names.h"
#include "kernels/precision.h"

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

/// How outputs are generated.
enum class SearchMethod {
  beam,   ///< beam search
  sample  ///< random samples from the model's distribution
};
/// Minimum-Bayes-risk decoding (Kumar and Byrne, 2004): the output is the hypothesis whose expected
/// utility, with all hypotheses as references, is highest, or, for trees, the tree that
/// combines their brackets with the highest expected F1.
enum class RiskUtility {
  none,  ///< by score
  chrf,  ///< sentence chrF2
  bleu,  ///< sentence BLEU
  f1     ///< F1 of labelled brackets
};
/// How an ensemble averages the distributions of its members.
enum class EnsembleMean {
  probability,     ///< arithmetic mean of the probabilities
  log_probability  ///< mean of the log-probabilities, normalized (geometric mean)
};

template <>
struct EnumNames<SearchMethod> {
  static constexpr auto values = std::to_array<EnumName<SearchMethod>>(
      {{SearchMethod::beam, "beam"}, {SearchMethod::sample, "sample"}});
};
template <>
struct EnumNames<RiskUtility> {
  static constexpr auto values = std::to_array<EnumName<RiskUtility>>({{RiskUtility::none, "none"},
                                                                       {RiskUtility::chrf, "chrf"},
                                                                       {RiskUtility::bleu, "bleu"},
                                                                       {RiskUtility::f1, "f1"}});
};
template <>
struct EnumNames<EnsembleMean> {
  static constexpr auto values =
      std::to_array<EnumName<EnsembleMean>>({{EnsembleMean::probability, "probability"},
                                             {EnsembleMean::log_probability, "log_probability"}});
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
};

struct SearchConfig {
  int64_t beam = 4;
  double alpha = 0.6;
  LengthPenalty penalty = LengthPenalty::gnmt;
  int64_t extra_length = 50;
  int64_t nbest = 1;
  StopRule stop = StopRule::optimal;
  double prune = 0.0;
  bool constrained = true;
  int64_t known_tags = 0;
  WeightType weights = WeightType::fp32;
  EnsembleMean ensemble = EnsembleMean::probability;
  SearchMethod method = SearchMethod::beam;
  int64_t samples = 1;
  double temperature = 1.0;
  int64_t top_k = 0;
  double top_p = 1.0;
  int64_t seed = 1;
  RiskUtility mbr = RiskUtility::none;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("beam", self.beam, "beam size; 1 is greedy search");
    visit("alpha", self.alpha, "α of the length penalty; larger values favour longer output");
    visit("penalty", self.penalty,
          "length penalty: gnmt ((5 + n) / 6)^α, power n^α, or none; n counts EOS");
    visit("extra_length", self.extra_length,
          "maximum output length, EOS included: the input length without EOS plus this, in tokens");
    visit("nbest", self.nbest, "size of the n-best list");
    visit(
        "stop", self.stop,
        "when search ends: optimal, when no active hypothesis can still enter the n-best list, or "
        "first_finished, when beam hypotheses are finished");
    visit("prune", self.prune,
          "drop hypotheses whose log-probability is lower than the best of the step by more than "
          "this; 0: keep the whole beam");
    visit("constrained", self.constrained,
          "parsing: constrain search to well-formed trees over the sentence; false: repair the "
          "output");
    visit("known_tags", self.known_tags,
          "parsing, constrained: words seen at least this often in training get only the tags seen "
          "with them; 0: any tag");
    visit("weights", self.weights,
          "precision of the weights in search, with the packed decoder: fp32, bf16 (encoder and "
          "decoder, needs AVX-512 BF16 or AMX) or int8 (decoder; its activations, too, with "
          "AVX-512 VNNI "
          "or on processors limited to AVX2; the encoder in bf16 where the processor has it)");
    visit("ensemble", self.ensemble,
          "several models: mean of their probabilities (probability), or of their "
          "log-probabilities, normalized (log_probability)");
    visit("method", self.method, "beam: beam search; sample: random samples");
    visit("samples", self.samples,
          "with method=sample: outputs drawn per sentence; nbest are returned");
    visit("temperature", self.temperature,
          "with method=sample: divisor of the logits; below 1 favours likely tokens");
    visit("top_k", self.top_k, "with method=sample: draw from the k likeliest tokens; 0: from all");
    visit("top_p", self.top_p,
          "with method=sample: draw from the smallest set of likeliest tokens with at least this "
          "total probability; 1: from all");
    visit("seed", self.seed, "with method=sample: random seed");
    visit("mbr", self.mbr,
          "minimum-Bayes-risk decoding over the hypotheses of the beam or the samples: the "
          "translation of highest expected chrf or bleu; parsing: the tree of highest expected f1, "
          "fused from them; none: by score");
  }
  bool operator==(const SearchConfig&) const = default;
  /// Hypotheses per sentence among which nbest are chosen.
  int64_t hypotheses() const { return method == SearchMethod::sample ? samples : beam; }
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
};

/// The divisor for a hypothesis of `length` >= 1 tokens, EOS included.
double length_penalty(const SearchConfig& config, int64_t length);

}  // namespace attn
