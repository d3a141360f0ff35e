#pragma once

namespace attn::testing {

/// The root of the source tree. Compiled once, in source_dir.cpp: an absolute path in every test's
/// command line would keep ccache from serving one clone with what another one compiled.
extern const char* const kSourceDir;

}  // namespace attn::testing
