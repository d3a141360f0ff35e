// Detects texts that have changed since a run read them.
#pragma once

#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/run_directory.h"
#include "data/text_hashes.h"

namespace attn {

/// The texts that have changed since a trained run read them, as "data.train (corpus/train)". For a
/// run that is finished according to `now`, evaluators' texts are checked, too.
std::vector<std::string> changed_texts(const RunDirectory& run, const Experiment& now,
                                       TextHashes& hashes);

}  // namespace attn
