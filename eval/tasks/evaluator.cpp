#include "eval/tasks/evaluator.h"

#include "base/file.h"

namespace attn {

void write_evaluation_output(const std::filesystem::path& output, const std::string& text) {
  if (output.empty()) return;
  std::filesystem::create_directories(output.parent_path());
  write_file_atomically(output, text);
}

std::string cut_text(int64_t cut) {
  return cut == 0 ? ""
                  : "  (" + std::to_string(cut) + " sentences too long for the model, truncated)";
}

}  // namespace attn
