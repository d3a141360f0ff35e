#include "eval/tasks/evaluator.h"

#include "base/file.h"
#include "base/format.h"

namespace attn {

void write_evaluation_output(const std::filesystem::path& output, const std::string& text) {
  if (output.empty()) return;
  make_directories(output.parent_path());
  write_file_atomically(output, text);
}

std::string truncation_note(int64_t cut) {
  return cut == 0 ? "" : "  (" + counted(cut, "sentence") + " too long for the model, truncated)";
}

std::string unfinished_note(int64_t unfinished, const std::string& noun) {
  return unfinished == 0
             ? ""
             : "  (" + counted(unfinished, noun) + " cut at the length limit, search.extra_length)";
}

}  // namespace attn
