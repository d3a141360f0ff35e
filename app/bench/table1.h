// Table 1 of the paper, measured: what the layer types cost by sentence length and width.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/precision.h"
#include "model/transformer/mixer_cost.h"

namespace attn {

struct Table1Options {
  std::vector<int64_t> lengths = {16, 64, 256, 1024, 4096};
  std::vector<int64_t> widths = {64, 128, 256, 512, 1024};
  std::vector<int64_t> windows = {16, 64, 256};  ///< windows of restricted self-attention
  std::vector<int64_t> kernels = {3};            ///< kernel widths of convolutions
  int64_t tokens = 4096;                         ///< positions of a batch of equal sentences
  double seconds = 0.3;                          ///< measurement time per point
};

/// A row of Table 1 at one sentence length and width, with heads of 64 dimensions.
struct Table1Point {
  std::string layer;
  SideMixer mixer;  ///< the encoder's, with recurrences in one direction
  int64_t length, width;
  double forward = 0.0, backward = 0.0;  ///< CPU seconds of one thread for a batch
};

/// The points to measure: all layer types at all lengths and widths.
std::vector<Table1Point> table1_points(const Table1Options& options);

/// The Transformer of a point: heads of 64 dimensions, or a single narrower one.
TransformerConfig table1_model(const Table1Point& point);

/// Times the points on one thread, as training does, which gives each thread whole sentences:
/// medians of CPU time, so that other processes matter less. `done` counts the measured points;
/// other threads may read it.
void measure_table1(const Table1Options& options, Precision precision,
                    std::vector<Table1Point>& points, std::atomic<int64_t>& done);

}  // namespace attn
