// Which runs stand for other texts than those that are there now.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "data/text_hashes.h"

namespace attn {

/// Whether a run has anything that depends on its training text: a checkpoint or a result.
bool has_trained(const std::filesystem::path& run);

/// The texts of a run that has trained that are other ones now than when it read them, as
/// "data.train (corpus/train)": once it has finished as `now` says, evaluators' texts too.
std::vector<std::string> changed_texts(const std::filesystem::path& run, const Experiment& now,
                                       TextHashes& hashes);

}  // namespace attn
