#include "report/table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "base/format.h"

namespace attn {
namespace {

// Width in characters, to align columns in the Markdown source.
size_t width_of(const std::string& text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

std::string markdown_cell(std::string text) {
  replace_all(text, "|", "\\|");
  replace_all(text, "\n", " ");
  return text;
}

std::string csv_cell(std::string text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  replace_all(text, "\"", "\"\"");
  return "\"" + text + "\"";
}

// What LaTeX needs for these, the first that fits; the paper's symbols are set as there.
constexpr std::pair<std::string_view, std::string_view> kLatex[] = {
    {"d_model", "$d_{\\mathrm{model}}$"},
    {"d_ff", "$d_{\\mathrm{ff}}$"},
    {"d_k", "$d_k$"},
    {"d_v", "$d_v$"},
    {"P_drop", "$P_{\\mathrm{drop}}$"},
    {"ε_ls", "$\\epsilon_{\\mathrm{ls}}$"},
    {"×10⁶", "$\\times 10^6$"},
    {" *", "$^{*}$"},
    {" ‡", "$^{\\ddagger}$"},
    {"±", "$\\pm$"},
    {"−", "$-$"},
    {"\\", "\\textbackslash{}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    {"&", "\\&"},
    {"%", "\\%"},
    {"$", "\\$"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"{", "\\{"},
    {"}", "\\}"},
};

std::string latex_cell(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto found = std::find_if(std::begin(kLatex), std::end(kLatex),
                                    [&](const auto& one) { return text.starts_with(one.first); });
    // No part of a word is a symbol: shared_vocabulary has no d_v.
    const bool within = !out.empty() && out.back() > 0 && std::isalpha(out.back()) && text[0] > 0 &&
                        std::isalpha(text[0]);
    const bool special = found != std::end(kLatex) && !within;
    out += special ? found->second : text.substr(0, 1);
    text.remove_prefix(special ? found->first.size() : 1);
  }
  return out;
}

std::vector<std::string> header_of(const Table& table, std::string Table::Column::*text) {
  std::vector<std::string> cells;
  for (const Table::Column& column : table.columns) cells.push_back(column.*text);
  return cells;
}

}  // namespace

std::string to_markdown(const Table& table) {
  const std::vector<std::string> titles = header_of(table, &Table::Column::title);
  std::vector<size_t> widths;
  for (size_t i = 0; i < titles.size(); ++i) {
    size_t width = std::max<size_t>(width_of(markdown_cell(titles[i])), 3);
    for (const auto& row : table.rows) width = std::max(width, width_of(markdown_cell(row[i])));
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = markdown_cell(cells[i]);
      const std::string blanks(widths[i] - width_of(cell), ' ');
      out += i == 0 ? "| " : " | ";
      out += table.columns[i].text ? cell + blanks : blanks + cell;
    }
    out += " |\n";
  };
  line(titles);
  for (size_t i = 0; i < widths.size(); ++i) {
    out += i == 0 ? "| " : " | ";
    out += std::string(widths[i] - 1, '-') + (table.columns[i].text ? "-" : ":");
  }
  out += " |\n";
  for (const auto& row : table.rows) line(row);
  return out;
}

std::string to_csv(const Table& table) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    out += "\n";
  };
  line(header_of(table, &Table::Column::key));
  for (const auto& row : table.rows) line(row);
  return out;
}

std::string to_latex(const Table& table) {
  std::string out = "\\begin{tabular}{";
  for (const Table::Column& column : table.columns) out += column.text ? 'l' : 'r';
  out += "}\n\\toprule\n";
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : " & ") + latex_cell(cells[i]);
    out += " \\\\\n";
  };
  line(header_of(table, &Table::Column::title));
  out += "\\midrule\n";
  for (const auto& row : table.rows) line(row);
  return out + "\\bottomrule\n\\end{tabular}\n";
}

std::string signed_text(double value, int decimals) {
  const std::string digits = decimal(std::abs(value), decimals);
  if (digits.find_first_not_of("0.") == std::string::npos) return digits;
  return (value < 0 ? "−" : "+") + digits;
}

std::string mean_text(const SeedMean& mean) {
  const std::string text = decimal(mean.mean, kScoreDecimals);
  return mean.deviation ? text + " ± " + decimal(*mean.deviation, kScoreDecimals) : text;
}

std::string p_text(double p_value) {
  return p_value < 0.0005 ? "<0.001" : format("%.3f", p_value);
}

std::string full_text(double value) {
  return format("%.17g", value);
}

std::string if_known(double value, const std::string& text) {
  return std::isfinite(value) && value > 0 ? text : "";
}

}  // namespace attn
