#include "app/sweep/row_costs.h"

#include "model/size.h"
#include "tests/support/catch.h"

using namespace attn;

namespace {

// A machine with a rate of 1e9 FLOP/s and a second of overhead for each row.
struct Machine {
  std::vector<double> flops;
  double clock = 0.0;
  std::vector<size_t> order = {};

  std::vector<std::optional<RowCost>> estimate(double budget) {
    CostSearch search{.budget = budget};
    search.measure = [&](size_t i) -> std::optional<StepBenchmark> {
      order.push_back(i);
      clock += 1 + 3 * flops[i] / 1e9;
      return StepBenchmark{.parameters = 1000,
                           .flops_per_update = 2 * flops[i],  // longer sentences than ours
                           .tokens_per_update = 500,
                           .flops_per_second = 1e9,
                           .seconds_per_update = 2 * flops[i] / 1e9,
                           .memory = 16'000 + 1e8,
                           .fixed_memory = 16'000};
    };
    search.seconds = [&] { return clock; };
    const std::vector<RowSize> sizes(flops.size(), {1000, 16});
    return estimate_costs(flops, sizes, search);
  }
};

}  // namespace

TEST_CASE("the cheapest row, the first and then the farthest in FLOPs are measured") {
  Machine machine{{1e10, 9e9, 2e9, 1e11, 3e10}};
  const auto costs = machine.estimate(0);
  CHECK(machine.order == std::vector<size_t>{2, 0, 3, 4, 1});
  for (const auto& cost : costs) CHECK_FALSE(cost->predicted);
}

TEST_CASE("rows that do not fit into the budget are predicted from FLOPs") {
  Machine machine{{1e10, 9e9, 2e9, 1e11, 3e10}};
  const auto costs = machine.estimate(75);
  CHECK(machine.clock <= 75);
  CHECK(machine.order == std::vector<size_t>{2, 0, 1});  // the dear ones would take too long
  for (size_t i = 0; i < costs.size(); ++i) {
    REQUIRE(costs[i].has_value());
    CHECK(costs[i]->predicted == (i == 3 || i == 4));
    CHECK(costs[i]->step.seconds_per_update == Approx(2 * machine.flops[i] / 1e9));
    CHECK(costs[i]->step.flops_per_update == Approx(2 * machine.flops[i]));
    CHECK(costs[i]->step.memory >= 1e8);
  }
}

TEST_CASE("the first row measured is measured whatever the budget") {
  Machine machine{{1e12, 1e12}};
  const auto costs = machine.estimate(1);
  CHECK(machine.order == std::vector<size_t>{0});
  CHECK(costs[1]->predicted);
}

TEST_CASE("the rate is interpolated between the neighbours in FLOPs") {
  const auto known = [](double flops, double rate) {
    return MeasuredCost{flops,
                        {.flops_per_update = flops,
                         .flops_per_second = rate,
                         .memory = 1e9 + 5e6,
                         .fixed_memory = 5e6}};
  };
  const std::vector<MeasuredCost> two = {known(1e10, 1e9), known(1e12, 4e9)};
  CHECK(predict_cost(1e11, {}, two).flops_per_second == Approx(2e9));
  CHECK(predict_cost(1e9, {}, two).flops_per_second == Approx(1e9));
  CHECK(predict_cost(1e13, {}, two).flops_per_second == Approx(4e9));
  // The memory of the batch is that of the measured rows, the rest the row's own.
  CHECK(predict_cost(1e11, {1'000'000, 12}, two).memory == Approx(1e9 + 12e6));
  CHECK(predict_cost(1e11, {1'000'000, 20}, two).fixed_memory == 20e6);
}

TEST_CASE("a predicted row has the parameters of the nearest measured vocabulary") {
  Experiment same, similar, different;
  for (Experiment* one : {&same, &similar, &different}) {
    one->model.get<TransformerConfig>().embedding_sharing = EmbeddingSharing::decoder;
  }
  similar.data.batch_tokens += 1;
  different.data.tokenizer = TokenizerKind::words;
  const auto measured = [](int64_t source) {
    return RowCost{StepBenchmark{
        .source_vocabulary = source, .target_vocabulary = 700, .source_features = 50}};
  };
  const auto nominal = [&](const Experiment& row) {
    return parameter_count(row.model, {32000, 32000});
  };
  const auto predicted = [&](const Experiment& row) {
    const double fixed = 16.0 * static_cast<double>(nominal(row));
    return RowCost{StepBenchmark{.parameters = nominal(row), .memory = 3e9, .fixed_memory = fixed},
                   true};
  };
  const std::vector<const Experiment*> rows = {&same, &similar, &same, &similar, &different};
  std::vector<std::optional<RowCost>> costs = {measured(900), measured(800), predicted(same),
                                               predicted(similar), predicted(different)};
  correct_parameters(rows, costs);
  CHECK(costs[2]->step.parameters == parameter_count(same.model, {900, 700, 50}));
  CHECK(costs[2]->step.memory == Approx(3e9 - 16.0 * (64000 - 1650) * 512));
  CHECK(costs[3]->step.parameters == parameter_count(same.model, {800, 700, 50}));
  CHECK(costs[4]->step.parameters == nominal(different));
  costs = {measured(900), std::nullopt, predicted(same), predicted(similar), std::nullopt};
  correct_parameters(rows, costs);
  CHECK(costs[3]->step.parameters == parameter_count(same.model, {900, 700, 50}));
}

TEST_CASE("an update's FLOPs follow the batch and the model") {
  Experiment base, wide;
  wide.model.get<TransformerConfig>().d_ff *= 2;
  Experiment twice = base;
  twice.train.accumulate = 2;
  CHECK(update_flops(wide, 32000) > update_flops(base, 32000));
  CHECK(update_flops(twice, 32000) == Approx(2 * update_flops(base, 32000)));
}

TEST_CASE("an evaluation costs its hypotheses: those of the beam, or the samples") {
  Experiment experiment;
  experiment.eval = {{.name = "test", .every = 0, .options = BleuEvaluation{}}};
  SearchConfig& search = *experiment.eval[0].search();
  const auto flops = [&] { return evaluation_flops(experiment, 32000, 25, 100); };
  search.beam = 1;
  const double one = flops();
  search.beam = 4;
  CHECK(flops() == Approx(4 * one));
  search.method = SearchMethod::sample;
  search.samples = 6;
  CHECK(flops() == Approx(6 * one));
}

TEST_CASE("an evaluation costs each time of its schedule, the last update and the average") {
  Experiment experiment;
  experiment.train.steps = 1000;
  experiment.eval = {{.name = "valid", .every = 0, .options = LossEvaluation{}}};
  const auto flops = [&](int64_t every, int64_t average_last) {
    experiment.eval[0].every = every;
    experiment.train.average_last = average_last;
    return evaluation_flops(experiment, 32000, 25, 100);
  };
  const double one = flops(0, 0);
  CHECK(flops(0, 5) == Approx(one));
  CHECK(flops(250, 0) == Approx(4 * one));
  CHECK(flops(250, 5) == Approx(5 * one));
  CHECK(flops(300, 0) == Approx(4 * one));
  CHECK(flops(300, 5) == Approx(5 * one));
}
