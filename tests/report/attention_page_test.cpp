#include "report/attention_page.h"

#include <string>

#include "tests/support/catch.h"

using namespace attn;
using testing::contains;

namespace {

AttentionReport small_report() {
  AttentionSentence sentence{
      .source = {{"a<b"}, {"</s>"}}, .target = {{"<s>"}, {"\"c\""}, {"d"}}, .maps = {}};
  sentence.maps = {{"encoder", 1, {1.0F, 0.0F, 0.5F, 0.5F}},
                   {"cross", 2, {1, 0, 0.25F, 0.75F, 0, 1, 0.5F, 0.5F, 0.75F, 0.25F, 1, 0}}};
  return {.title = "A & B", .about = "about", .sentences = {sentence}};
}

}  // namespace

TEST_CASE("the attention page needs no other file, and has the JSON and the script") {
  const std::string page = attention_page(small_report());
  for (const char* part : {"<link", "src=", "import ", "@TITLE@", "@DATA@", "@SCRIPT@"}) {
    CHECK_THAT(page, !contains(part));
  }
  CHECK_THAT(page, contains("<h1>A &amp; B</h1>") && contains("function drawLines(") &&
                       contains(attention_json(small_report())));
}

TEST_CASE("tokens cannot end the script of the attention page") {
  AttentionReport report = small_report();
  report.sentences[0].source[0].label = "</script><b>\n";
  CHECK_THAT(attention_page(report),
             contains("\\u003c/script>\\u003cb>\\n") && !contains("</script><b>"));
}

TEST_CASE("unknown words have themselves as labels, and what the model reads as pieces") {
  AttentionReport report = small_report();
  report.sentences[0].source[0] = {.label = "Wunder", .piece = "<unk:Cap>"};
  CHECK_THAT(attention_json(report), contains("\"right_text\":[\"Wunder\",\"\\u003c/s>\"]") &&
                                         contains("\"right_pieces\":[\"\\u003cunk:Cap>\",\"\"]"));
}

TEST_CASE("attention JSON has bertviz's axes: layer, head, query, key") {
  const std::string json = attention_json(small_report());
  CHECK_THAT(json,
             contains("\"attn\":[[[[1,0],[0.25,0.75],[0,1]],[[0.5,0.5],[0.75,0.25],[1,0]]]]"));
  CHECK_THAT(json,
             contains("\"left_text\":[\"\\u003cs>\",\"\\\"c\\\"\",\"d\"]") && !contains("decoder"));
}
