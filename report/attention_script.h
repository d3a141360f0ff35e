// The style and the script of the attention page.
#pragma once

namespace attn {

extern const char* const kAttentionStyle;
extern const char* const kAttentionScript;

}  // namespace attn
