// Detects texts that have changed since a run used them.
#pragma once

#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/run_directory.h"
#include "data/text_hashes.h"

namespace attn {

/// The texts of a run that has trained that are other ones now than when it read them, as
/// "data.train (corpus/train)": once it has finished as `now` says, evaluators' texts too.
std::vector<std::string> changed_texts(const RunDirectory& run, const Experiment& now,
                                       TextHashes& hashes);

}  // namespace attn
