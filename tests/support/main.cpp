// The entry point of every test binary, under Catch2 version 2 and 3. What it adds to Catch's own:
//   --ctest FILE   writes the binary's test cases as commands of CTest (see cmake/Tests.cmake)
//   exit code 77   no test case failed, and all that ran were skipped (see tests/support/skip.h)
#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace {

constexpr int kSkipped = 77;  // CTest's SKIP_RETURN_CODE

struct Skips {
  std::string why;  // of the running case; empty: none
  int cases = 0, skipped = 0;
};
Skips g_skips;

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
constexpr const char* kArguments = "";
const Catch::TestCaseInfo& info_of(const Catch::TestCaseHandle& test) {
  return test.getTestCaseInfo();
}
#else
using Listener = Catch::TestEventListenerBase;
constexpr const char* kArguments = " --warn NoTests";
const Catch::TestCaseInfo& info_of(const Catch::TestCase& test) {
  return test;
}
#endif

// A case is skipped when it says so before its first assertion. $ATTN_SKIPPED names a file that
// collects the reasons, for `./run test`.
struct CountSkips : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo&) override { g_skips.why.clear(); }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ++g_skips.cases;
    if (g_skips.why.empty() || stats.totals.assertions.total() > 0) return;
    ++g_skips.skipped;
    const char* file = std::getenv("ATTN_SKIPPED");
    if (file != nullptr) std::ofstream(file, std::ios::app) << g_skips.why + "\n";
  }
};
CATCH_REGISTER_LISTENER(CountSkips)

// eval/search/beam_search for …/tests/eval/search/beam_search_test.cpp
std::string source_name(const std::string& file) {
  const std::string folder = "tests/", ending = "_test.cpp";
  const size_t at = file.rfind(folder);
  const std::string name = at == std::string::npos ? file : file.substr(at + folder.size());
  const bool test = name.size() > ending.size() && name.ends_with(ending);
  return test ? name.substr(0, name.size() - ending.size()) : name;
}

// The name as a test specification of Catch's command line.
std::string escaped(const std::string& name) {
  std::string spec = name.starts_with('-') ? "\\" : "";  // no option
  for (const char c : name) {
    if (c == ',' || c == '[' || c == '\\' || c == '"') spec += '\\';
    spec += c;
  }
  return spec;
}

std::string label_of(const std::string& tags) {
  for (const char* label : {"gpu", "slow"}) {
    if (tags.find("[" + std::string(label) + "]") != std::string::npos) return label;
  }
  return "unit";
}

std::string quoted(const std::string& text) {
  return "[==[" + text + "]==]";
}

// The cases of a source run in one process: LibTorch takes longer to start than most of them. Those
// with the tag slow or gpu have a process each, and are named.
int write_ctest_commands(Catch::Session& session, const char* program, const char* file) {
  struct Entry {
    std::string label, cases;
  };
  std::map<std::string, Entry> entries;  // by their names
  for (const auto& test : Catch::getAllTestCasesSorted(session.config())) {
    const Catch::TestCaseInfo& info = info_of(test);
    if (info.isHidden()) continue;
    const std::string source = source_name(info.lineInfo.file),
                      label = label_of(info.tagsAsString());
    Entry& entry = entries[label == "unit" ? source : source + ": " + info.name];
    entry.label = label;
    entry.cases += (entry.cases.empty() ? "" : ",") + escaped(info.name);
  }
  std::ofstream out(file);
  for (const auto& [name, entry] : entries) {
    out << "add_test(" << quoted(name) << ' ' << quoted(program) << ' ' << quoted(entry.cases)
        << kArguments << ")\nset_tests_properties(" << quoted(name) << " PROPERTIES LABELS "
        << entry.label << " SKIP_RETURN_CODE " << kSkipped << ")\n";
  }
  return out.flush() ? 0 : 1;
}

}  // namespace

void attn::testing::skip(const std::string& why) {
  WARN("skipped: " << why);
  g_skips.why = why;
}

int main(int argc, char** argv) {
  Catch::Session session;
  if (argc == 3 && std::string(argv[1]) == "--ctest") {
    return write_ctest_commands(session, argv[0], argv[2]);
  }
  const int code = session.run(argc, argv);
  const bool all_skipped = g_skips.cases > 0 && g_skips.skipped == g_skips.cases;
  return code == 0 && all_skipped ? kSkipped : code;
}
