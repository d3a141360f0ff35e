// n-best lists in the format of Moses and Marian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

inline constexpr const char* kNbestListHelp =
    "n-best list in the format of Moses and Marian: sentence index (from 0) ||| hypothesis ||| "
    "logp= log-probability ||| score; lists shorter than nbest are not padded";

/// A line of the list: "0 ||| ein Hund ||| logp= -1.250000 ||| -0.830000".
std::string nbest_list_line(size_t sentence, const std::string& text, double log_prob,
                            double score);

struct NbestEntry {
  int64_t sentence;       ///< from 0
  std::string_view text;  ///< part of the line
  double log_prob;        ///< finite
};

/// Whether a line has columns, as in an n-best list.
bool has_nbest_columns(std::string_view line);
/// Reads a line that nbest_list_line wrote; std::nullopt if it has another form.
std::optional<NbestEntry> read_nbest_line(std::string_view line);

}  // namespace attn
