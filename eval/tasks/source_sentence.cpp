#include "eval/tasks/source_sentence.h"

#include "data/source_features.h"

namespace attn {

SourceSentence encode_source(const Tokenizers& tokenizers, const std::string& line,
                             int64_t max_tokens) {
  SourceSentence source{.tokens = tokenizers.source->encode(line)};
  const auto length = static_cast<int64_t>(source.tokens.size());
  if (tokenizers.features) source.features = tokenizers.features->encode(line, length);
  source.truncated = length > max_tokens;
  if (!source.truncated) return source;
  source.tokens.resize(static_cast<size_t>(max_tokens));
  if (tokenizers.features) source.features = cut_features(source.features, max_tokens);
  return source;
}

}  // namespace attn
