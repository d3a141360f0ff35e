#include "app/machine/exit_report.h"

#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <utility>

#include "kernels/libtorch.h"

namespace attn {
namespace {

constexpr const char* kOutOfMemory =
    "out of memory; reduce the batch (data.batch_tokens), the model or the input";

// A message may quote a value of any length, of a file for example.
std::string shortened(std::string message) {
  constexpr size_t kStart = 2000, kEnd = 500;
  if (message.size() <= kStart + kEnd) return message;
  const size_t left_out = message.size() - kStart - kEnd;
  return message.replace(kStart, left_out, " … (" + std::to_string(left_out) + " bytes) … ");
}

ExitReport whole_report() {
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

}  // namespace

ExitReport exit_report() {
  ExitReport report = whole_report();
  report.message = shortened(std::move(report.message));
  return report;
}

}  // namespace attn
