#include "eval/search/prefix_constraint.h"

#include <utility>

namespace attn {

PrefixConstraint::PrefixConstraint(std::vector<std::vector<int32_t>> prefixes, int64_t classes)
    : prefixes_(std::move(prefixes)),
      forced_(prefixes_.size(), TokenMask(static_cast<size_t>((classes + 63) / 64), 0)),
      all_(static_cast<size_t>((classes + 63) / 64), ~uint64_t{0}) {}

std::span<const uint64_t* const> PrefixConstraint::step(std::span<const int64_t> /*parents*/,
                                                        std::span<const int32_t> /*tokens*/,
                                                        std::span<const int64_t> sentences) {
  const auto word_of = [&](size_t sentence, size_t i) -> uint64_t& {
    return forced_[sentence][static_cast<size_t>(prefixes_[sentence][i]) / 64];
  };
  for (size_t sentence = 0; sentence < prefixes_.size(); ++sentence) {
    const std::vector<int32_t>& prefix = prefixes_[sentence];
    if (length_ > 0 && length_ <= prefix.size()) word_of(sentence, length_ - 1) = 0;
    if (length_ < prefix.size()) {
      word_of(sentence, length_) = uint64_t{1} << (static_cast<size_t>(prefix[length_]) % 64);
    }
  }
  rows_.clear();
  for (const int64_t row : sentences) {
    const auto sentence = static_cast<size_t>(row);
    rows_.push_back(length_ < prefixes_[sentence].size() ? forced_[sentence].data() : all_.data());
  }
  ++length_;
  return rows_;
}

}  // namespace attn
