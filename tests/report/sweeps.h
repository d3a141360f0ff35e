// Results of small sweeps for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/results.h"

namespace attn::testing {

inline RunRecord run(int64_t seed, double ppl, double bleu) {
  RunRecord record;
  record.name = "row/seed-" + std::to_string(seed);
  record.seed = seed;
  record.state = RunState::finished;
  record.scores[Metric::loss] = ppl;
  record.scores[Metric::bleu] = bleu;
  record.result = {.parameters = 1'000'000, .seconds = 60, .flops = 6e12, .peak_flops = 2e11};
  record.curve = {{100, "valid", kCheckpoint, "ppl", 2 * ppl},
                  {200, "valid", kCheckpoint, "ppl", ppl}};
  return record;
}

inline RowRecord row(const std::string& name, double paper_ppl, double paper_bleu,
                     std::vector<RunRecord> runs) {
  RowRecord out;
  out.name = name;
  out.paper.scores[Metric::loss] = paper_ppl;
  out.paper.scores[Metric::bleu] = paper_bleu;
  out.values = {{"model.heads", "8"}, {"model.d_k", "64"}, {"model.position", "\"sinusoidal\""}};
  out.runs = std::move(runs);
  return out;
}

inline SweepResults sweep(std::vector<RowRecord> rows) {
  SweepResults results;
  results.title = "a sweep";
  results.evaluators[Metric::loss] = "valid";
  results.evaluators[Metric::bleu] = "test";
  results.rows = std::move(rows);
  return results;
}

}  // namespace attn::testing
