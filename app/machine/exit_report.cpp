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
  const auto inside_character = [&](size_t at) { return (message[at] & 0xc0) == 0x80; };
  size_t begin = kStart, end = message.size() - kEnd;
  while (begin > 0 && inside_character(begin)) --begin;
  while (end < message.size() && inside_character(end)) ++end;
  return message.replace(begin, end - begin, " … (" + std::to_string(end - begin) + " bytes) … ");
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
