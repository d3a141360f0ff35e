#include "data/synthetic/corpus.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Pairs of a separate random stream whose English sentence is not among `known`.
std::vector<GeneratedPair> new_pairs(uint64_t seed, uint64_t stream, std::string_view part,
                                     int64_t count, std::unordered_set<std::string>& known) {
  constexpr size_t kMinTokens = 4, kMaxTokens = 20;
  constexpr int kPatience = 10000;
  if (count < 0) {
    throw ConfigError("cannot generate " + std::to_string(count) + " pairs for " +
                      std::string(part) + "; give 0 or more");
  }
  Random random(seed, stream);
  std::vector<GeneratedPair> pairs;
  int rejected = 0;
  while (static_cast<int64_t>(pairs.size()) < count) {
    GeneratedPair pair = built_in_grammar().sample(random);
    const size_t tokens = tree_words(pair.tree).size();
    if (tokens >= kMinTokens && tokens <= kMaxTokens && known.insert(pair.english).second) {
      pairs.push_back(std::move(pair));
      rejected = 0;
    } else if (++rejected == kPatience) {
      throw ConfigError("the built-in grammar yields too few new sentences after " +
                        std::to_string(known.size()) + "; generate fewer pairs");
    }
  }
  return pairs;
}

struct TextFile {
  fs::path path;
  std::string content;
};

void add_files(std::vector<TextFile>& files, const fs::path& stem,
               const std::vector<GeneratedPair>& pairs) {
  std::string english, german, trees;
  for (const GeneratedPair& pair : pairs) {
    english += pair.english + '\n';
    german += pair.german + '\n';
    trees += write_tree(pair.tree) + '\n';
  }
  files.push_back({stem.string() + ".en", std::move(english)});
  files.push_back({stem.string() + ".de", std::move(german)});
  files.push_back({stem.string() + ".ptb", std::move(trees)});
}

bool has_other_content(const TextFile& file) {
  if (!fs::exists(file.path)) return false;
  return fs::file_size(file.path) != file.content.size() || read_file(file.path) != file.content;
}

}  // namespace

GeneratedCorpus generate_corpus(uint64_t seed, const GeneratedSizes& sizes) {
  std::unordered_set<std::string> known;
  GeneratedCorpus corpus;
  corpus.test = new_pairs(seed, 3, "test", sizes.test, known);
  corpus.valid = new_pairs(seed, 2, "valid", sizes.valid, known);
  corpus.train = new_pairs(seed, 1, "train", sizes.train, known);
  return corpus;
}

GeneratedCorpus write_generated_corpus(const fs::path& directory, const GeneratedSizes& sizes,
                                       uint64_t seed, const Log& log) {
  make_directories(directory);  // first, so that an error is reported before the work
  GeneratedCorpus corpus = generate_corpus(seed, sizes);
  std::vector<TextFile> files;
  add_files(files, directory / "train", corpus.train);
  add_files(files, directory / "valid", corpus.valid);
  add_files(files, directory / "test", corpus.test);
  for (const TextFile& file : files) {
    if (!has_other_content(file)) continue;
    throw DataError(
        file.path.string() +
        ": already exists with different content and will not be overwritten; delete it or "
        "choose another directory");
  }
  for (const TextFile& file : files) {
    write_file_atomically(file.path, file.content);
    log("wrote " + file.path.string());
  }
  log(std::to_string(corpus.train.size()) + " training, " + std::to_string(corpus.valid.size()) +
      " validation and " + std::to_string(corpus.test.size()) +
      " test pairs, all different; seed " + std::to_string(seed));
  return corpus;
}

}  // namespace attn
