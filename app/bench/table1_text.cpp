// The torch-free part of table1.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/bench/table1.h"
#include "base/format.h"

namespace attn {
namespace {

struct Formulas {
  const char *complexity, *sequential, *path;
};

// As in the paper's Table 1; d² of the projections of attention is left out there, too. Its path of
// O(log_k n) for convolutions is that of dilated ones, O(n / k) that of others (section 4).
Formulas formulas(const MixerConfig& mixer) {
  switch (mixer.kind) {
    case Mixer::attention:
      return {"O(n² d)", "O(1)", "O(1)"};
    case Mixer::restricted_attention:
      return {"O(r n d)", "O(1)", "O(n / r)"};
    case Mixer::convolution:
      return {"O(k n d²)", "O(1)", mixer.dilation > 1 ? "O(log n)" : "O(n / k)"};
    case Mixer::recurrence:
      return {"O(n d²)", "O(n)", "O(n)"};
    case Mixer::none:
      break;
  }
  return {"0", "0", "none"};
}

const Table1Point* find(const std::vector<Table1Point>& points, size_t type, int64_t length,
                        int64_t width) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Table1Point& point) {
    return point.type == type && point.length == length && point.width == width;
  });
  return found == points.end() ? nullptr : &*found;
}

std::string crossing_line(const std::vector<LayerType>& types,
                          const std::vector<Table1Point>& points, size_t recurrence,
                          int64_t width) {
  const double length = crossing(points, 0, recurrence, width);
  std::string where = format("for n < %.0f", length);
  if (length == 0) where = "at no measured length";
  if (std::isinf(length)) where = "at all measured lengths";
  return "- d = " + std::to_string(width) + ", " + types[recurrence].name + ": " + where + "\n";
}

}  // namespace

std::vector<LayerType> layer_types(const Table1Options& options) {
  const auto encoder = [](const MixerConfig& config) {
    return SideMixer{.config = config, .causal = false, .bidirectional = false};
  };
  std::vector<LayerType> types = {{"self-attention", encoder({.kind = Mixer::attention})}};
  for (const int64_t r : options.windows) {
    types.push_back({"restricted self-attention, r = " + std::to_string(r),
                     encoder({.kind = Mixer::restricted_attention, .window = r})});
  }
  for (const int64_t k : options.kernels) {
    types.push_back({"convolution, k = " + std::to_string(k),
                     encoder({.kind = Mixer::convolution, .kernel = k})});
  }
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    types.push_back({"recurrence, " + std::string(enum_name(cell)),
                     encoder({.kind = Mixer::recurrence, .cell = cell})});
  }
  return types;
}

TransformerConfig table1_model(const LayerType& type, int64_t width) {
  constexpr int64_t kHead = 64;
  TransformerConfig config;
  config.d_model = width;
  config.heads = std::max<int64_t>(1, width / kHead);
  config.d_k = config.d_v = width / config.heads;
  static_cast<MixerConfig&>(config.encoder_mixer) = type.mixer.config;
  config.encoder_mixer.bidirectional = type.mixer.bidirectional;
  config.validate();
  return config;
}

std::string table1_formulas(const Table1Options& options, const TransformerConfig& config,
                            int64_t length) {
  std::string text =
      format("For n = %lld, d = %lld, %lld heads:\n\n", static_cast<long long>(length),
             static_cast<long long>(config.d_model), static_cast<long long>(config.heads));
  text +=
      "| layer type | complexity | sequential operations | maximum path | million multiply-adds, "
      "with projections | sequential | path | parameters |\n"
      "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n";
  for (const LayerType& type : layer_types(options)) {
    const Formulas f = formulas(type.mixer.config);
    const auto path = path_length(type.mixer, length);
    text +=
        format("| %s | %s | %s | %s | %.3f | %lld | %s | %lld |\n", type.name.c_str(), f.complexity,
               f.sequential, f.path, mixer_products(config, type.mixer, length) / 1e6,
               static_cast<long long>(sequential_operations(type.mixer, length)),
               path ? std::to_string(*path).c_str() : "none",
               static_cast<long long>(mixer_parameters(config, type.mixer)));
  }
  return text;
}

std::string table1_times(const Table1Options& options, const std::vector<Table1Point>& points) {
  const std::vector<LayerType> types = layer_types(options);
  std::string text;
  for (const int64_t width : options.widths) {
    text += format("\nd = %lld, ms of one thread for %lld positions, forward / backward:\n\n",
                   static_cast<long long>(width), static_cast<long long>(options.tokens));
    std::string rule = "| --- |";
    text += "| layer type |";
    for (const int64_t length : options.lengths) {
      text += " n = " + std::to_string(length) + " |";
      rule += " ---: |";
    }
    text += "\n" + rule + "\n";
    for (size_t type = 0; type < types.size(); ++type) {
      text += "| " + types[type].name + " |";
      for (const int64_t length : options.lengths) {
        const Table1Point* point = find(points, type, length, width);
        text += point ? " " + significant(1e3 * point->forward, 3) + " / " +
                            significant(1e3 * point->backward, 3) + " |"
                      : std::string(" |");
      }
      text += "\n";
    }
  }
  text +=
      "\nSelf-attention is faster than recurrence, forward and backward together (the paper: for "
      "n < d):\n\n";
  for (const int64_t width : options.widths) {
    for (size_t type = 0; type < types.size(); ++type) {
      if (types[type].mixer.config.kind == Mixer::recurrence) {
        text += crossing_line(types, points, type, width);
      }
    }
  }
  return text;
}

double crossing(const std::vector<Table1Point>& points, size_t slow, size_t fast, int64_t width) {
  std::vector<std::pair<double, double>> ratios;  // length, log of slow / fast
  for (const Table1Point& point : points) {
    if (point.type != slow || point.width != width) continue;
    if (const Table1Point* other = find(points, fast, point.length, width)) {
      ratios.emplace_back(point.length, std::log(point.total() / other->total()));
    }
  }
  std::sort(ratios.begin(), ratios.end());
  for (size_t i = 0; i < ratios.size(); ++i) {
    const auto [length, ratio] = ratios[i];
    if (ratio <= 0) continue;
    if (i == 0) return 0.0;
    const auto [before, lower] = ratios[i - 1];
    const double share = -lower / (ratio - lower);
    return std::exp(std::log(before) + share * std::log(length / before));
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace attn
