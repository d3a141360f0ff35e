// Where a result comes from: what run.json says of the machine, the program and the command.
#pragma once

#include <string>

#include "app/machine/context.h"
#include "base/json_config.h"

namespace attn {

/// command, version, commit (with "+changes" when the tree had some), LibTorch, processor, threads,
/// host memory, date.
Json provenance(const Context& context);

}  // namespace attn
