#include "base/json_config.h"

#include <array>
#include <optional>
#include <variant>

#include "tests/support/catch.h"

using namespace attn;
using testing::contains;

namespace {
enum class Kind { loss, bleu, parse };
enum class Shape { disc, box };
}  // namespace

template <>
struct attn::EnumNames<Kind> {
  static constexpr auto values = std::to_array<EnumName<Kind>>(
      {{Kind::loss, "loss"}, {Kind::bleu, "bleu"}, {Kind::parse, "parse"}});
};
template <>
struct attn::EnumNames<Shape> {
  static constexpr auto values =
      std::to_array<EnumName<Shape>>({{Shape::disc, "disc"}, {Shape::box, "box"}});
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
  Shape shape = Shape::disc;
  Inner inner;
  std::vector<Inner> list;
  std::optional<int64_t> width;
  Json free = Json::object();
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "text");
    visit("on", self.on, "switch");
    visit("shape", self.shape, "an enum");
    visit("inner", self.inner, "a struct");
    visit("list", self.list, "structs");
    visit("width", self.width, "derived");
    visit("free", self.free, "anything");
  }
  bool operator==(const Outer&) const = default;
};

// A union with two tags; alternatives of "kind" share options.
struct Score {
  static constexpr std::array kTags = {"kind", "shape"};
  std::string name = "x";
  Kind kind = Kind::loss;
  Shape shape = Shape::disc;
  int64_t beam = 4;
  double width = 1.0;
  bool lowercase = false;
  int64_t every = 10;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name, "text");
    visit("kind", self.kind, "a tag");
    visit("shape", self.shape, "another");
    if (self.kind != Kind::loss) visit("beam", self.beam, "width of search");
    if (self.shape == Shape::box) visit("width", self.width, "of the box");
    if (self.kind == Kind::bleu) visit("lowercase", self.lowercase, "switch");
    visit("every", self.every, "steps");
  }
  bool operator==(const Score&) const = default;
};

struct Disc {
  double radius = 1.0;
  int64_t colour = 1;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("radius", self.radius, "of the disc");
    visit("colour", self.colour, "of both");
  }
  bool operator==(const Disc&) const = default;
};
struct Box {
  double width = 2.0;
  int64_t colour = 2;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("width", self.width, "of the box");
    visit("colour", self.colour, "of both");
  }
  bool operator==(const Box&) const = default;
};

// A union whose alternatives have nothing in common, as those of a model's architecture.
struct Figure {
  static constexpr std::array kTags = {"shape"};
  static constexpr bool kTagReplaces = true;
  std::variant<Disc, Box> options;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    Shape shape = static_cast<Shape>(self.options.index());
    visit("shape", shape, "which figure");
    if constexpr (!std::is_const_v<Self>) {
      if (shape == Shape::box && self.options.index() != 1) self.options = Box{};
      if (shape == Shape::disc && self.options.index() != 0) self.options = Disc{};
    }
    std::visit([&](auto& chosen) { chosen.fields(chosen, visit); }, self.options);
  }
  bool operator==(const Figure&) const = default;
};

// One alternative has a union.
struct Cell {
  static constexpr std::array kTags = {"shape"};
  Shape shape = Shape::disc;
  Score score;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("shape", self.shape, "which cell");
    if (self.shape == Shape::box) visit("score", self.score, "of the box");
  }
};

struct Tagged {
  Figure figure;
  std::vector<Score> scores;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("figure", self.figure, "a union");
    visit("scores", self.scores, "unions");
  }
  bool operator==(const Tagged&) const = default;
};

Json json(std::string_view text) {
  return parse_json(text, "test.json");
}

template <class Config = Outer>
Config read(std::string_view text) {
  Config config;
  read_config(config, json(text));
  return config;
}

constexpr auto read_tagged = read<Tagged>;

}  // namespace

TEST_CASE("written values are read back, missing keys keep their defaults") {
  Outer config;
  config.shape = Shape::box;
  config.inner.rate = 2;
  config.list = {Inner{}, Inner{.rate = 3, .sizes = {}}};
  Outer again;
  read_config(again, write_config(config));
  CHECK(again == config);
  CHECK(read("{}") == Outer{});
  CHECK(read(R"({"inner": {"rate": 3}})").inner.sizes == std::vector<int64_t>{1, 2});
}

TEST_CASE("a wrong key, type or choice stops with its path, the value and what is wanted") {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {R"({"inner": {"rte": 1}})", "inner.rte: unknown key; did you mean rate?"},
      {R"({"inner": {"rat": null}})", "inner.rat: unknown key"},
      {R"({"list": [{}, {"qqqqqqqq": 1}]})", "list[1].qqqqqqqq: unknown key; one of: rate, sizes"},
      {R"({"list": [null]})", "list[0]: expected an object, got null"},
      {R"({"inner": {"rate": "fast"}})", "inner.rate: expected a number, got \"fast\""},
      {R"({"inner": {"sizes": [1, 2.5]}})", "inner.sizes[1]: expected an integer"},
      {R"({"inner": {"sizes": [1e300]}})", "expected an integer"},
      {R"({"on": 1})", "on: expected true or false, got 1"},
      {R"({"inner": []})", "inner: expected an object, got []"},
      {R"({"width": "atuo"})", "width: expected integer or \"auto\", got \"atuo\""},
      {R"({"width": 1.5})", "width: expected an integer, got 1.5"},
      {R"({"list": {"0": {"rate": 1}}})", "list: \"0\" is not an index of an array of 0"},
      {"[]", "expected an object"},
      {R"({"shape": "dics"})", "shape: \"dics\" is not a choice; did you mean disc?"},
      {R"({"shape": "layerwise"})", "one of: disc, box"},
  };
  for (const auto& [text, message] : mistakes) CHECK_THROWS_WITH(read(text), contains(message));
  CHECK(read(R"({"inner": {"sizes": [1e3]}})").inner.sizes == std::vector<int64_t>{1000});
}

TEST_CASE("broken JSON is reported with line and column, duplicate keys with their name") {
  CHECK_THROWS_WITH(parse_json("{\n  \"a\": 1,\n  b\n}", "f.json"),
                    contains("f.json: not JSON: parse error at line 3, column 3"));
  CHECK_THROWS_WITH(parse_json(R"({"a": 1, "a": 2})", "f.json"), contains("duplicate key \"a\""));
  CHECK_THROWS_WITH(parse_json("[{\"a\": \"a\"},\n {\"b\": 1, \"a\": 1, \"a\" : 2}]", "f.json"),
                    contains("f.json: duplicate key \"a\""));
  // With escapes a key may be written in two ways: no position.
  CHECK_THROWS_WITH(
      parse_json("{\"x\": {\"\\u0061\": 1}, \"y\": {\"a\": 1, \"a\": 2},\n \"z\": {\"a\": 3}}",
                 "f.json"),
      contains("f.json: duplicate key \"a\""));
  CHECK_THROWS_WITH(parse_json(R"({"a": 1, "\u0061": 2})", "f.json"),
                    contains("f.json: duplicate key \"a\""));
  CHECK_NOTHROW(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "f.json"));
  const std::string open(200000, '['), close(200000, ']');
  CHECK_THROWS_AS(parse_json(open, "f.json"), ConfigError);
  const Json deep = parse_record("{\"step\": 1, \"after\": " + open + close + "}");
  CHECK(Json(deep).dump().size() < 200);  // a copy and its text follow what is nested by recursion
  CHECK(parse_record("{\"step\": 1").is_discarded());
  CHECK_THROWS_AS(parse_json("", "f.json"), ConfigError);
}

TEST_CASE("a derived value is spelt auto") {
  Outer config = read(R"({"width": 3})");
  CHECK(config.width == 3);
  read_config(config, json(R"({"width": "auto"})"));
  CHECK(config == Outer{});
  CHECK(write_config(config)["width"] == "auto");
}

TEST_CASE("--set changes options in objects and arrays, by index or dot, and accepts bare words") {
  Outer config = read(R"({"list": [{"sizes": [1, 2]}, {"rate": 1}], "free": {"a": 1}})");
  const auto set = [&](const char* text) {
    const Assignment one(text);
    read_config(config, nested(one.path, one.value));
  };
  for (const char* text : {"inner.rate=0.25", "shape=box", "list.1.rate=7", "list[0].sizes[1]=3",
                           R"(free={"b": {"c": 2}})", "free.b.d=3"}) {
    set(text);
  }
  CHECK(config == read(R"({"list": [{"sizes": [1, 3]}, {"rate": 7}], "inner": {"rate": 0.25},
                           "shape": "box", "free": {"a": 1, "b": {"c": 2, "d": 3}}})"));
  CHECK_THROWS_WITH(Assignment("shape"), contains("path=value"));
  CHECK_THROWS_WITH(set("shape.x=1"), contains("shape: expected one of disc, box, got {\"x\":1}"));
  for (const char* wrong : {"list[2].rate=7", "list.x.rate=7", "list.-1.rate=7"}) {
    CHECK_THROWS_WITH(set(wrong), contains("list: ") && contains("of an array of 2"));
  }
  for (const char* wrong : {"list[]=7", "list[0.rate=7", "in]ner.rate=7", "]={}", "list[-1].rate=7",
                            "list[0]rate=7", "inner..rate=7"}) {
    CHECK_THROWS_WITH(set(wrong), contains(": not a path: expected names and indices"));
  }
  const auto path_of = [](const std::string& path) { return Assignment(path + "=7").path; };
  CHECK(path_of("list.1.rate") == "list[1].rate");
  for (const char* path : {"list[1].rate", "inner.rate"}) CHECK(path_of(path) == path);
}

TEST_CASE("patches are merged in objects and in elements of arrays, and keep null") {
  Json patch = json(R"({"inner": {"rate": 1, "sizes": [3]}, "list": [{"rate": 1}]})");
  for (const char* more : {R"({"inner": {"rate": 4}})", R"({"list": {"0": {"sizes": [1]}}})",
                           R"({"name": null, "new": {"0": {"a": 1}}})"}) {
    merge_patch(patch, json(more));
  }
  CHECK(patch == json(R"({"inner": {"rate": 4, "sizes": [3]}, "list": [{"rate": 1, "sizes": [1]}],
                          "name": null, "new": {"0": {"a": 1}}})"));
  merge_patch(patch, json(R"({"list": []})"));
  CHECK(patch["list"].empty());
  CHECK_THROWS_WITH(merge_patch(patch, json(R"({"list": {"0": 1}})")), contains("not an index"));
  CHECK_THROWS_WITH(merge_patch(patch, json(R"({"name": {"a": 1}})")),
                    "name: null: resets all options; reset single ones, to set {\"a\":1}");
  CHECK_THROWS_WITH(Assignment(R"(inner={"rate": 4, "rate": 5})"),
                    contains("--set inner=") && contains("duplicate key \"rate\""));
  CHECK_THROWS_WITH(Assignment(R"(list=[{"rate" 4}])"),
                    contains("--set list=…: not JSON: parse error at line 1, column 10"));
}

TEST_CASE("null resets a known field to its default") {
  Tagged wide = read_tagged(R"({"figure": {"radius": 3}})");  // a disc, the default, as before
  read_config(wide, parse_json(R"({"figure": {"shape": null}})", ""));
  CHECK(wide == read_tagged(R"({"figure": {"width": null, "radius": 3}})"));  // width: a box's
  Outer outer;
  outer.name = "other";
  outer.inner.rate = 7;
  read_config(outer, parse_json(R"({"name": null, "inner": {"rate": null}})", "f.json"));
  CHECK(outer.name == Outer{}.name);
  CHECK(outer.inner.rate == Inner{}.rate);
  outer.inner.rate = 7;
  outer.free = {{"a", 1}};
  read_config(outer, parse_json(R"({"inner": null, "free": null})", "f.json"));
  CHECK(outer == Outer{});
  // Of a union, that of the chosen alternative.
  const Tagged config =
      read_tagged(R"({"figure": {"shape": "box", "colour": null, "width": null}})");
  CHECK(std::get<Box>(config.figure.options) == Box{});
  CHECK(read_tagged(R"({"figure": {"shape": null}})") == Tagged{});
}

TEST_CASE("of a tagged union the chosen alternative's options are read and written") {
  const Tagged config = read_tagged(R"({"figure": {"width": 3, "shape": "box"},
                                        "scores": [{"kind": "bleu", "beam": 7}, {}]})");
  CHECK(std::get<Box>(config.figure.options).width == 3);
  CHECK(std::get<Box>(config.figure.options).colour == 2);
  CHECK(config.scores[0].beam == 7);
  CHECK(write_config(config) == json(R"({"figure": {"shape": "box", "width": 3.0, "colour": 2},
    "scores": [{"name": "x", "kind": "bleu", "shape": "disc", "beam": 7, "lowercase": false,
                "every": 10},
               {"name": "x", "kind": "loss", "shape": "disc", "every": 10}]})"));
  Tagged again;
  read_config(again, write_config(config));
  CHECK(again == config);
}

TEST_CASE("an option of another alternative stops with the alternatives that have it") {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {R"({"scores": [{"beam": 5}]})", "scores[0].beam: requires kind bleu, parse"},
      {R"({"scores": [{"kind": "parse", "lowercase": true}]})",
       "scores[0].lowercase: requires kind bleu"},
      {R"({"scores": [{"lowercase": 0}]})", "requires kind bleu"},
      {R"({"scores": [{"evry": 5}]})",
       "scores[0].evry: unknown key (kind loss and shape disc); did you mean every?"},
      {R"({"scores": [{"kind": "bleu", "width": 3}]})", "scores[0].width: requires shape box"},
      {R"({"scores": [{"kind": "bleu", "shape": "box", "widht": 3}]})",
       "widht: unknown key (kind bleu and shape box); did you mean width?"},
      {R"({"figure": {"width": 3}})", "figure.width: requires shape box"},
      {R"({"scores": [{"beam": 4}]})", "scores[0].beam: requires kind bleu, parse"},  // its default
      {R"({"figure.radius": 1})", "figure.radius: a path, as in --set and grids; nest objects"},
      {R"({"figure": {"": 1}})", "figure.: unknown key"},
  };
  for (const auto& [text, message] : mistakes) {
    CHECK_THROWS_WITH(read_tagged(text), contains(message));
  }
}

TEST_CASE("a patch that changes a tag keeps the options that both alternatives have") {
  Tagged config =
      read_tagged(R"({"scores": [{"kind": "bleu", "beam": 7, "lowercase": true, "every": 1}]})");
  const auto patched = [&](const char* patch) {
    read_config(config, json(patch));
    return config;
  };
  CHECK(patched(R"({"scores": {"0": {"kind": "parse"}}})") ==
        read_tagged(R"({"scores": [{"kind": "parse", "beam": 7, "every": 1}]})"));
  CHECK(patched(R"({"scores": {"0": {"kind": null}}})") ==
        read_tagged(R"({"scores": [{"every": 1}]})"));
  CHECK(patched(R"({"scores": {"0": {"beam": 2, "shape": "box", "width": 5, "kind": "bleu"}}})") ==
        read_tagged(R"({"scores": [{"kind": "bleu", "beam": 2, "shape": "box", "width": 5,
                                    "every": 1}]})"));
  CHECK_THROWS_WITH(patched(R"({"scores": {"0": {"shape": "disc", "width": 6}}})"),
                    contains("scores[0].width: requires shape box"));
}

TEST_CASE("a patch that changes a replacing tag resets all options") {
  Tagged config = read_tagged(R"({"figure": {"radius": 3, "colour": 7}})");
  const auto patched = [&](const char* patch) {
    read_config(config, json(patch));
    return config;
  };
  CHECK(patched(R"({"figure": {"shape": "disc", "radius": 4}})") ==
        read_tagged(R"({"figure": {"radius": 4, "colour": 7}})"));
  CHECK(patched(R"({"figure": {"width": 5, "shape": "box"}})") ==
        read_tagged(R"({"figure": {"shape": "box", "width": 5}})"));
  CHECK(patched(R"({"figure": {"shape": "disc"}})") == Tagged{});
}

TEST_CASE("the defaults are those of the alternatives that are chosen") {
  const Tagged config = read_tagged(R"({"figure": {"shape": "box", "width": 5},
                                        "scores": [{"kind": "bleu", "beam": 7}]})");
  CHECK(write_defaults(config) ==
        write_config(read_tagged(R"({"figure": {"shape": "box"}, "scores": [{"kind": "bleu"}]})")));
}

TEST_CASE("the options of all alternatives are explained, each once and with whose it is") {
  Tagged config;
  config.figure.options = Disc{.radius = 5, .colour = 6};
  std::vector<std::string> lines;
  for (const FieldDoc& doc : explain_config(config)) {
    lines.push_back(doc.path + " = " + doc.value + (doc.only.empty() ? "" : " | " + doc.only));
  }
  CHECK(lines ==
        std::vector<std::string>{"figure.shape = \"disc\"", "figure.width = 2.0 | shape box",
                                 "figure.radius = 5.0 | shape disc", "figure.colour = 6",
                                 "scores = []", "scores[].name = \"x\"", "scores[].kind = \"loss\"",
                                 "scores[].shape = \"disc\"", "scores[].width = 1.0 | shape box",
                                 "scores[].beam = 4 | kind bleu, parse",
                                 "scores[].lowercase = false | kind bleu", "scores[].every = 10"});
  const FieldDoc rate = explain_config(Outer{})[3];
  CHECK(rate.path == "inner.rate");
  CHECK(rate.meaning == "a number");
  CHECK(explain_config(Outer{})[2].type == "disc | box");
}
