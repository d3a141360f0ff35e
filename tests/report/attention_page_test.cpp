#include "report/attention_page.h"

#include <regex>
#include <set>
#include <string>

#include "tests/support/catch.h"

using namespace attn;
using testing::contains;

namespace {

AttentionReport small_report() {
  AttentionSentence sentence{
      .source = {{"a<b"}, {"</s>"}}, .target = {{"<s>"}, {"\"c\""}, {"d"}}, .maps = {}};
  sentence.maps = {{"encoder", 0, 1, {1.0F, 0.0F, 0.5F, 0.5F}},
                   {"cross", 0, 2, {1, 0, 0.25F, 0.75F, 0, 1, 0.5F, 0.5F, 0.75F, 0.25F, 1, 0}}};
  return {.title = "A & B", .about = "about", .sentences = {sentence}};
}

}  // namespace

TEST_CASE("weights are bytes in base64") {
  const std::vector<float> weights = {0.0F, 1.0F, 0.5F, 2.0F};
  CHECK(base64_weights(weights) == "AP+A/w==");
  CHECK(base64_weights(std::span(weights).first(3)) == "AP+A");
  CHECK(base64_weights({}).empty());
}

TEST_CASE("the attention page needs no other file and is readable without scripts") {
  const std::string page = attention_page(small_report());
  CHECK(page.find("<link") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK(page.find("import ") == std::string::npos);
  CHECK_THAT(page, contains("<svg class=\"lines\""));
  CHECK_THAT(page, contains("A &amp; B"));
  // The mean of both heads, 0.75 for the first query's first key.
  CHECK_THAT(page, contains("opacity=\"0.75\""));
  CHECK_THAT(page, contains("\"kind\":\"cross\",\"layer\":0,\"heads\":2"));
}

TEST_CASE("every colour of the attention page is one of the page's style") {
  const std::string page = attention_page(small_report());
  std::set<std::string> defined, used;
  const std::regex property(R"(--[a-z0-9]+\b)");
  for (std::sregex_iterator at(page.begin(), page.end(), property), end; at != end; ++at) {
    const bool sets = at->suffix().str().starts_with(":");
    (sets ? defined : used).insert(at->str());
  }
  CHECK(used.size() > 10);
  for (const std::string& name : used) {
    CAPTURE(name);
    CHECK((defined.contains(name) || name == "--c"));  // --c: of each element of a plot
  }
}

TEST_CASE("tokens cannot end the script of the attention page") {
  AttentionReport report = small_report();
  report.sentences[0].source[0].label = "</script><b>\n";
  const std::string page = attention_page(report);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK_THAT(page, contains("\\u003c/script\\u003e\\u003cb\\u003e\\u000a"));
}

TEST_CASE("the attention page shows unknown words, and in a tooltip what the model reads") {
  AttentionReport report = small_report();
  report.sentences[0].source[0] = {.label = "Wunder", .piece = "<unk:Cap>"};
  const std::string page = attention_page(report);
  CHECK_THAT(page, contains("<text class=\"unknown\""));
  CHECK_THAT(page, contains(">Wunder<title>Wunder: unknown to the model, which reads "
                            "&lt;unk:Cap&gt;</title>"));
  CHECK_THAT(page, contains("\"source\":[\"Wunder\",\"\\u003c/s\\u003e\"]"));
  CHECK_THAT(page, contains("\"source_pieces\":[\"\\u003cunk:Cap\\u003e\",\"\"]"));
  CHECK_THAT(attention_json(report), contains("\"right_text\":[\"Wunder\","));
}

TEST_CASE("labels that are too wide for the static figure are shortened, with the whole text") {
  AttentionReport report = small_report();
  const std::string word = "Donaudampfschifffahrtsgesellschaftskapitänswitwe";
  report.sentences[0].source[0].label = word;
  const std::string page = attention_page(report);
  CHECK_THAT(page, contains(">Donaudampf") && contains("…<title>" + word + "</title>"));
  CHECK(page.find(">" + word + "</text>") == std::string::npos);
}

TEST_CASE("attention JSON has bertviz's axes: layer, head, query, key") {
  const std::string json = attention_json(small_report());
  CHECK_THAT(json,
             contains("\"attn\":[[[[1,0],[0.25,0.75],[0,1]],[[0.5,0.5],[0.75,0.25],[1,0]]]]"));
  CHECK_THAT(json, contains("\"left_text\":[\"\\u003cs\\u003e\",\"\\u0022c\\u0022\",\"d\"]"));
  CHECK(json.find("decoder") == std::string::npos);
}
