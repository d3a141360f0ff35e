#include "app/bench/search.h"

#include <algorithm>
#include <chrono>

namespace attn {

SearchBenchmark benchmark_search(Translator& translator, std::span<const std::string> lines,
                                 int64_t at_once, double seconds) {
  const size_t window = std::min(static_cast<size_t>(std::max<int64_t>(at_once, 1)), lines.size());
  translator.translate(lines.first(window));
  SearchBenchmark out{.at_once = static_cast<int64_t>(window)};
  const auto begin = std::chrono::steady_clock::now();
  for (size_t at = 0; at < lines.size() && (at == 0 || out.seconds < seconds); at += window) {
    const size_t size = std::min(window, lines.size() - at);
    translator.translate(lines.subspan(at, size));
    out.sentences += static_cast<int64_t>(size);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return out;
}

}  // namespace attn
