// What of a model runs by fast paths, and what as it is read.
#pragma once

#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "model/seq2seq.h"
#include "train/fast_path_check.h"

namespace attn {

/// check_fast_paths(), once in this process for models of this config, then logs what runs as it is
/// read: fast paths that are off, and options that they do not compute. Throws ConfigError.
void check_and_report(Seq2SeqModel& model, const ModelConfig& config, const FastPathCheck& check,
                      const Log& log);

/// The value of kAsRead (run_result.h) for this process.
std::vector<std::string> paths_as_read();

}  // namespace attn
