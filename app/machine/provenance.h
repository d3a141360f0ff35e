// Provenance of a run for run.json: machine, program and command.
#pragma once

#include <string>

#include "app/machine/context.h"
#include "base/json_config.h"

namespace attn {

/// JSON object with command, version, commit (plus "+changes" for uncommitted changes), LibTorch,
/// processor, instruction set of the kernels, threads, host memory, device, GPUs and date.
Json provenance(const Context& context);

}  // namespace attn
