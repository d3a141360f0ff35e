#include "eval/metrics/evalb_parameters.h"

#include <algorithm>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/parse_number.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "data/lines.h"

namespace attn {
namespace {

bool same(const EvalbParameters::Pairs& pairs, std::string_view a, std::string_view b) {
  if (a == b) return true;
  return std::ranges::any_of(pairs, [&](const auto& pair) {
    return (a == pair.first && b == pair.second) || (a == pair.second && b == pair.first);
  });
}

/// The parameters as text, for hashing.
std::string settings_text(const EvalbParameters& parameters) {
  std::string text = std::to_string(parameters.cutoff_length);
  text += parameters.labelled ? " labelled" : " unlabelled";
  const auto append = [&](const char* kind, std::string_view a, std::string_view b) {
    text.append("\n").append(kind).append(" ").append(a).append(" ").append(b);
  };
  for (const auto& label : parameters.delete_labels) append("delete", label, "");
  for (const auto& label : parameters.delete_labels_for_length) append("length", label, "");
  for (const auto& label : parameters.quote_labels) append("quote", label, "");
  for (const auto& [a, b] : parameters.equal_labels) append("label", a, b);
  for (const auto& [a, b] : parameters.equal_words) append("word", a, b);
  return text;
}

class ParameterReader {
 public:
  ParameterReader(EvalbParameters& parameters, const std::string& name)
      : parameters_(parameters), name_(name) {}

  void read_line(std::string_view line) {
    ++line_;
    const auto fields = split_whitespace(line);
    if (fields.empty() || fields[0].starts_with('#')) return;
    keyword_ = fields[0];
    values_.assign(fields.begin() + 1, fields.end());
    if (keyword_ == "DEBUG" || keyword_ == "MAX_ERROR") {
      number();
    } else if (keyword_ == "CUTOFF_LEN") {
      parameters_.cutoff_length = number();
    } else if (keyword_ == "LABELED") {
      parameters_.labelled = number(1) == 1;
    } else if (keyword_ == "DELETE_LABEL") {
      parameters_.delete_labels.insert(value());
    } else if (keyword_ == "DELETE_LABEL_FOR_LENGTH") {
      parameters_.delete_labels_for_length.insert(value());
    } else if (keyword_ == "QUOTE_LABEL") {
      parameters_.quote_labels.insert(value());
    } else if (keyword_ == "EQ_LABEL") {
      parameters_.equal_labels.push_back(pair());
    } else if (keyword_ == "EQ_WORD") {
      parameters_.equal_words.push_back(pair());
    } else {
      static const std::vector<std::string> keywords = {
          "DEBUG",       "MAX_ERROR",    "CUTOFF_LEN",
          "LABELED",     "DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH",
          "QUOTE_LABEL", "EQ_LABEL",     "EQ_WORD"};
      fail("unknown keyword" + suggestion(keyword_, keywords));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw ConfigError(name_ + ":" + std::to_string(line_) + ": " + keyword_.substr(0, 40) + ": " +
                      message);
  }

  void require_values(size_t count) const {
    if (values_.size() == count) return;
    fail("expected " + (count == 1 ? std::string("one value") : std::string("two values")) +
         ", got " + std::to_string(values_.size()));
  }

  std::string value() const {
    require_values(1);
    return values_[0];
  }

  std::pair<std::string, std::string> pair() const {
    require_values(2);
    return {values_[0], values_[1]};
  }

  int64_t number(int64_t max = int64_t{1} << 40) const {
    const std::string text = value();
    const auto result = parse_number<int64_t>(text);
    if (result && *result >= 0 && *result <= max) return *result;
    fail("'" + text.substr(0, 40) + "': expected " + (max == 1 ? "0 or 1" : "an integer >= 0"));
  }

  EvalbParameters& parameters_;
  const std::string& name_;
  int64_t line_ = 0;
  std::string keyword_;
  std::vector<std::string> values_;
};

}  // namespace

bool EvalbParameters::same_label(std::string_view a, std::string_view b) const {
  return same(equal_labels, a, b);
}

bool EvalbParameters::same_word(std::string_view a, std::string_view b) const {
  return same(equal_words, a, b);
}

EvalbParameters collins_parameters() {
  EvalbParameters parameters;
  parameters.name = "default";
  parameters.delete_labels = {"TOP", "-NONE-", ",", ":", "``", "''", "."};
  parameters.delete_labels_for_length = {"-NONE-"};
  parameters.equal_labels = {{"ADVP", "PRT"}};
  return parameters;
}

EvalbParameters parse_evalb_parameters(std::string_view text, const std::string& name) {
  EvalbParameters parameters;
  ParameterReader reader(parameters, name);
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    reader.read_line(take_line(text));
  }
  parameters.name = std::filesystem::path(name).filename().string();
  parameters.name.append("[").append(to_hex(hash_text(settings_text(parameters))), 0, 8);
  parameters.name += "]";
  return parameters;
}

EvalbParameters read_evalb_parameters(const std::filesystem::path& path) {
  if (path.empty()) return collins_parameters();
  constexpr int64_t limit = 1 << 20;  // bytes; the known files have 3 KiB
  return parse_evalb_parameters(read_file(path, limit), path.string());
}

}  // namespace attn
