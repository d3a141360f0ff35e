#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "base/file.h"
#include "base/json_config.h"
#include "base/random.h"
#include "report/comparison.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/table.h"
#include "tests/support/catch.h"
#include "tests/support/source_dir.h"

using namespace attn;
using testing::contains;

namespace {

RunRecord run(int64_t seed, double ppl, double bleu) {
  RunRecord record;
  record.name = "row/seed-" + std::to_string(seed);
  record.seed = seed;
  record.finished = true;
  record.figures[Metric::loss] = ppl;
  record.figures[Metric::bleu] = bleu;
  record.parameters = 1'000'000;
  record.seconds = 60;
  record.flops = 6e12;
  record.peak_flops = 2e11;
  record.curve = {{100, 2 * ppl}, {200, ppl}};
  return record;
}

RowRecord row(const std::string& name, double paper_ppl, double paper_bleu,
              std::vector<RunRecord> runs) {
  RowRecord out;
  out.name = name;
  out.paper.figures[Metric::loss] = paper_ppl;
  out.paper.figures[Metric::bleu] = paper_bleu;
  out.values = {{"model.heads", "8"}, {"model.d_k", "64"}, {"model.position", "\"sinusoidal\""}};
  out.runs = std::move(runs);
  return out;
}

SweepResults sweep(std::vector<RowRecord> rows) {
  SweepResults results;
  results.title = "a sweep";
  results.evaluators[Metric::loss] = "valid";
  results.evaluators[Metric::bleu] = "test";
  results.rows = std::move(rows);
  return results;
}

// Sentences of four words, of which a share of the sentences is right.
std::vector<BleuStatistics> sentences(size_t right, size_t all = 400) {
  std::vector<BleuStatistics> out(all);
  for (size_t i = 0; i < all; ++i) {
    out[i].totals = {6, 5, 4, 3};
    out[i].hyp_length = out[i].ref_length = 6;
    if (i * right / all != (i + 1) * right / all) out[i].counts = {6, 5, 4, 3};
  }
  return out;
}

// Runs whose perplexities are drawn from one normal distribution (Box and Muller's transform).
std::vector<RunRecord> draws(int64_t count, Random& random) {
  std::vector<RunRecord> runs;
  for (int64_t seed = 1; seed <= count; ++seed) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    runs.push_back(run(seed, 10 + radius * std::cos(2 * std::numbers::pi * random.uniform()), 0));
  }
  return runs;
}

// How often a row is called significantly different though nothing sets it apart.
double false_positives(int64_t of_base, int64_t of_row) {
  constexpr int kSweeps = 20'000;
  Random random(static_cast<uint64_t>(100 * of_base + of_row));
  int significant = 0;
  for (int i = 0; i < kSweeps; ++i) {
    const auto results = sweep(
        {row("base", 0, 0, draws(of_base, random)), row("same", 0, 0, draws(of_row, random))});
    significant += compare(results)[1].differences[Metric::loss].significant;
  }
  return static_cast<double>(significant) / kSweeps;
}

}  // namespace

TEST_CASE("mean and sample standard deviation over seeds") {
  CHECK(!seed_mean({}));
  const std::vector<double> one = {3.0}, three = {1.0, 2.0, 6.0};
  CHECK(seed_mean(one)->mean == 3.0);
  CHECK(!seed_mean(one)->deviation);
  CHECK(seed_mean(three)->mean == Approx(3.0));
  CHECK(*seed_mean(three)->deviation == Approx(std::sqrt(7.0)));
}

TEST_CASE("a difference counts only if it is larger than the seeds' own") {
  auto results = sweep({row("base", 5, 25, {run(1, 5.0, 25), run(2, 5.1, 25), run(3, 4.9, 25)}),
                        row("near", 6, 24, {run(1, 5.1, 25)}), row("far", 6, 24, {run(1, 5.6, 25)}),
                        row("other", 6, 24, {run(1, 4.4, 25)})});
  const auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::loss].ours == Approx(0.1));
  CHECK(*compared[1].differences[Metric::loss].paper == Approx(1.0));
  CHECK(compared[1].differences[Metric::loss].verdict == Verdict::unclear);
  CHECK(compared[2].differences[Metric::loss].verdict == Verdict::agrees);
  CHECK(compared[3].differences[Metric::loss].verdict == Verdict::disagrees);
  CHECK(compared[0].differences[Metric::loss].verdict == Verdict::none);
  CHECK_THAT(
      summary(results, compared, kMetrics.front()),
      contains("3 rows") && contains("1 (far)") && contains("1 (other)") && contains("1 (near)"));
  // Without sentences no difference in BLEU can be significant.
  CHECK(compared[2].differences[Metric::bleu].verdict == Verdict::unclear);
}

TEST_CASE("of rows that do not differ, 5 % are called different for any numbers of seeds") {
  using Seeds = std::pair<int64_t, int64_t>;
  for (const auto& [of_base, of_row] :
       {Seeds{5, 2}, {8, 2}, {3, 3}, {2, 5}, {2, 1}, {5, 1}, {1, 3}, {20, 10}}) {
    INFO(of_base << " seeds against " << of_row);
    CHECK(false_positives(of_base, of_row) == Approx(kSignificance).margin(0.005));
  }
}

TEST_CASE("p-values over seeds are SciPy's, for one seed and for many") {
  const auto path =
      std::filesystem::path(testing::kSourceDir) / "tests/report/data/seed_test_cases.json";
  const Json cases = parse_json(read_file(path), path.string());
  REQUIRE(cases.size() == 52);
  for (const Json& one : cases) {
    INFO(one.dump());
    const auto base = one["base"].get<std::vector<double>>();
    const auto row = one["row"].get<std::vector<double>>();
    const auto p_value = seed_p_value(*seed_mean(base), *seed_mean(row));
    REQUIRE(p_value);
    CHECK(*p_value == Approx(one["p_value"].get<double>()).margin(1e-12));
  }
}

TEST_CASE("a test over seeds needs a deviation, and none of zero stops it") {
  const SeedMean one{.mean = 5, .deviation = {}, .seeds = 1};
  const SeedMean constant{.mean = 4, .deviation = 0.0, .seeds = 3};
  CHECK(!seed_p_value(one, one));
  CHECK(seed_p_value(constant, constant) == 1.0);
  CHECK(seed_p_value(constant, one) == 0.0);
}

TEST_CASE("BLEU's differences are tested over sentences, and over seeds where there are several") {
  auto results = sweep({row("base", 0, 25, {run(1, 5, 50)}), row("worse", 0, 24, {run(1, 5, 25)}),
                        row("alike", 0, 24, {run(1, 5, 49.5)})});
  results.rows[0].runs[0].sentences = sentences(200);
  results.rows[1].runs[0].sentences = sentences(100);
  results.rows[2].runs[0].sentences = sentences(198);
  auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::bleu].p_value < 0.05);
  CHECK(compared[1].differences[Metric::bleu].verdict == Verdict::agrees);
  CHECK(*compared[2].differences[Metric::bleu].p_value > 0.05);
  CHECK(compared[2].differences[Metric::bleu].verdict == Verdict::unclear);
  // A base whose seeds stray by as much as the difference takes the verdict back.
  RunRecord second = run(2, 5, 20);
  second.sentences = sentences(200);
  results.rows[0].runs.push_back(second);
  compared = compare(results);
  CHECK(compared[1].differences[Metric::bleu].verdict == Verdict::unclear);
}

TEST_CASE("the table prints what differs, and unfinished runs say where they stand") {
  auto results = sweep({row("base", 5, 25, {run(1, 5, 25)}),
                        row("A1", 5.3, 24, {run(1, 5.2, 24.5)}), row("E", 5, 25, {})});
  results.rows[1].values["model.heads"] = "1";
  results.rows[1].changed = {"model.heads"};
  results.rows[2].values["model.position"] = "\"learned\"";
  results.rows[2].changed = {"model.position"};
  RunRecord begun = run(1, 0, 0);
  begun.finished = false;
  begun.state = "at step 300 of 8000";
  results.rows[2].runs = {begun};
  const Table table = results_table(results, compare(results));
  std::vector<std::string> keys;
  for (const auto& column : table.columns) keys.push_back(column.key);
  CHECK(std::find(keys.begin(), keys.end(), "model.heads") != keys.end());
  CHECK(std::find(keys.begin(), keys.end(), "model.d_k") == keys.end());
  const std::string markdown = to_markdown(table);
  CHECK_THAT(markdown, contains("position learned"));
  CHECK_THAT(markdown, contains("seed 1 at step 300 of 8000"));
  CHECK_THAT(markdown, contains("+0.20") && contains("+0.30"));
  for (const auto& cells : table.rows) CHECK(cells.size() == table.columns.size());
  CHECK(table.rows[0][1] == "8");
  CHECK(table.rows[1][1] == "1");
  CHECK(table.rows[2][1].empty());
}

TEST_CASE("a sweep of parsers shows F1, without the paper's columns") {
  auto results = sweep({row("base", 0, 0, {run(1, 5, 0), run(2, 5, 0)}),
                        row("x", 0, 0, {run(1, 5, 0)}), row("y", 0, 0, {run(1, 5, 0)})});
  results.evaluators[Metric::bleu].clear();
  results.evaluators[Metric::parse] = "dev";
  results.rows[0].runs[0].figures[Metric::parse] = 80.0;
  results.rows[0].runs[1].figures[Metric::parse] = 81.0;
  results.rows[1].runs[0].figures[Metric::parse] = 95.0;
  results.rows[2].runs[0].figures[Metric::parse] = 85.0;
  for (RowRecord& one : results.rows) one.paper = {};
  const auto compared = compare(results);
  CHECK(compared[0].means[Metric::parse]->mean == Approx(80.5));
  CHECK(*compared[1].differences[Metric::parse].ours == Approx(14.5));
  // Two seeds leave one degree of freedom: 12.7 standard errors of 0.87.
  CHECK(compared[1].differences[Metric::parse].significant);
  CHECK_FALSE(compared[2].differences[Metric::parse].significant);
  const std::string markdown = to_markdown(results_table(results, compared));
  CHECK_THAT(markdown, contains("F1") && contains("80.50 ± 0.71") && contains("+14.50 *"));
  CHECK(markdown.find("paper") == std::string::npos);
  CHECK_THAT(html_report(results, compared), contains("F1 against parameters"));
}

TEST_CASE("chrF has its column beside BLEU's, and is significant over seeds") {
  auto results = sweep({row("base", 0, 0, {run(1, 5, 30), run(2, 5, 30)}),
                        row("x", 0, 0, {run(1, 5, 30), run(2, 5, 30)})});
  for (RowRecord& one : results.rows) one.paper = {};
  results.evaluators[Metric::chrf] = "test_chrf";
  for (size_t i = 0; i < 2; ++i) {
    results.rows[0].runs[i].figures[Metric::chrf] = 50.0 + 0.1 * static_cast<double>(i);
    results.rows[1].runs[i].figures[Metric::chrf] = 60.0 + 0.1 * static_cast<double>(i);
  }
  const auto compared = compare(results);
  CHECK(compared[1].differences[Metric::chrf].significant);
  CHECK_THAT(to_markdown(results_table(results, compared)),
             contains("chrF") && contains("60.05 ± 0.07") && contains("+10.00 *"));
  CHECK_THAT(html_report(results, compared), contains("BLEU against parameters"));
}

TEST_CASE("each metric has the paper's columns where the paper has a figure") {
  auto results =
      sweep({row("base", 0, 0, {run(1, 5, 0), run(2, 5, 0)}), row("x", 0, 0, {run(1, 5, 0)})});
  results.evaluators[Metric::bleu].clear();
  results.evaluators[Metric::parse] = "dev";
  for (RowRecord& one : results.rows) one.paper = {};
  results.rows[0].runs[0].figures[Metric::parse] = 90.0;
  results.rows[0].runs[1].figures[Metric::parse] = 90.1;
  results.rows[1].runs[0].figures[Metric::parse] = 95.0;
  results.rows[0].paper.figures[Metric::parse] = 91.3;
  results.rows[1].paper.figures[Metric::parse] = 92.7;
  const auto compared = compare(results);
  CHECK(*compared[1].differences[Metric::parse].paper == Approx(1.4));
  CHECK(compared[1].differences[Metric::parse].verdict == Verdict::agrees);
  CHECK_THAT(summary(results, compared, kMetrics.back()), contains("F1: of 1 rows"));
  const std::string csv = to_csv(results_table(results, compared));
  CHECK_THAT(csv, contains("paper_f1") && contains("+1.4") && contains("agrees"));
  CHECK(csv.find("paper_ppl") == std::string::npos);
}

TEST_CASE("CSV and HTML escape what would break them") {
  Table table;
  table.columns = {{"a", "a", true, "", ""}, {"b", "b", false, "", ""}};
  table.rows = {{"x, \"y\"", "<script>"}};
  CHECK(to_csv(table) == "a,b\n\"x, \"\"y\"\"\",<script>\n");
  CHECK_THAT(to_html(table), contains("&lt;script&gt;") && contains("x, &quot;y&quot;"));
  table.rows = {{"a|b", "1"}};
  CHECK_THAT(to_markdown(table), contains("a\\|b"));
}

TEST_CASE("axis marks are round, within the axis and not too many") {
  CHECK(axis_ticks(0, 10, false, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  for (const auto& [low, high, logarithmic] : {std::tuple{-0.013, 0.021, false},
                                               {3.0, 9000.0, true},
                                               {4.1, 4.9, true},
                                               {1e12, 1e19, true}}) {
    const auto ticks = axis_ticks(low, high, logarithmic, 6);
    INFO(low << " to " << high);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 9);
    CHECK(std::is_sorted(ticks.begin(), ticks.end()));
    CHECK(ticks.front() >= low);
    CHECK(ticks.back() <= high);
  }
  CHECK(axis_ticks(1, 1, false, 5).empty());
}

TEST_CASE("a plot draws what can be drawn") {
  Plot plot{.title = "t", .x = {"x", true}, .y = {"y", false}};
  CHECK(to_svg(plot, 400, 300).empty());
  plot.points = {{.label = "bad", .x = -1, .y = 2}, {.label = "nan", .x = 1, .y = std::nan("")}};
  CHECK(to_svg(plot, 400, 300).empty());
  plot.points.push_back({.label = "a <b>", .x = 10, .y = 2});
  const std::string svg = to_svg(plot, 400, 300);
  CHECK_THAT(svg, contains("a &lt;b&gt;") && contains("<circle"));
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("bad") == std::string::npos);
}

TEST_CASE("the page stands on its own and shows all tables and plots") {
  auto results =
      sweep({row("base", 5, 25, {run(1, 5, 25)}), row("A1", 5.3, 24, {run(1, 5.2, 24.5)})});
  const auto compared = compare(results);
  const std::string page = html_report(results, compared);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  for (const char* part : {"Learning curves", "against the paper", "against parameters",
                           "against training FLOPs", "Cost of training", "To get it again"}) {
    CHECK_THAT(page, contains(part));
  }
  CHECK_THAT(markdown_report(results, compared), contains("| base") && contains("| A1"));
}
