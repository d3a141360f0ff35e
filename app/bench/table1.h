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

/// A row of Table 1.
struct LayerType {
  std::string name;
  SideMixer mixer;
};

/// The rows to measure: the forms of the encoder, with recurrences in one direction.
std::vector<LayerType> layer_types(const Table1Options& options);

/// The Transformer of a point: heads of width 64, or a single narrower one.
TransformerConfig table1_model(const LayerType& type, int64_t width);

/// A measured point. Times are CPU seconds of one thread for a batch.
struct Table1Point {
  size_t type;  ///< index into layer_types
  int64_t length, width;
  double forward, backward;

  double total() const { return forward + backward; }
};

/// Times every layer type at every length and width on one thread, as training does, which gives
/// each thread whole sentences; medians of CPU time, so that other processes matter less.
/// `done` counts the points; other threads may read it.
std::vector<Table1Point> benchmark_table1(const Table1Options& options, Precision precision,
                                          std::atomic<int64_t>& done);
int64_t table1_points(const Table1Options& options);

/// The formulas, with their values for sentences of `length` in the model of `config`.
std::string table1_formulas(const Table1Options& options, const TransformerConfig& config,
                            int64_t length);
/// The times, a table for each width, and where self-attention is faster than recurrence.
std::string table1_times(const Table1Options& options, const std::vector<Table1Point>& points);

/// The sentence length from which layer type `slow` is slower than layer type `fast` at a width:
/// the first measured crossing, interpolated between its neighbours on logarithmic axes. 0: already
/// at the shortest; infinity: at no measured length.
double crossing(const std::vector<Table1Point>& points, size_t slow, size_t fast, int64_t width);

}  // namespace attn
