// One translation of a sentence.
#pragma once

#include <string>

namespace attn {

struct Translation {
  std::string text;
  double score = 0.0;  ///< length-penalized log-probability, or with search.mbr expected utility
  double log_prob = 0.0;
  bool finished = false;  ///< false: truncated at the length limit
};

}  // namespace attn
