#include "report/attention_page.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "report/attention_script.h"
#include "report/page_parts.h"
#include "report/svg.h"
#include "report/table.h"

namespace attn {
namespace {

constexpr double kLineHeight = 22.0;
constexpr double kWidth = 460.0;
constexpr double kLeft = 150.0, kRight = 310.0;
constexpr double kFontSize = 11.0, kLabelWidth = 142.0;
constexpr double kFaintest = 0.04;  // lines of smaller weights are left out of the static figure

// A string of JSON that may stand inside <script>.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
      out += format("\\u%04x", byte);
    } else {
      out += c;
    }
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

std::string quoted_labels(const std::vector<AttentionToken>& tokens) {
  return quoted_list(tokens, &AttentionToken::label);
}

std::string sentence_data(const AttentionSentence& sentence) {
  std::string out = "{\"line\":" + std::to_string(sentence.line) +
                    ",\"source\":" + quoted_labels(sentence.source) +
                    ",\"target\":" + quoted_labels(sentence.target) +
                    ",\"source_pieces\":" + quoted_list(sentence.source, &AttentionToken::piece) +
                    ",\"target_pieces\":" + quoted_list(sentence.target, &AttentionToken::piece) +
                    ",\"maps\":[";
  for (const AttentionMap& map : sentence.maps) {
    if (out.back() != '[') out += ",";
    out += "{\"kind\":" + quoted(map.kind) + ",\"layer\":" + std::to_string(map.layer) +
           ",\"heads\":" + std::to_string(map.heads) + ",\"weights\":\"" +
           base64_weights(map.weights) + "\"}";
  }
  return out + "]}";
}

// The mean over the heads of weights[.][query][key].
double mean_weight(const AttentionMap& map, size_t index, size_t matrix) {
  double sum = 0.0;
  for (int64_t head = 0; head < map.heads; ++head) {
    sum += map.weights[static_cast<size_t>(head) * matrix + index];
  }
  return sum / static_cast<double>(map.heads);
}

// The full label and what the model reads, where the figure does not show them.
std::string tooltip(const AttentionToken& token, bool whole) {
  if (token.piece.empty() && whole) return "";
  const std::string read =
      token.piece.empty() ? "" : ": unknown to the model, which reads " + token.piece;
  return "<title>" + html_escaped(token.label + read) + "</title>";
}

std::string column(const std::vector<AttentionToken>& tokens, double x, const char* anchor) {
  std::string out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string shown = fitted_text(tokens[i].label, kLabelWidth, kFontSize);
    out += format("<text%s x=\"%.0f\" y=\"%.1f\" text-anchor=\"%s\">",
                  tokens[i].piece.empty() ? "" : " class=\"unknown\"", x,
                  (static_cast<double>(i) + 0.7) * kLineHeight, anchor) +
           html_escaped(shown) + tooltip(tokens[i], shown == tokens[i].label) + "</text>\n";
  }
  return out;
}

std::string static_figure(const AttentionSentence& sentence) {
  const auto last = std::find_if(sentence.maps.rbegin(), sentence.maps.rend(),
                                 [](const AttentionMap& map) { return map.kind == "cross"; });
  if (last == sentence.maps.rend()) return "";
  const auto &queries = sentence.queries(*last), &keys = sentence.keys(*last);
  const double height = static_cast<double>(std::max(queries.size(), keys.size())) * kLineHeight;
  std::string out =
      format(
          "<svg class=\"lines\" viewBox=\"0 0 %.0f %.0f\" style=\"max-width:%.0fpx\" role=\"img\">",
          kWidth, height, kWidth) +
      column(queries, kLeft - 6, "end") + column(keys, kRight + 6, "start");
  for (size_t i = 0; i < queries.size(); ++i) {
    for (size_t j = 0; j < keys.size(); ++j) {
      const double weight = mean_weight(*last, i * keys.size() + j, queries.size() * keys.size());
      if (weight < kFaintest) continue;
      out += format(
          "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"var(--c1)\" "
          "stroke-width=\"2\" opacity=\"%.2f\"/>\n",
          kLeft, (static_cast<double>(i) + 0.5) * kLineHeight, kRight,
          (static_cast<double>(j) + 0.5) * kLineHeight, weight);
    }
  }
  return out + "</svg>\n";
}

std::string static_part(const AttentionReport& report) {
  std::string out =
      "<div id=\"static\">\n<p class=\"faint\">Cross-attention of the last layer, averaged over "
      "its "
      "heads: target on the left, source on the right. With JavaScript, this page shows all "
      "layers and "
      "heads.</p>\n";
  for (const AttentionSentence& sentence : report.sentences) {
    out += "<h2>Line " + std::to_string(sentence.line) + "</h2>\n" + static_figure(sentence);
  }
  return out + "</div>\n";
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
  return "{\"name\":" + quoted("line " + std::to_string(sentence.line) + ", " + kind) +
         ",\"left_text\":" + quoted_labels(sentence.queries(*any)) +
         ",\"right_text\":" + quoted_labels(sentence.keys(*any)) + ",\n\"attn\":[" + layers + "]}";
}

}  // namespace

std::string base64_weights(std::span<const float> weights) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](size_t i) {
    return i < weights.size()
               ? static_cast<uint32_t>(std::lround(std::clamp(weights[i], 0.0F, 1.0F) * 255.0F))
               : 0U;
  };
  std::string out;
  for (size_t i = 0; i < weights.size(); i += 3) {
    const uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (const int shift : {18, 12, 6, 0}) out += digits[bits >> shift & 63];
  }
  const size_t padding = (3 - weights.size() % 3) % 3;
  if (padding > 0) out.replace(out.size() - padding, padding, padding, '=');
  return out;
}

std::string attention_page(const AttentionReport& report) {
  std::string out = page_head(report.title, report.about);
  out += std::string("<style>") + kAttentionStyle + "</style>\n<div id=\"viewer\"></div>\n";
  out += static_part(report) + "<script type=\"application/json\" id=\"data\">[";
  for (size_t i = 0; i < report.sentences.size(); ++i) {
    out += (i == 0 ? "\n" : ",\n") + sentence_data(report.sentences[i]);
  }
  return out + "]</script>\n<script>" + kAttentionScript + "</script>\n</body>\n</html>\n";
}

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

}  // namespace attn
