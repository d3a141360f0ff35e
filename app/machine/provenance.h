// Provenance of a run for run.json: machine, program and command.
#pragma once

#include <string>

#include "app/machine/context.h"
#include "base/json_config.h"

namespace attn {

/// command, version, commit (with "+changes" when the tree had some), LibTorch, processor, threads,
/// host memory, date.
Json provenance(const Context& context);

}  // namespace attn
