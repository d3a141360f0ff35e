#include "app/sweep/costs.h"

#include "tests/support/catch.h"

using namespace attn;

TEST_CASE("a row costs as much as the measured one by its FLOPs and parameters") {
  Experiment base;
  base.eval.clear();
  const int64_t parameters = parameter_count(base.model, {900, 700});
  const double fixed = static_cast<double>(parameters * base.train.bytes_per_parameter());
  const StepBenchmark step{.parameters = parameters,
                           .source_vocabulary = 900,
                           .target_vocabulary = 700,
                           .flops_per_update = 2e9,
                           .tokens_per_pair = 20,
                           .flops_per_second = 1e9,
                           .memory = fixed + 1e9,
                           .fixed_memory = fixed};
  const double steps = static_cast<double>(base.train.steps);
  const RowCost same = scaled_cost(base, base, step);
  CHECK(same.parameters == parameters);
  CHECK(same.flops == Approx(2e9 * steps));
  CHECK(same.seconds == Approx(2 * steps));
  CHECK(same.memory == Approx(fixed + 1e9));

  Experiment four = base;  // batches of four times as many tokens
  four.data.batch_tokens *= 4;
  CHECK(scaled_cost(four, base, step).seconds == Approx(8 * steps));
  CHECK(scaled_cost(four, base, step).memory == Approx(fixed + 2e9));

  Experiment words = base;
  words.data.tokenizer = TokenizerKind::words;
  CHECK(scaled_cost(words, base, step).parameters ==
        parameter_count(base.model, {words.data.vocab_size, words.data.vocab_size}));

  Experiment evaluated = base;
  evaluated.eval = {{.name = "valid", .every = 0, .options = LossEvaluation{}}};
  CHECK(scaled_cost(evaluated, base, step).seconds > same.seconds);
}

TEST_CASE("an update's FLOPs follow the batch and the model") {
  Experiment base, wide;
  wide.model.get<TransformerConfig>().d_ff *= 2;
  Experiment twice = base;
  twice.train.accumulate = 2;
  CHECK(update_flops(wide, {32000, 32000}) > update_flops(base, {32000, 32000}));
  CHECK(update_flops(twice, {32000, 32000}) == Approx(2 * update_flops(base, {32000, 32000})));
}

TEST_CASE("an evaluation costs its hypotheses: those of the beam, or the samples") {
  Experiment experiment;
  experiment.eval = {{.name = "test", .every = 0, .options = BleuEvaluation{}}};
  SearchConfig& search = *experiment.eval[0].search();
  const auto flops = [&] { return evaluation_flops(experiment, {32000, 32000}, 25, 100); };
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
    return evaluation_flops(experiment, {32000, 32000}, 25, 100);
  };
  const double one = flops(0, 0);
  CHECK(flops(0, 5) == Approx(one));
  CHECK(flops(250, 0) == Approx(4 * one));
  CHECK(flops(250, 5) == Approx(5 * one));
  CHECK(flops(300, 0) == Approx(4 * one));
  CHECK(flops(300, 5) == Approx(5 * one));
}
