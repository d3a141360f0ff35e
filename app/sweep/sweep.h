// `attn sweep`: trains the runs of a sweep, prints a dry run, or submits a Slurm job array.
//
//   SWEEP/sweep.json            the resolved plan, for the report
//   SWEEP/vocabulary/HASH/      tokenizers, one set per combination of text and tokenizer options
//   SWEEP/cache/                encoded corpora and hashes of the texts, safe to delete
//   SWEEP/ROW/seed-1.json       config of one run
//   SWEEP/ROW/seed-1.log        its output
//   SWEEP/ROW/seed-1/           its run directory
#pragma once

#include <cstdint>
#include <string>

#include "app/machine/context.h"
#include "app/sweep/plan.h"

namespace attn {

struct SweepOptions {
  SweepRequest request;
  bool dry_run = false, no_measure = false;
  double seconds = 3.0;  ///< of measuring the first row
  bool slurm = false, no_submit = false;
  int64_t jobs = 0;      ///< 0: one, or as many as fit on the GPUs
  std::string launcher;  ///< starts each run: "mpirun -np 2"
};

/// Runs the command; returns the exit code. Throws ConfigError and DataError.
int sweep(const SweepOptions& options, const Context& context);

}  // namespace attn
