#include "report/attention_page.h"

#include <cmath>

#include "base/format.h"
#include "report/attention_template.h"

namespace attn {
namespace {

// A string of JSON that may stand inside <script>.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool special = byte < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&';
    out += special ? format("\\u%04x", byte) : std::string(1, c);
  }
  return out + "\"";
}

std::string quoted_list(const std::vector<AttentionToken>& tokens,
                        std::string AttentionToken::*member) {
  std::string out = "[";
  for (const AttentionToken& token : tokens) {
    if (out.size() > 1) out += ",";
    out += quoted(token.*member);
  }
  return out + "]";
}

std::string matrix_json(const AttentionMap& map, int64_t head, size_t queries, size_t keys) {
  std::string out = "[";
  const float* row = map.weights.data() + static_cast<size_t>(head) * queries * keys;
  for (size_t i = 0; i < queries; ++i, row += keys) {
    out += i == 0 ? "[" : ",[";
    for (size_t j = 0; j < keys; ++j) {
      out += format(j == 0 ? "%.4g" : ",%.4g", std::round(row[j] * 1e4) / 1e4);
    }
    out += "]";
  }
  return out + "]";
}

std::string kind_json(const AttentionSentence& sentence, const std::string& kind) {
  std::string layers;
  const AttentionMap* any = nullptr;
  for (const AttentionMap& map : sentence.maps) {
    if (map.kind != kind) continue;
    any = &map;
    layers += layers.empty() ? "[" : ",\n[";
    for (int64_t head = 0; head < map.heads; ++head) {
      if (head > 0) layers += ",";
      layers += matrix_json(map, head, sentence.queries(map).size(), sentence.keys(map).size());
    }
    layers += "]";
  }
  if (any == nullptr) return "";
  const auto &left = sentence.queries(*any), &right = sentence.keys(*any);
  const std::string line = std::to_string(sentence.line);
  return "{\"name\":" + quoted("line " + line + ", " + kind) + ",\"line\":" + line +
         ",\"kind\":" + quoted(kind) +
         ",\"left_text\":" + quoted_list(left, &AttentionToken::label) +
         ",\"right_text\":" + quoted_list(right, &AttentionToken::label) +
         ",\"left_pieces\":" + quoted_list(left, &AttentionToken::piece) +
         ",\"right_pieces\":" + quoted_list(right, &AttentionToken::piece) + ",\n\"attn\":[" +
         layers + "]}";
}

std::string html_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

void fill(std::string& page, const std::string& mark, const std::string& text) {
  for (size_t at = page.find(mark); at != page.npos; at = page.find(mark, at + text.size())) {
    page.replace(at, mark.size(), text);
  }
}

}  // namespace

std::string attention_json(const AttentionReport& report) {
  std::string out = "[";
  for (const AttentionSentence& sentence : report.sentences) {
    for (const char* kind : {"encoder", "decoder", "cross"}) {
      const std::string entry = kind_json(sentence, kind);
      if (!entry.empty()) out += (out.size() > 1 ? ",\n" : "\n") + entry;
    }
  }
  return out + "\n]\n";
}

std::string attention_page(const AttentionReport& report) {
  std::string page = kAttentionPage;
  fill(page, "@TITLE@", html_escaped(report.title));
  fill(page, "@ABOUT@", html_escaped(report.about));
  fill(page, "@SCRIPT@", kAttentionScript);
  fill(page, "@DATA@", attention_json(report));  // last: tokens can be anything
  return page;
}

}  // namespace attn
