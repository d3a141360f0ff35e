// What a run has recorded: result.json, its final results, which exist if and only if it is
// finished; run.json and metrics.jsonl; and in the last line of its log how it failed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/run_directory.h"
#include "base/json_config.h"
#include "report/results.h"
#include "train/config.h"

namespace attn {

class EncodedCorpus;
struct ModelConfig;
struct VocabularySizes;

/// Keys in run.json: processes with which the run was started, and threads of each; fp32 or bf16;
/// ClassRule::row_step of a run on a GPU.
inline constexpr const char* kProcesses = "processes";
inline constexpr const char* kThreads = "threads";
inline constexpr const char* kPrecision = "precision";
inline constexpr const char* kRowStep = "row_step";

/// What to do about a run that diverged: its loss or perplexity is not finite, or the latter is
/// more than 20,000 times that of a uniform guess.
inline constexpr const char* kDivergedRemedy =
    "train a new run (--run; in a sweep another row) with a lower train.learning_rate, a longer "
    "train.warmup or train.clip_norm";

/// Throws DataError.
void write_result(const RunDirectory& run, const RunResult& result);

/// std::nullopt if the run is not finished. Throws DataError for an invalid file.
std::optional<RunResult> read_result(const RunDirectory& run);

/// The result; std::nullopt if the run is not finished according to `config`: with early stopping a
/// run that reached the train.steps of its own config is, too, when `config` has more. Throws
/// DataError for an invalid file.
std::optional<RunResult> finished_result(const RunDirectory& run, const TrainConfig& config);

/// The content of RUN/run.json; an empty object if it does not exist. Throws DataError.
Json read_run_file(const RunDirectory& run);

/// "attention, norm": the fast paths that were off when a run was started, by its run.json, or
/// finished, because their formula was edited; "" for none.
std::string as_read(const Json& facts, const std::optional<RunResult>& result);

/// The number from 1 to `max` under `key` in the run.json of a run that has a checkpoint or a
/// result; std::nullopt if unknown. Throws ConfigError or DataError.
std::optional<int64_t> recorded(const RunDirectory& run, const char* key,
                                int64_t max = int64_t{1} << 40);

/// The number under `key` of a record; std::nullopt if missing or not finite (written as a string).
std::optional<double> number_at(const Json& record, const char* key);
/// The text under `key` of a record; "" if missing or of another type.
std::string text_at(const Json& record, const char* key);
/// The step of a record of metrics.jsonl; 0 if it has none that training can reach.
int64_t step_of(const Json& record);

/// The records of RUN/metrics.jsonl, oldest first; their "kind" is "train", "eval", "average",
/// "best" or "change". Incomplete or unknown lines are skipped. Empty without a file. Throws
/// DataError.
std::vector<Json> read_metrics(const RunDirectory& run);

/// Whether a record has the scores of an evaluator, its "name": kind "eval", "average" or "best".
bool has_scores(const Json& record);

/// The evaluators' results at `step`, from the metrics; of the average or the best if scored.
std::map<std::string, EvaluatorResult> results_at(const RunDirectory& run, int64_t step);

/// FLOPs of one epoch: three times forward_flops (model/size.h), summed over all pairs. The
/// backward pass computes two matrix products for each of the forward pass.
double epoch_flops(const EncodedCorpus& corpus, const ModelConfig& model,
                   const VocabularySizes& vocabulary);

/// The last line "attn: …" of a log, without "attn: ", from byte `begin` on, else the last line
/// with more than dashes (launchers print rules); "" if there is none.
std::string last_error(const std::filesystem::path& log, std::uintmax_t begin);

/// Appends "failed: WHY" to a log. Errors are ignored.
void log_failure(const std::filesystem::path& log, const std::string& why) noexcept;

/// Why a run failed, from its own log or, for a run of a sweep, from the log beside its directory
/// (seed-1.log), where the sweep records exits such as a kill by the out-of-memory killer.
/// std::nullopt if the run has not failed or was resumed.
std::optional<std::string> failure_of(const std::filesystem::path& run);

}  // namespace attn
