// Rows of a sweep that another program trains than the sweep's own: a build of its commit with a
// diff (cmake/ChangedProgram.cmake), or a binary that the user has built. RUN/change.txt is the
// diff, or version and hash of the binary.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/experiment/run_directory.h"
#include "app/sweep/sweep_file.h"

namespace attn {

struct ProgramChange {
  bool is_diff = false;
  std::filesystem::path file;  ///< the diff, or the binary
  std::string record;          ///< what is kept as RUN/change.txt

  /// "diff sigmoid.diff".
  std::string label() const;
};

/// The change that a row names by a path relative to `folder`; std::nullopt: none. Throws
/// ConfigError or DataError for a diff that cannot be read and a binary that is not attn.
std::optional<ProgramChange> change_of(const SweepRow& row, const std::filesystem::path& folder);

/// The program with the diff, which is built at the first call, by `threads` compilers, with the
/// settings of this program's build. Throws ConfigError if this program is not of an unchanged
/// commit in its build folder, if the diff does not apply or with the first error of the compiler.
/// Without threads only looks whether it applies.
std::filesystem::path build_changed(const ProgramChange& diff, int threads);

/// The record of the program that trains a run; "" for the sweep's own.
std::string recorded_change(const RunDirectory& run);

}  // namespace attn
