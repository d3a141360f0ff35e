// Tables of text, for terminals and Markdown, CSV and LaTeX.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/seed_tests.h"

namespace attn {

struct Table {
  struct Column {
    std::string key;    ///< for CSV: "bleu_mean"
    std::string title;  ///< "BLEU"
    bool text = false;  ///< left-aligned; numbers are right-aligned
  };
  std::vector<Column> columns = {};
  std::vector<std::vector<std::string>> rows = {};

  /// Adds a column; cell(i) is its text in row i.
  template <class Cell>
  void add(std::string key, std::string title, Cell cell, bool text = false) {
    columns.push_back({std::move(key), std::move(title), text});
    for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(cell(i));
  }
};

/// With aligned columns, so that the source can be read as a table of text.
std::string to_markdown(const Table& table);
/// RFC 4180, with the keys as header.
std::string to_csv(const Table& table);
/// A tabular with the rules of booktabs, in which ±, * and ‡ are set in math.
std::string to_latex(const Table& table);

/// Decimals of means and differences in tables.
inline constexpr int kScoreDecimals = 2;

/// "+0.12" or "−0.12", with a typographic minus.
std::string signed_text(double value, int decimals = kScoreDecimals);
/// "35.90 ± 0.31", with the standard deviation over seeds.
std::string mean_text(const SeedMean& mean);
/// With three decimals: "0.042", or "<0.001" instead of 0.000.
std::string p_text(double p_value);
/// In full precision.
std::string full_text(double value);

/// The text of a value, or "" if that is not finite and above 0: unknown.
std::string if_known(double value, const std::string& text);

/// print(*value), or "" without a value.
template <class Value, class Print>
std::string if_any(const std::optional<Value>& value, Print print) {
  return value ? print(*value) : std::string();
}

}  // namespace attn
