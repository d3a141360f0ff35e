// Prepares the directory of a sweep before the first run starts: plan, vocabularies and configs.
//
//   SWEEP/sweep.json            the resolved plan, for the report
//   SWEEP/vocabulary/HASH/      tokenizers, one set per combination of text and tokenizer options
//   SWEEP/cache/                encoded corpora and hashes of the texts, safe to delete
//   SWEEP/ROW/seed-1.json       config of one run
//   SWEEP/ROW/seed-1.log        its output
//   SWEEP/ROW/seed-1/           its run directory
#pragma once

#include <filesystem>

#include "app/sweep/plan.h"
#include "data/tokenizer.h"

namespace attn {

/// Key in sweep.json: the path of the sweep file from the sweep directory, wherever the command was
/// started.
inline constexpr const char* kSourceFromHere = "source_from_here";

/// The config file and the log of a run.
std::filesystem::path run_config(const PlannedRun& run);
std::filesystem::path run_log(const PlannedRun& run);

/// The file that caches the hashes of a sweep's texts (TextHashes).
std::filesystem::path hash_cache_file(const std::filesystem::path& sweep);

/// Creates all of the above except logs and runs, trains the missing tokenizers and sets their
/// paths in the runs' configs. Throws ConfigError and DataError: see make_tokenizers.
void prepare_sweep(SweepPlan& plan, const Log& log);

}  // namespace attn
