// n-best lists in the format of Moses and Marian.
#pragma once

#include <cstddef>
#include <string>

#include "base/format.h"

namespace attn {

inline constexpr const char* kNbestListHelp =
    "n-best list in the format of Moses and Marian: sentence index (from 0) ||| hypothesis ||| "
    "logp= log-probability ||| score; without padding to nbest";

/// A line of the list: "0 ||| ein Hund ||| logp= -1.250000 ||| -0.830000".
inline std::string nbest_list_line(size_t sentence, const std::string& text, double log_prob,
                                   double score) {
  return format("%zu ||| ", sentence) + text + format(" ||| logp= %.6f ||| %.6f", log_prob, score);
}

}  // namespace attn
