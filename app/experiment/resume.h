// What a run is resumed from, and what may differ: options of the config, and its texts.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/run_directory.h"
#include "base/json_config.h"
#include "data/text_hashes.h"
#include "train/checkpoint_store.h"

namespace attn {

/// Paths of differences that change the updates, so that the run cannot be resumed with `now`.
std::vector<std::string> resume_conflicts(const Experiment& before, const Experiment& now);

/// Paths of differences that change the results of a finished run, including evaluation.
std::vector<std::string> result_conflicts(const Experiment& before, const Experiment& now);

/// Whether an option, by its path, is one of the scores alone: a finished run can be scored again.
bool is_scoring(std::string_view path);

/// The options that decide which weights a run trains, as JSON: without those of search, evaluation
/// and the averaged checkpoints, unless early stopping depends on them.
std::string training_text(const Experiment& experiment);

/// Throws ConfigError if the run's config, `before`, differs from `now` in an option that changes
/// the updates and is not among `changes`. Its tokenizers may differ before the first
/// checkpoint. Its texts may have moved: another training text is refused later, by its hash, and
/// another validation text restarts the choice of the best checkpoint.
void require_resumable(const std::filesystem::path& run, const Experiment& before,
                       const Experiment& now, std::span<const Assignment> changes = {});

/// The options that may change from one update to the next, by `attn train --resume --change`.
inline constexpr std::string_view kChangeable[] = {
    "train.learning_rate", "train.learning_rate_scale", "train.warmup", "train.clip_norm",
    "train.accumulate",    "data.batch_tokens",         "train.steps"};

/// Throws ConfigError for an assignment to another option.
void require_changeable(std::span<const Assignment> changes);

/// The changes of those options, as in the metrics: [{"step", "option", "before", "after"}].
Json changes_at(int64_t step, const Experiment& before, const Experiment& now);

/// Paths in which the config of a trained run differs from its sweep row: result_conflicts if the
/// run has finished, else resume_conflicts. Ignores the seed, and tokenizers that the row does not
/// set (the sweep fills them in). `change`: the content of RUN/change.txt, by which the row's
/// program differs from the sweep's; "diff or binary" if the run has another.
std::vector<std::string> row_conflicts(const RunDirectory& run, Experiment row,
                                       const std::string& change = "");

/// Paths ("model.heads", "eval[1].every") of the options that differ, without "about", in the order
/// of `before`, as write_resolved has them. Arrays of different lengths differ as a whole. Options
/// that only one experiment has, because a tag differs, are listed if `after` has them with a value
/// other than the default.
std::vector<std::string> changed_paths(const Experiment& before, const Experiment& after);

/// The JSON text of every value, by path; of arrays also as a whole.
std::map<std::string, std::string> values_by_path(const Json& config);

/// " (80 instead of 60)": the values of one of the paths as JSON; empty if a config lacks it.
std::string difference_text(const std::string& path, const Json& before, const Json& after);

struct ChangedTexts {
  std::vector<std::string> trained, scored;  // "data.train (corpus/train)", "evaluator valid (…)"
};

/// The texts that have changed since a trained run read them; those of evaluators if the run is
/// finished according to `now`.
ChangedTexts changed_texts(const RunDirectory& run, const Experiment& now, TextHashes& hashes);

/// The newest checkpoint whose files are whole and have their checksums; std::nullopt before the
/// first. Throws DataError if none of the checkpoints is valid, or if a run with a result has none.
std::optional<StoredCheckpoint> checkpoint_to_resume(const RunDirectory& run);

}  // namespace attn
