#include "app/sweep/heads_file.h"

#include <string>

#include "base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

using namespace attn;
using attn::testing::contains;
using attn::testing::TemporaryDirectory;

TEST_CASE("a run's heads.json gives importance by kind and BLEU by the share of masked heads") {
  const TemporaryDirectory folder;
  const auto file = folder / "heads.json";
  RunRecord record;
  read_heads(file, record);
  CHECK(record.heads.empty());
  testing::write_text(file,
                      R"({"heads": [{"kind": "cross", "layer": 1, "head": 1, "importance": 0.5},
                           {"kind": "encoder", "layer": 1, "head": 1, "importance": 2}],
                 "pruning": [{"masked": 0, "bleu": 20}, {"masked": 1, "bleu": 10.5}]})");
  read_heads(file, record);
  REQUIRE(record.heads.size() == 2);
  CHECK(record.heads[1].kind == "encoder");
  CHECK(record.heads[1].importance == 2);
  REQUIRE(record.pruning.size() == 2);
  CHECK(record.pruning[1].masked == 0.5);
  CHECK(record.pruning[1].bleu == 10.5);
}

TEST_CASE("a run that diverged, whose heads have no importance, has no statistics of heads") {
  const TemporaryDirectory folder;
  const auto file = folder / "heads.json";
  testing::write_text(file, R"({"heads": [{"kind": "cross", "importance": null}]})");
  RunRecord record;
  read_heads(file, record);
  CHECK(record.heads.empty());
}

TEST_CASE("a file that attn heads has not written is an error with its name and the remedy") {
  const TemporaryDirectory folder;
  const auto file = folder / "heads.json";
  for (const char* content :
       {"[]", "{}", R"({"heads": 1})", R"({"heads": [{"kind": "cross"}]})",
        R"({"heads": [{"kind": 3, "importance": 1}]})",
        R"({"heads": [{"kind": "cross", "importance": "x"}]})",
        R"({"heads": [{"kind": "cross", "importance": 1}], "pruning": [{"masked": 1}]})"}) {
    INFO(content);
    testing::write_text(file, content);
    RunRecord record;
    CHECK_THROWS_WITH(read_heads(file, record), contains(file.string()) && contains("attn heads"));
    CHECK(record.heads.empty());
  }
}
