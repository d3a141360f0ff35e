#include "data/synthetic/corpus_files.h"

#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

void write_part(const fs::path& stem, const std::vector<GeneratedPair>& pairs, const Log& log) {
  std::string english, german, trees;
  for (const GeneratedPair& pair : pairs) {
    english += pair.english + '\n';
    german += pair.german + '\n';
    trees += write_tree(pair.tree) + '\n';
  }
  const auto write = [&](const char* suffix, const std::string& content) {
    const fs::path path = stem.string() + suffix;
    write_file_atomically(path, content);
    log("wrote " + path.string());
  };
  write(".en", english);
  write(".de", german);
  write(".ptb", trees);
}

}  // namespace

GeneratedCorpus write_generated_corpus(const fs::path& directory, const GeneratedSizes& sizes,
                                       uint64_t seed, const Log& log) {
  make_directories(directory);  // first, so that an error is reported before the work
  GeneratedCorpus corpus = generate_corpus(seed, sizes);
  write_part(directory / "train", corpus.train, log);
  write_part(directory / "valid", corpus.valid, log);
  write_part(directory / "test", corpus.test, log);
  log(std::to_string(corpus.train.size()) + " training, " + std::to_string(corpus.valid.size()) +
      " validation and " + std::to_string(corpus.test.size()) +
      " test pairs, all different; seed " + std::to_string(seed));
  return corpus;
}

}  // namespace attn
