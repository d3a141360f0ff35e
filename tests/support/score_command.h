// `attn score` in the test's own process, with its streams caught.
#pragma once

#include <algorithm>
#include <ios>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/commands.h"

namespace attn::testing {

/// Puts a stream's buffer in the place of another's for as long as it lives.
class Redirect {
 public:
  Redirect(std::ios& stream, std::streambuf* to) : stream_(stream), old_(stream.rdbuf(to)) {}
  ~Redirect() { stream_.rdbuf(old_); }
  Redirect(const Redirect&) = delete;
  Redirect& operator=(const Redirect&) = delete;

 private:
  std::ios& stream_;
  std::streambuf* old_;
};

struct Printed {
  std::string out, err;
};

/// Runs `attn score ARGUMENTS`.
inline Printed run_score(std::vector<std::string> arguments, const std::string& input = "") {
  CLI::App app;
  add_score_command(app);
  arguments.insert(arguments.begin(), "score");
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  std::ostringstream out, err;
  std::istringstream in(input);
  const Redirect to_out(std::cout, out.rdbuf()), to_err(std::cerr, err.rdbuf());
  std::cin.clear();
  const Redirect from_in(std::cin, in.rdbuf());
  app.parse(arguments);
  return {out.str(), err.str()};
}

}  // namespace attn::testing
