#include "app/sweep/slurm_time.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_config.h"
#include "base/parse_number.h"

namespace attn {
namespace {

constexpr int64_t kMax = 1'000'000'000;

}  // namespace

std::optional<int64_t> slurm_seconds(const std::string& time) {
  if (time.empty() || time == "UNLIMITED" || time == "INFINITE") return {};
  const size_t dash = time.find('-');
  std::vector<int64_t> parts;
  const std::string clock = dash == std::string::npos ? time : time.substr(dash + 1);
  bool valid = true;
  for (size_t begin = 0; begin <= clock.size();) {
    const size_t end = std::min(clock.find(':', begin), clock.size());
    const auto number = parse_number<int64_t>(std::string_view(clock).substr(begin, end - begin));
    valid = valid && number && *number >= 0 && *number <= kMax;
    parts.push_back(number.value_or(0));
    begin = end + 1;
  }
  int64_t days = 0;
  if (dash != std::string::npos) {
    const auto number = parse_number<int64_t>(std::string_view(time).substr(0, dash));
    valid = valid && number && *number >= 0 && *number <= kMax;
    days = number.value_or(0);
  }
  if (!valid || parts.size() > 3) {
    throw ConfigError("slurm.time: " + Json(time).dump() +
                      ": must be minutes, hours:minutes:seconds or days-hours, as for sbatch");
  }
  // With days, or with three parts, the first part is hours; else minutes.
  if (dash == std::string::npos && parts.size() < 3) parts.insert(parts.begin(), 0);
  parts.resize(3);
  return ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
}

}  // namespace attn
