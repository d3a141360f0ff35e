#include "app/machine/exit.h"

#include <exception>
#include <filesystem>
#include <new>

#include "kernels/libtorch.h"

namespace attn {

constexpr const char* kOutOfMemory =
    "out of memory; reduce the batch (data.batch_tokens), the model or the input";

ExitReport exit_report() {
  try {
    throw;
  } catch (const UserError& error) {
    return {error.what(), error.code()};
  } catch (const std::bad_alloc&) {
    return {kOutOfMemory};
  } catch (const c10::OutOfMemoryError&) {
    return {"out of GPU memory; reduce data.batch_tokens"};
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    if (message.find("can't allocate memory") != std::string::npos) return {kOutOfMemory};
    return {message};
  } catch (const std::filesystem::filesystem_error& error) {
    if (error.path1().empty()) return {error.what(), ExitCode::data};
    const std::string second = error.path2().empty() ? "" : " and " + error.path2().string();
    return {error.path1().string() + second + ": " + error.code().message(), ExitCode::data};
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

}  // namespace attn
