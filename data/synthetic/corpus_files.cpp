#include "data/synthetic/corpus_files.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct Part {
  fs::path path;
  std::string content;
};

void add_part(std::vector<Part>& parts, const fs::path& stem,
              const std::vector<GeneratedPair>& pairs) {
  std::string english, german, trees;
  for (const GeneratedPair& pair : pairs) {
    english += pair.english + '\n';
    german += pair.german + '\n';
    trees += write_tree(pair.tree) + '\n';
  }
  parts.push_back({stem.string() + ".en", std::move(english)});
  parts.push_back({stem.string() + ".de", std::move(german)});
  parts.push_back({stem.string() + ".ptb", std::move(trees)});
}

bool has_other_content(const Part& part) {
  if (!fs::exists(part.path)) return false;
  return fs::file_size(part.path) != part.content.size() || read_file(part.path) != part.content;
}

}  // namespace

GeneratedCorpus write_generated_corpus(const fs::path& directory, const GeneratedSizes& sizes,
                                       uint64_t seed, const Log& log) {
  make_directories(directory);  // first, so that an error is reported before the work
  GeneratedCorpus corpus = generate_corpus(seed, sizes);
  std::vector<Part> parts;
  add_part(parts, directory / "train", corpus.train);
  add_part(parts, directory / "valid", corpus.valid);
  add_part(parts, directory / "test", corpus.test);
  for (const Part& part : parts) {
    if (!has_other_content(part)) continue;
    throw DataError(
        part.path.string() +
        ": already exists with different content and will not be overwritten; delete it or "
        "choose another directory");
  }
  for (const Part& part : parts) {
    write_file_atomically(part.path, part.content);
    log("wrote " + part.path.string());
  }
  log(std::to_string(corpus.train.size()) + " training, " + std::to_string(corpus.valid.size()) +
      " validation and " + std::to_string(corpus.test.size()) +
      " test pairs, all different; seed " + std::to_string(seed));
  return corpus;
}

}  // namespace attn
