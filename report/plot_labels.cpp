#include "report/plot_labels.h"

#include <algorithm>
#include <numeric>

namespace attn {

double Box::overlap(const Box& other) const {
  const double w = std::min(x + width, other.x + other.width) - std::max(x, other.x);
  const double h = std::min(y + height, other.y + other.height) - std::max(y, other.y);
  return w > 0 && h > 0 ? w * h : 0;
}

bool PointLabels::is_free(const Box& box) const {
  constexpr double kRounding = 1e-6;
  if (box.overlap(inside_) < box.width * box.height - kRounding) return false;
  return std::all_of(taken_.begin(), taken_.end(),
                     [&](const Box& other) { return box.overlap(other) <= 0; });
}

std::optional<Box> PointLabels::place(double x, double y, double width, double height) {
  for (const double distance : {7.0, 11.0, 16.0}) {
    const double right = x + distance, left = x - distance - width;
    const double above = y - distance - height, below = y + distance;
    const double middle = y - height / 2, over = x - width / 2;
    for (const Box& box : {Box{right, middle, width, height}, Box{left, middle, width, height},
                           Box{over, above, width, height}, Box{over, below, width, height},
                           Box{right, above + height / 2, width, height},
                           Box{right, below - height / 2, width, height},
                           Box{left, above + height / 2, width, height},
                           Box{left, below - height / 2, width, height}}) {
      if (!is_free(box)) continue;
      taken_.push_back(box);
      return box;
    }
  }
  return {};
}

std::vector<double> spread_labels(const std::vector<double>& wanted, double height, double top,
                                  double bottom) {
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
  // Blocks of adjacent labels, each around the mean of what its labels want.
  struct Block {
    double sum = 0.0;  // sum of the wanted centres less their offsets in the block
    size_t first = 0, count = 0;
    double start = 0.0;  // centre of its first label
  };
  std::vector<Block> blocks;
  for (size_t k = 0; k < order.size(); ++k) {
    blocks.push_back({.sum = wanted[order[k]], .first = k, .count = 1});
    while (true) {
      Block& last = blocks.back();
      const auto count = static_cast<double>(last.count);
      const double lowest = bottom - height / 2 - (count - 1) * height;
      last.start = std::max(std::min(last.sum / count, lowest), top + height / 2);
      if (blocks.size() < 2) break;
      Block& before = blocks[blocks.size() - 2];
      const double size = static_cast<double>(before.count) * height;
      if (before.start + size <= last.start) break;
      before.sum += last.sum - count * size;
      before.count += last.count;
      blocks.pop_back();
    }
  }
  std::vector<double> places(wanted.size());
  for (const Block& block : blocks) {
    for (size_t k = 0; k < block.count; ++k) {
      places[order[block.first + k]] = block.start + static_cast<double>(k) * height;
    }
  }
  return places;
}

}  // namespace attn
