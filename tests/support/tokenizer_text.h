// A text to learn vocabularies from.
#pragma once

#include "data/config.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text_files.h"

namespace attn::testing {

/// A training text on disk and the config that names it.
struct TokenizerText {
  TemporaryDirectory directory;
  DataConfig config;

  explicit TokenizerText(TokenizerKind kind, int64_t vocab_size = 120) {
    config.train = directory / "train";
    config.source = "xx";
    config.target = "yy";
    config.tokenizer = kind;
    config.vocab_size = vocab_size;
    write_text(config.train + ".xx", join_lines(made_up_lines(400, 1)));
    write_text(config.train + ".yy", join_lines(made_up_lines(400, 2)));
  }
};

}  // namespace attn::testing
