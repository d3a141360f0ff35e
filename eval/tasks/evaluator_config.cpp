#include "eval/tasks/evaluator_config.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/format.h"
#include "data/lines.h"
#include "data/parsing/treebank.h"
#include "data/text_hashes.h"
#include "eval/metrics/parse_lines.h"
#include "eval/metrics/parse_score.h"

namespace attn {

void EvaluatorConfig::set_kind(EvaluatorKind kind) {
  if (kind != this->kind()) options = alternative_of<Options>(static_cast<size_t>(kind));
}

bool EvaluatorConfig::lower_is_better() const {
  return std::visit([](const auto& chosen) { return chosen.metric.lower_is_better; }, options);
}

void EvaluatorConfig::validate() const {
  require(!name.empty() && name.find_first_of("/ \t\n") == std::string::npos, "name",
          "\"" + name + "\"", "must be a word without '/': files are named after it");
  require(every >= 0, "every", every, "must be 0 or more");
  require(sealed.empty() || test, "sealed", "\"" + sealed + "\"", "requires test=true");
  std::visit(
      [](const auto& chosen) {
        if constexpr (requires { chosen.validate(); }) chosen.validate();
      },
      options);
}

void EvaluatorConfig::require_task(Task task) const {
  const auto task_of = [task](const Options& any) {
    return std::visit([](const auto& chosen) { return chosen.task; }, any).value_or(task);
  };
  std::vector<std::string_view> kinds;  // of the task
  for (const auto& [kind, word] : EnumNames<EvaluatorKind>::values) {
    if (task_of(alternative_of<Options>(static_cast<size_t>(kind))) == task) kinds.push_back(word);
  }
  require(task_of(options) == task, "kind", enum_name(kind()),
          "requires data.task=" + std::string(enum_name(task_of(options))) + "; use " +
              joined(kinds, " or "));
}

void EvaluatorConfig::require_text(const DataConfig& texts) const {
  const std::string place = "eval: " + name;
  if (text(texts).empty()) throw ConfigError(place + ": set required data, or data.valid");
  attn::require_text(data.empty() ? "data.valid" : place + ".data", text(texts), texts);
  for (const auto& file : files()) {
    if (!std::filesystem::exists(file)) {
      throw DataError(place + ": " + file.string() + ": no such file");
    }
  }
}

ResampledSystem EvaluatorConfig::resampled(const std::filesystem::path& outputs,
                                           const DataConfig& texts) const {
  const std::vector<std::string> lines = read_lines(outputs);
  return std::visit(
      [&]<class Chosen>(const Chosen& chosen) -> ResampledSystem {
        if constexpr (requires { chosen.score_options(); }) {
          const std::vector<std::vector<std::string>> references = {
              read_lines(text_path(text(texts), texts.target))};
          const auto how = chosen.score_options();
          return resampled_text(corpus_statistics(lines, references, how), how);
        } else if constexpr (requires { &Chosen::params; }) {
          std::vector<ParseLine> gold;
          for (Tree& tree : read_trees(text(texts), tree_options(texts))) {
            gold.push_back({.trees = {as_parsed(std::move(tree))}, .malformed = ""});
          }
          return resampled_f1(score_parses(gold, parse_lines(lines, outputs.string()),
                                           read_evalb_parameters(chosen.params)));
        } else {
          return {};
        }
      },
      options);
}

std::vector<std::filesystem::path> EvaluatorConfig::files() const {
  return std::visit(
      [](const auto& chosen) -> std::vector<std::filesystem::path> {
        if constexpr (requires { chosen.files(); }) return chosen.files();
        return {};
      },
      options);
}

const EvaluatorConfig* deciding_evaluator(std::span<const EvaluatorConfig> evaluators) {
  for (const EvaluatorConfig& one : evaluators) {
    if (one.every > 0) return &one;
  }
  return nullptr;
}

std::string evaluation_key(const EvaluatorConfig& config, const DataConfig& data,
                           TextHashes& hashes) {
  std::vector<std::filesystem::path> files = text_files(data, config.text(data));
  for (auto& file : config.files()) files.push_back(std::move(file));
  return key_of(files, hashes);
}

}  // namespace attn
