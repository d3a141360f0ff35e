#include "app/sweep/row_costs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "model/size.h"

namespace attn {
namespace {

constexpr int64_t kTokens = 25;    // tokens per sentence
constexpr double kTraining = 3.0;  // FLOPs of an update / FLOPs of its forward pass

double distance(double a, double b) {
  return std::abs(std::log(a) - std::log(b));
}

// The memory that depends on the batch, in bytes; always positive.
double moving_memory(const StepBenchmark& step) {
  return std::max(step.memory - step.fixed_memory, 1e6);
}

}  // namespace

double update_flops(const Experiment& experiment, int64_t vocabulary) {
  const VocabularySizes sizes{vocabulary, vocabulary};
  const double pairs = static_cast<double>(experiment.data.batch_tokens) / kTokens *
                       static_cast<double>(experiment.train.accumulate);
  return kTraining * pairs * forward_flops(experiment.model, sizes, {kTokens, kTokens});
}

double evaluation_flops(const Experiment& experiment, int64_t vocabulary, double tokens_per_line,
                        int64_t default_lines) {
  constexpr double kLossPasses = 2.0;  // measured beside training, as are the passes of a search
  const VocabularySizes sizes{vocabulary, vocabulary};
  const auto tokens = std::max<int64_t>(std::llround(tokens_per_line), 1);
  const double line = forward_flops(experiment.model, sizes, {tokens, tokens});
  double flops = 0.0;
  for (const EvaluatorConfig& evaluator : experiment.eval) {
    const auto path = text_files(experiment.data, evaluator.text(experiment.data)).back();
    const auto lines = std::filesystem::is_regular_file(path)
                           ? static_cast<int64_t>(read_lines(path).size())
                           : default_lines;
    const auto count = static_cast<double>(lines);
    const SearchConfig* search = evaluator.search();
    const double passes = search ? static_cast<double>(search->hypotheses()) : kLossPasses;
    // On schedule and after the last update; the averaged weights, or without a schedule, once.
    const int64_t every = evaluator.every, steps = experiment.train.steps;
    const int64_t scheduled = every > 0 ? (steps + every - 1) / every : 0;
    const int64_t times = scheduled + (every == 0 || experiment.train.average_last > 0 ? 1 : 0);
    flops += static_cast<double>(times) * count * passes * line;
  }
  return flops;
}

StepBenchmark predict_cost(double flops, const RowSize& size, std::span<const MeasuredCost> known) {
  const MeasuredCost *below = nullptr, *above = nullptr;
  for (const MeasuredCost& one : known) {
    if (one.update_flops <= flops && (!below || one.update_flops > below->update_flops)) {
      below = &one;
    }
    if (one.update_flops >= flops && (!above || one.update_flops < above->update_flops)) {
      above = &one;
    }
  }
  if (!below) below = above;
  if (!above) above = below;
  const double span = distance(above->update_flops, below->update_flops);
  const double part = span > 0 ? distance(flops, below->update_flops) / span : 0.0;
  const auto between = [&](double low, double high) {
    return std::exp((1 - part) * std::log(low) + part * std::log(high));
  };
  const MeasuredCost& near = part < 0.5 ? *below : *above;
  const double ratio = flops / near.update_flops;
  StepBenchmark out = near.step;
  out.parameters = size.parameters;
  out.flops_per_update = near.step.flops_per_update * ratio;
  out.flops_per_second = between(below->step.flops_per_second, above->step.flops_per_second);
  out.seconds_per_update = out.flops_per_update / out.flops_per_second;
  out.tokens_per_second = out.tokens_per_update / out.seconds_per_update;
  double moving = between(moving_memory(below->step), moving_memory(above->step));
  if (span == 0)
    moving *= std::sqrt(ratio);  // activations grow with the width, FLOPs with its square
  out.fixed_memory = static_cast<double>(size.parameters * size.bytes_per_parameter);
  out.memory = out.fixed_memory + moving;
  out.updates_measured = 0;
  return out;
}

std::optional<size_t> next_to_measure(std::span<const double> flops,
                                      const std::vector<bool>& measured) {
  if (flops.empty()) return {};
  if (std::none_of(measured.begin(), measured.end(), [](bool is) { return is; })) {
    return static_cast<size_t>(std::min_element(flops.begin(), flops.end()) - flops.begin());
  }
  if (!measured.front()) return 0;
  std::optional<size_t> farthest;
  double far = -1.0;
  for (size_t i = 0; i < flops.size(); ++i) {
    if (measured[i]) continue;
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < flops.size(); ++j) {
      if (measured[j]) nearest = std::min(nearest, distance(flops[i], flops[j]));
    }
    if (nearest > far) {
      far = nearest;
      farthest = i;
    }
  }
  return farthest;
}

std::vector<std::optional<RowCost>> estimate_costs(std::span<const double> flops,
                                                   std::span<const RowSize> sizes,
                                                   const CostSearch& search) {
  std::vector<std::optional<RowCost>> costs(flops.size());
  std::vector<bool> tried(flops.size(), false), failed(flops.size(), false);
  std::vector<MeasuredCost> known;
  double dearest = 0.0, dearest_flops = 0.0;  // seconds of the longest measurement
  while (const auto next = next_to_measure(flops, tried)) {
    tried[*next] = true;
    const double begin = search.seconds();
    const double expected =
        dearest * std::max(1.0, dearest_flops > 0 ? flops[*next] / dearest_flops : 1.0);
    if (search.budget > 0 && begin + expected > search.budget) continue;  // a cheaper one may fit
    if (auto step = search.measure(*next)) {
      known.push_back({flops[*next], *step});
      costs[*next] = {std::move(*step)};
    } else {
      failed[*next] = true;
    }
    if (const double spent = search.seconds() - begin; spent > dearest) {
      dearest = spent;
      dearest_flops = flops[*next];
    }
  }
  for (size_t i = 0; i < costs.size() && !known.empty(); ++i) {
    if (costs[i] || failed[i]) continue;
    costs[i] = RowCost{predict_cost(flops[i], sizes[i], known), true};
  }
  return costs;
}

void correct_parameters(std::span<const Experiment* const> rows,
                        std::span<std::optional<RowCost>> costs) {
  const auto similarity = [](const DataConfig& a, const DataConfig& b) {
    if (a == b) return 2;
    return a.task == b.task && a.tokenizer == b.tokenizer &&
                   a.shared_vocabulary == b.shared_vocabulary
               ? 1
               : 0;
  };
  for (size_t i = 0; i < costs.size(); ++i) {
    if (!costs[i] || !costs[i]->predicted) continue;
    const StepBenchmark* nearest = nullptr;
    int best = 0;
    for (size_t j = 0; j < costs.size(); ++j) {
      if (!costs[j] || costs[j]->predicted) continue;
      const int now = similarity(rows[i]->data, rows[j]->data);
      if (now > best) best = now, nearest = &costs[j]->step;
    }
    if (!nearest) continue;
    const VocabularySizes sizes{nearest->source_vocabulary, nearest->target_vocabulary,
                                nearest->source_features};
    StepBenchmark& step = costs[i]->step;
    const int64_t parameters = parameter_count(rows[i]->model, sizes);
    const double fixed = static_cast<double>(parameters * rows[i]->train.bytes_per_parameter());
    step.memory += fixed - step.fixed_memory;
    step.fixed_memory = fixed;
    step.parameters = parameters;
  }
}

}  // namespace attn
