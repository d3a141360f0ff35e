// What a sweep's runs share, made once before the first one starts: its folder, its plan, its
// vocabularies.
//
//   SWEEP/sweep.json            the resolved plan: what a report needs to know
//   SWEEP/vocabulary/HASH/      tokenizers, one for each text and way of cutting it that rows use
//   SWEEP/cache/                encoded corpora and texts' hashes, safe to delete
//   SWEEP/ROW/seed-1.json       the config of one run
//   SWEEP/ROW/seed-1.log        what it printed
//   SWEEP/ROW/seed-1/           the run
#pragma once

#include <filesystem>

#include "app/sweep/plan.h"
#include "data/tokenizer.h"

namespace attn {

/// The config file and the log of a run.
std::filesystem::path run_config(const PlannedRun& run);
std::filesystem::path run_log(const PlannedRun& run);

/// Where the hashes of a sweep's texts are kept (TextHashes).
std::filesystem::path kept_hashes(const std::filesystem::path& sweep);

/// Makes all of the above but the runs, learning the vocabularies that are not there yet, and
/// points the runs' configs to them. Throws ConfigError and DataError: see make_tokenizers.
void prepare_sweep(SweepPlan& plan, const Log& log);

}  // namespace attn
