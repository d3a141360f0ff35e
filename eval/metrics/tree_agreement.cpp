#include "eval/metrics/tree_agreement.h"

#include "base/error.h"
#include "eval/metrics/evalb_parameters.h"
#include "eval/metrics/parse_brackets.h"

namespace attn {

std::optional<double> bracket_f1(const Tree& a, const Tree& b) {
  if (tree_words(a) != tree_words(b)) return {};
  const EvalbParameters parameters;
  ParseBrackets first = parse_brackets(std::span(&a, 1), parameters),
                second = parse_brackets(std::span(&b, 1), parameters);
  const int64_t all = first.counting() + second.counting();
  if (all == 0) return 100.0;
  return 200.0 * static_cast<double>(match_brackets(first, second, parameters)) /
         static_cast<double>(all);
}

bool parses_agree(std::span<const Tree> parses, const AgreementOptions& options) {
  const Tree& first = parses.front();
  bool agree = true;
  for (const Tree& other : parses.subspan(1)) {
    const auto f1 = bracket_f1(first, other);
    if (!f1) throw DataError("the words of the trees differ");
    agree = agree && (options.min_f1 ? *f1 >= *options.min_f1 : other == first);
  }
  const auto words = static_cast<int64_t>(tree_words(first).size());
  return agree && words >= options.min_words && words <= options.max_words;
}

}  // namespace attn
