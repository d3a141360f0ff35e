// The rows of Table 3 as configs, with the paper's parameter column and the closed form's exact
// value.
#pragma once

#include <string>
#include <vector>

#include "model/config.h"

namespace attn::testing {

/// The shared vocabulary at which every ablation row of the paper comes out within rounding.
inline const VocabularySizes kTable3Vocabulary{40960, 40960};

struct Table3Row {
  std::string name;
  TransformerConfig config;
  double expected_millions;  ///< at the vocabulary above, to a decimal
  double
      paper_millions;  ///< 0 where the paper leaves the cell empty or, for big, where nothing fits
};

inline std::vector<Table3Row> table3() {
  std::vector<Table3Row> rows;
  const auto row = [&](const char* name, double expected, double paper, auto change) {
    TransformerConfig config;
    change(config);
    rows.push_back({name, config, expected, paper});
  };
  const auto heads = [](int64_t h, int64_t d) {
    return [=](TransformerConfig& c) { c.heads = h, c.d_k = d, c.d_v = d; };
  };
  row("base", 65.1, 65, [](TransformerConfig&) {});
  row("A1", 65.1, 0, heads(1, 512));
  row("A2", 65.1, 0, heads(4, 128));
  row("A3", 65.1, 0, heads(16, 32));
  row("A4", 65.1, 0, heads(32, 16));
  row("B1", 58.0, 58, [](TransformerConfig& c) { c.d_k = 16; });
  row("B2", 60.4, 60, [](TransformerConfig& c) { c.d_k = 32; });
  row("C1", 35.7, 36, [](TransformerConfig& c) { c.layers = 2; });
  row("C2", 50.4, 50, [](TransformerConfig& c) { c.layers = 4; });
  row("C3", 79.8, 80, [](TransformerConfig& c) { c.layers = 8; });
  row("C4", 27.8, 28, [](TransformerConfig& c) { c.d_model = 256, c.d_k = 32, c.d_v = 32; });
  row("C5", 167.9, 168, [](TransformerConfig& c) { c.d_model = 1024, c.d_k = 128, c.d_v = 128; });
  row("C6", 52.5, 53, [](TransformerConfig& c) { c.d_ff = 1024; });
  row("C7", 90.3, 90, [](TransformerConfig& c) { c.d_ff = 4096; });
  row("D1", 65.1, 0, [](TransformerConfig& c) { c.dropout = 0.0; });
  row("D2", 65.1, 0, [](TransformerConfig& c) { c.dropout = 0.2; });
  row("D3", 65.1, 0, [](TransformerConfig&) {});  // D3 and D4 change label smoothing alone
  row("D4", 65.1, 0, [](TransformerConfig&) {});
  row("E", 66.2, 0, [](TransformerConfig& c) { c.position = Position::learned; });
  row("big", 218.3, 0,
      [](TransformerConfig& c) { c.d_model = 1024, c.d_ff = 4096, c.heads = 16, c.dropout = 0.3; });
  return rows;
}

}  // namespace attn::testing
