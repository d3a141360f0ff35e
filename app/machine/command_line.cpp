#include "app/machine/command_line.h"

namespace attn {
namespace {

std::string g_command_line;
int g_exit_code = 0;

}  // namespace

void set_command_line(int argc, char** argv) {
  g_command_line = "attn";
  for (int i = 1; i < argc; ++i) g_command_line += std::string(" ") + argv[i];
}

const std::string& command_line() {
  return g_command_line;
}

void set_exit_code(int code) {
  g_exit_code = code;
}
int exit_code() {
  return g_exit_code;
}

}  // namespace attn
