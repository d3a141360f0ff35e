// n-best lists as Moses, Marian and rerankers read them.
#pragma once

#include <cstddef>
#include <string>

#include "base/format.h"

namespace attn {

inline constexpr const char* kNbestListHelp =
    "n-best list as Moses and Marian write it: sentence from 0 ||| hypothesis ||| logp= "
    "log-probability ||| score; only what search found";

/// "0 ||| ein Hund ||| logp= -1.250000 ||| -0.830000" of sentence 0.
inline std::string nbest_list_line(size_t sentence, const std::string& text, double log_prob,
                                   double score) {
  return format("%zu ||| ", sentence) + text + format(" ||| logp= %.6f ||| %.6f", log_prob, score);
}

}  // namespace attn
