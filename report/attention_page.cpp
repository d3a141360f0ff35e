#include "report/attention_page.h"

#include <cmath>

#include "base/format.h"
#include "base/json_patch.h"
#include "report/attention_template.h"

namespace attn {
namespace {

std::vector<std::string> texts_of(const std::vector<AttentionToken>& tokens,
                                  std::string AttentionToken::*member) {
  std::vector<std::string> texts;
  for (const AttentionToken& token : tokens) texts.push_back(token.*member);
  return texts;
}

// With four decimals; most are 0 or 1, which are shorter as integers.
Json rounded(float weight) {
  const double value = std::round(weight * 1e4) / 1e4;
  return value == std::trunc(value) ? Json(static_cast<int64_t>(value)) : Json(value);
}

Json matrix_of(const AttentionMap& map, int64_t head, size_t queries, size_t keys) {
  const float* weight = map.weights.data() + static_cast<size_t>(head) * queries * keys;
  Json matrix = Json::array();
  for (size_t i = 0; i < queries; ++i) {
    Json& row = matrix.emplace_back(Json::array());
    for (size_t j = 0; j < keys; ++j) row.push_back(rounded(*weight++));
  }
  return matrix;
}

// Null if the model has no attention of this kind.
Json entry_of(const AttentionSentence& sentence, const std::string& kind) {
  Json layers = Json::array();
  const AttentionMap* any = nullptr;
  for (const AttentionMap& map : sentence.maps) {
    if (map.kind != kind) continue;
    any = &map;
    Json& heads = layers.emplace_back(Json::array());
    for (int64_t head = 0; head < map.heads; ++head) {
      heads.push_back(
          matrix_of(map, head, sentence.queries(map).size(), sentence.keys(map).size()));
    }
  }
  if (any == nullptr) return {};
  const auto &left = sentence.queries(*any), &right = sentence.keys(*any);
  return {{"name", "line " + std::to_string(sentence.line) + ", " + kind},
          {"line", sentence.line},
          {"kind", kind},
          {"left_text", texts_of(left, &AttentionToken::label)},
          {"right_text", texts_of(right, &AttentionToken::label)},
          {"left_pieces", texts_of(left, &AttentionToken::piece)},
          {"right_pieces", texts_of(right, &AttentionToken::piece)},
          {"attn", layers}};
}

std::string html_escaped(std::string text) {
  replace_all(text, "&", "&amp;");
  replace_all(text, "<", "&lt;");
  replace_all(text, ">", "&gt;");
  return text;
}

}  // namespace

std::string attention_json(const AttentionReport& report) {
  std::vector<std::string> entries;
  for (const AttentionSentence& sentence : report.sentences) {
    for (const char* kind : {"encoder", "decoder", "cross"}) {
      const Json entry = entry_of(sentence, kind);
      if (entry.is_null()) continue;
      // Pieces need not be valid UTF-8.
      entries.push_back(entry.dump(-1, ' ', false, Json::error_handler_t::replace));
      replace_all(entries.back(), "<", "\\u003c");  // so that it may stand inside <script>
    }
  }
  return "[\n" + joined(entries, ",\n") + "\n]\n";
}

std::string attention_page(const AttentionReport& report) {
  std::string page = kAttentionPage;
  replace_all(page, "@TITLE@", html_escaped(report.title));
  replace_all(page, "@ABOUT@", html_escaped(report.about));
  replace_all(page, "@SCRIPT@", kAttentionScript);
  replace_all(page, "@DATA@", attention_json(report));  // last: tokens can be anything
  return page;
}

}  // namespace attn
