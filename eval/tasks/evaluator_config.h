// Options of evaluators: the "eval" list of an experiment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/enum_names.h"
#include "base/json_config.h"
#include "data/config.h"
#include "eval/metrics/bootstrap.h"
#include "eval/search/config.h"
#include "eval/tasks/bleu_evaluator.h"
#include "eval/tasks/chrf_evaluator.h"
#include "eval/tasks/contrastive_evaluator.h"
#include "eval/tasks/loss_evaluator.h"
#include "eval/tasks/parse_evaluator.h"
#include "eval/tasks/ter_evaluator.h"

namespace attn {

class TextHashes;

/// In the order of EvaluatorConfig's alternatives, and of report columns.
enum class EvaluatorKind { loss, contrastive, ter, chrf, bleu, parse };

template <>
struct EnumNames<EvaluatorKind> {
  static constexpr auto values =
      std::to_array<EnumName<EvaluatorKind>>({{EvaluatorKind::loss, "loss"},
                                              {EvaluatorKind::contrastive, "contrastive"},
                                              {EvaluatorKind::ter, "ter"},
                                              {EvaluatorKind::chrf, "chrf"},
                                              {EvaluatorKind::bleu, "bleu"},
                                              {EvaluatorKind::parse, "parse"}});
};

/// A union tagged by "kind". Each alternative is a config struct that also declares its `task`
/// (std::nullopt: any), its `metric`, score() of a translation or make(), and, if it reads any
/// besides the text, its files().
struct EvaluatorConfig {
  static constexpr std::array kTags = {"kind"};
  using Options = std::variant<LossEvaluation, ContrastiveEvaluation, TerEvaluation, ChrfEvaluation,
                               BleuEvaluation, ParseEvaluation>;

  std::string name = "valid";
  std::string data;
  std::string tag;
  int64_t every = 1000;
  bool test = false;
  std::string sealed;
  Json search = Json::object();
  Options options;

  EvaluatorKind kind() const { return static_cast<EvaluatorKind>(options.index()); }
  /// The options of the current kind, which must be Chosen.
  template <class Chosen>
  const Chosen& get() const {
    return std::get<Chosen>(options);
  }

  /// Its text: `data`, or data.valid of the experiment; "" if neither is set.
  const std::string& text(const DataConfig& texts) const {
    return data.empty() ? texts.valid : data;
  }
  /// Whether a lower value of the kind's metric is better.
  bool lower_is_better() const;
  /// Whether the output of search is scored.
  bool searches() const {
    return kind() != EvaluatorKind::loss && kind() != EvaluatorKind::contrastive;
  }
  /// Its search: `common`, that of the experiment, with its own options. Throws ConfigError for an
  /// unknown one, or one of another type, at `place`.
  SearchConfig search_over(SearchConfig common, const std::string& place = "search") const {
    read_config(common, search, place);
    return common;
  }

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "name of the evaluator, used for its results and files");
    EvaluatorKind kind = self.kind();
    visit("kind", kind,
          "metric: loss is perplexity, contrastive compares given translations, the others score "
          "the output of search");
    if constexpr (!std::is_const_v<Self>) self.set_kind(kind);
    visit("data", self.data,
          "text to evaluate on, in the same form as data.train; empty: data.valid");
    visit("tag", self.tag, "tag of the text (data.sources); empty: data.tag");
    visit("every", self.every, "steps between evaluations; 0: only at the end of training");
    visit("test", self.test,
          "a test set: its scorings are counted in reports and a ledger beside the text");
    visit("sealed", self.sealed,
          "file with the rule by which the test set may be scored, in git; empty: none. The set is "
          "not scored until the file is in the commit of which attn was built");
    std::visit([&](auto& chosen) { chosen.fields(chosen, visit); }, self.options);
    if (self.searches()) {
      visit("search", self.search,
            "options of search that differ from those of the experiment, {\"beam\": 1}");
    }
  }
  bool operator==(const EvaluatorConfig&) const = default;

  /// Switches to the defaults of `kind` unless it is set already.
  void set_kind(EvaluatorKind kind);
  /// Throws ConfigError naming the first invalid option.
  void validate() const;
  /// Throws ConfigError if the kind does not support the task.
  void require_task(Task task) const;
  /// Throws ConfigError if neither `data` nor data.valid is set, and DataError if the text or one
  /// of the other files is missing or the text is empty.
  void require_text(const DataConfig& texts) const;
  /// A file of its outputs, to be scored on resamples of the text of `texts`; without sentences for
  /// kinds without search. Throws DataError for files that are missing or do not match.
  ResampledSystem resampled(const std::filesystem::path& outputs, const DataConfig& texts) const;
  /// The files that it reads besides its text.
  std::vector<std::filesystem::path> files() const;
};

/// Whether `kind` is the tag of `Options`: EvaluatorConfig::kind() relies on their order.
template <EvaluatorKind kind, class Options>
inline constexpr bool has_options =
    std::is_same_v<std::variant_alternative_t<static_cast<size_t>(kind), EvaluatorConfig::Options>,
                   Options>;
static_assert(has_options<EvaluatorKind::loss, LossEvaluation> &&
              has_options<EvaluatorKind::contrastive, ContrastiveEvaluation> &&
              has_options<EvaluatorKind::ter, TerEvaluation> &&
              has_options<EvaluatorKind::chrf, ChrfEvaluation> &&
              has_options<EvaluatorKind::bleu, BleuEvaluation> &&
              has_options<EvaluatorKind::parse, ParseEvaluation>);

/// The evaluator that selects the best checkpoint, the first one with a schedule; null: none.
const EvaluatorConfig* deciding_evaluator(std::span<const EvaluatorConfig> evaluators);

/// Key of the files that an evaluator reads; empty if one is missing.
std::string evaluation_key(const EvaluatorConfig& config, const DataConfig& data,
                           TextHashes& hashes);

}  // namespace attn
