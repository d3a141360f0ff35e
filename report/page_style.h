// The style sheet of report pages.
#pragma once

namespace attn {

/// CSS without external resources: light and dark (prefers-color-scheme), wide and narrow, and for
/// print. Its variables are the colours of drawings (report/svg.h).
extern const char* const kPageStyle;

}  // namespace attn
