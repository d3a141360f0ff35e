// Places the labels of a plot so that they do not collide.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace attn {

struct Box {
  double x = 0.0, y = 0.0, width = 0.0, height = 0.0;
  /// Common area.
  double overlap(const Box& other) const;
};

/// Labels around points.
class PointLabels {
 public:
  explicit PointLabels(const Box& inside) : inside_(inside) {}

  /// Keeps labels away from a box.
  void block(const Box& box) { taken_.push_back(box); }

  /// A place for a label of this size beside (x, y), inside and clear of everything placed or
  /// blocked before; none if there is no room.
  std::optional<Box> place(double x, double y, double width, double height);

 private:
  bool is_free(const Box& box) const;

  Box inside_;
  std::vector<Box> taken_;
};

/// Centres of labels of this height in one column, as close to `wanted` as possible without
/// overlap, within [top, bottom] if they all fit. In the order of `wanted`.
std::vector<double> spread_labels(const std::vector<double>& wanted, double height, double top,
                                  double bottom);

}  // namespace attn
