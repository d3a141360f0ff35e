#include "base/json_config.h"

#include "tests/support/catch.h"

using namespace attn;
using testing::contains;

namespace {
enum class Norm { post, pre };
}  // namespace

template <>
struct attn::EnumNames<Norm> {
  static constexpr auto values =
      std::to_array<EnumName<Norm>>({{Norm::post, "post"}, {Norm::pre, "pre"}});
};

namespace {

struct Inner {
  double rate = 0.5;
  std::vector<int64_t> sizes = {1, 2};
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("rate", self.rate, "a number");
    visit("sizes", self.sizes, "integers");
  }
  bool operator==(const Inner&) const = default;
};

struct Outer {
  std::string name = "x";
  bool on = true;
  Norm norm = Norm::post;
  Inner inner;
  std::vector<Inner> list;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "text");
    visit("on", self.on, "switch");
    visit("norm", self.norm, "an enum");
    visit("inner", self.inner, "a struct");
    visit("list", self.list, "structs");
  }
  bool operator==(const Outer&) const = default;
};

Outer read(std::string_view text) {
  Outer config;
  read_config(config, parse_json(text, "test.json"));
  return config;
}

}  // namespace

TEST_CASE("what is written is read back equal, and what is absent keeps its default") {
  Outer config;
  config.norm = Norm::pre;
  config.inner.rate = 2;
  config.list = {Inner{}, Inner{.rate = 3, .sizes = {}}};
  Outer again;
  read_config(again, write_config(config));
  CHECK(again == config);
  CHECK(read("{}") == Outer{});
  CHECK(read(R"({"inner": {"rate": 3}})").inner.sizes == std::vector<int64_t>{1, 2});
}

TEST_CASE("an unknown key stops with its path and the nearest right name") {
  CHECK_THROWS_WITH(read(R"({"inner": {"rte": 1}})"),
                    contains("inner.rte: unknown key") && contains("did you mean rate?"));
  CHECK_THROWS_WITH(read(R"({"list": [{}, {"qqqqqqqq": 1}]})"),
                    contains("list[1].qqqqqqqq") && contains("one of: rate, sizes"));
}

TEST_CASE("a wrong type stops with its path, the value and what is wanted") {
  CHECK_THROWS_WITH(read(R"({"inner": {"rate": "fast"}})"),
                    contains("inner.rate: \"fast\" is a string, wanted a number"));
  CHECK_THROWS_WITH(read(R"({"inner": {"sizes": [1, 2.5]}})"),
                    contains("inner.sizes[1]") && contains("an integer"));
  CHECK_THROWS_WITH(read(R"({"on": 1})"), contains("on: 1 is a number, wanted true or false"));
  CHECK_THROWS_WITH(read(R"({"inner": []})"), contains("inner: [] is an array"));
  CHECK_THROWS_WITH(read("[]"), contains("wanted an object"));
}

TEST_CASE("an unknown word of an enum stops with the choices") {
  CHECK_THROWS_WITH(read(R"({"norm": "pots"})"),
                    contains("norm: \"pots\" is not a choice; did you mean post?"));
  CHECK_THROWS_WITH(read(R"({"norm": "layerwise"})"), contains("one of: post, pre"));
}

TEST_CASE("broken JSON is reported with line and column, doubled keys by name") {
  CHECK_THROWS_WITH(parse_json("{\n  \"a\": 1,\n  b\n}", "f.json"), contains("f.json:3:3"));
  CHECK_THROWS_WITH(parse_json(R"({"a": 1, "a": 2})", "f.json"), contains("\"a\" stands twice"));
  CHECK_NOTHROW(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "f.json"));
  CHECK_THROWS_AS(parse_json(std::string(100000, '['), "f.json"), ConfigError);
  CHECK_THROWS_AS(parse_json("", "f.json"), ConfigError);
}

TEST_CASE("--set reaches into objects and arrays and takes bare words as strings") {
  Json json = parse_json(R"({"list": [{"rate": 1}]})", "f.json");
  set_path(json, "inner.rate=0.25");
  set_path(json, "list.0.rate=7");
  set_path(json, "norm=pre");
  CHECK(json["inner"]["rate"] == 0.25);
  CHECK(json["list"][0]["rate"] == 7);
  CHECK(json["norm"] == "pre");
  CHECK_THROWS_WITH(set_path(json, "norm.x=1"), contains("inside a string"));
  CHECK_THROWS_WITH(set_path(json, "list.9.rate=1"), contains("no index"));
  CHECK_THROWS_WITH(set_path(json, "norm"), contains("path=value"));
}

TEST_CASE("--set with an object is a patch on what stands there, read as strictly as a file") {
  Json json =
      parse_json(R"({"inner": {"rate": 1, "sizes": [3]}, "list": [{"rate": 1}]})", "f.json");
  set_path(json, R"(inner={"rate": 4})");
  set_path(json, R"(list.0={"sizes": [1]})");
  CHECK(json ==
        parse_json(R"({"inner": {"rate": 4, "sizes": [3]}, "list": [{"rate": 1, "sizes": [1]}]})",
                   "f.json"));
  set_path(json, "list=[]");
  CHECK(json["list"].empty());
  CHECK_THROWS_WITH(set_path(json, R"(inner={"rate": 4, "rate": 5})"),
                    contains("--set inner=") && contains("\"rate\" stands twice"));
}

TEST_CASE("null is a field's default, of known fields alone") {
  Outer outer;
  outer.name = "other";
  outer.inner.rate = 7;
  read_config(outer, parse_json(R"({"name": null, "inner": {"rate": null}})", "f.json"));
  CHECK(outer.name == Outer{}.name);
  CHECK(outer.inner.rate == Inner{}.rate);
  outer.inner.rate = 7;
  read_config(outer, parse_json(R"({"inner": null})", "f.json"));
  CHECK(outer.inner.rate == Inner{}.rate);
  CHECK_THROWS_WITH(read(R"({"inner": {"rat": null}})"), contains("inner.rat: unknown key"));
  CHECK_THROWS_WITH(read(R"({"list": [null]})"), contains("list[0]: null"));
}

TEST_CASE("every knob explains itself with path, type, value and meaning") {
  const auto docs = explain_config(Outer{});
  std::vector<std::string> paths;
  for (const auto& doc : docs) paths.push_back(doc.path);
  CHECK(paths == std::vector<std::string>{"name", "on", "norm", "inner.rate", "inner.sizes", "list",
                                          "list[].rate", "list[].sizes"});
  CHECK(docs[2].type == "post | pre");
  CHECK(docs[3].value == "0.5");
  CHECK(docs[3].meaning == "a number");
}
