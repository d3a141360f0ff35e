#include "app/sweep/heads_file.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"

namespace attn {
namespace {

constexpr int64_t kLargestFile = 1 << 24;

double finite_number(const Json& json, const char* key) {
  const double value = json.at(key).get<double>();
  if (!std::isfinite(value)) throw ConfigError(std::string(key) + " is not a finite number");
  return value;
}

}  // namespace

void read_heads(const std::filesystem::path& file, RunRecord& record) {
  if (!std::filesystem::exists(file)) return;
  const auto foreign = [&](const std::exception& error) {
    return DataError(file.string() + ": not written by attn heads --json (" + error.what() +
                     "); delete it or run attn heads again");
  };
  try {
    const Json json = parse_json(read_file(file, kLargestFile), file.filename().string());
    std::vector<HeadRecord> heads;
    for (const Json& head : json.at("heads")) {
      if (head.at("importance").is_null()) return;  // NaN: the run diverged
      heads.push_back({head.at("kind").get<std::string>(), finite_number(head, "importance")});
    }
    std::vector<PruningPoint> pruning;
    if (const auto curve = json.find("pruning"); curve != json.end() && !heads.empty()) {
      for (const Json& point : *curve) {
        pruning.push_back({finite_number(point, "masked") / static_cast<double>(heads.size()),
                           finite_number(point, "bleu")});
      }
    }
    record.heads = std::move(heads);
    record.pruning = std::move(pruning);
  } catch (const ConfigError& error) {
    throw foreign(error);
  } catch (const Json::exception& error) {
    throw foreign(error);
  }
}

}  // namespace attn
