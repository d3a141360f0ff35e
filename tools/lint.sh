#!/usr/bin/env bash
# Checks the style of all files: clang-format, and rules that clang-format does not check.
#
#   tools/lint.sh          prints the violations; exits with 1 if there are any
#   tools/lint.sh --fix    runs clang-format on the C++ files first
#
# Requires clang-format 14 (Debian 12), since other versions differ in details. Without it that check is skipped with a
# message; in CI (CI=true) it fails. CLANG_FORMAT is the path of another executable of this version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0
complain() {
  printf 'lint: %s\n' "$*"
  failed=1
}

# The project's files: tracked files and untracked ones that are not ignored; all files without git.
list_files() {
  git ls-files -co --exclude-standard -- "$@" 2>/dev/null || find . -type f -not -path './build*' -not -path './.venv/*'
}

clang_format_14() {
  local candidate
  for candidate in ${CLANG_FORMAT:-clang-format-14 clang-format}; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
      printf '%s' "$candidate"
      return
    fi
  done
}

files=()
sources=()
while IFS= read -r file; do
  [ -f "$file" ] || continue
  file=${file#./}
  case $file in
    *.cpp | *.h | *.cu) sources+=("$file") && files+=("$file") ;;
    tests/*/data/* | tests/data/*.txt) ;; # test data may hold anything
    *.py | data/fetch | tools/gpu_check | tools/recompute) files+=("$file") ;;
    *.sh | *.cmake | *.json | *.md | *CMakeLists.txt | run | .ci/run) files+=("$file") ;;
  esac
done < <(list_files)

formatter=$(clang_format_14)
if [ -n "$formatter" ]; then
  if [ "${1:-}" = --fix ]; then "$formatter" -i "${sources[@]}"; fi
  if ! "$formatter" --dry-run --Werror "${sources[@]}"; then
    complain "clang-format 14 would change files: run tools/lint.sh --fix"
  fi
elif [ "${CI:-}" = true ]; then
  complain "clang-format 14 is missing (apt-get install clang-format-14, or pip install clang-format==14.0.6)"
else
  printf 'lint: no clang-format 14 here: formatting is not checked\n'
fi

# Prints the lines that match, with a reason. $1: the reason, $2: an extended regular expression; files follow.
forbid() {
  local reason=$1 pattern=$2
  shift 2
  if grep -nHE "$pattern" "$@"; then complain "$reason"; fi
}

forbid "space at the end of a line" '[[:space:]]$' "${files[@]}"
forbid "a tab" $'\t' "${files[@]}"
forbid "a path of one machine: write it relative, or in an example as path/to" \
  '(^|[^[:alnum:]_.-])/(home|root|Users|work|mnt)/[[:alnum:]]' "${files[@]}"
forbid "using namespace std" '^[[:space:]]*using namespace std;' "${sources[@]}"

# Documents: at most 100 columns except in tables, verbatim output (indented by four) and generated reports; and terms.
documents=()
for file in "${files[@]}"; do
  case $file in
    *.md) grep -q '^Made by attn ' "$file" || documents+=("$file") ;;
  esac
done
too_wide=$(LC_ALL=C.UTF-8 grep -nHE '.{101,}' "${documents[@]}" | grep -vE '^[^:]+:[0-9]+:(\||    )' || true)
if [ -n "$too_wide" ]; then
  printf '%s\n' "$too_wide"
  complain "a line of more than 100 columns in a document: wrap it"
fi
words="[Kk]nobs?\b|[Rr]eadable path|[Rr]eadably|can't (be told|tell)|goes on after anything|is no (run|sweep)\b|\
[Ss]tands? twice|belongs? into|\banew\b|could be had|What came of it|wanted an? |end signs?\b|signs? of life|\
[Uu]ndisturbed run|no sign of|goes on with|says so on stderr|[Nn]othing where|contradicts itself|\
\bgoes? on\b|[Ww]hole checkpoint|taken for typos|(one|sentence|tree|object|value|token) a line|there is no such|\
[Ll]a(id|ys?) over|the folder of a|what it printed|that there (is|are)\b|most particular"
prose=()
for file in "${files[@]}"; do
  case $file in
    tools/lint.sh | CHANGELOG.md | results/* | issues/*) ;;
    *.py | data/fetch | tools/gpu_check | tools/recompute) prose+=("$file") ;;
    *.cpp | *.h | *.cu | *.cmake | *CMakeLists.txt | experiments/*.json | run) prose+=("$file") ;;
  esac
done
forbid "words that the field doesn't use: write option, reference, not significant, re-run the same command to resume, not a
      run directory, duplicate, belongs in, again, untested, Results, expected an integer, EOS, heartbeat, uninterrupted,
      resumes, std::nullopt if, invalid, continues, complete checkpoint, probably typos, one per line, does not exist, merged into,
      its output, existing, most specific" "$words" "${prose[@]}" "${documents[@]}"

if command -v python3 >/dev/null 2>&1; then
  printf '%s\n' "${files[@]}" | python3 tools/lint_files.py || failed=1
elif [ "${CI:-}" = true ]; then
  complain "python3 is missing, which checks the syntax, ends and lengths of files"
else
  printf 'lint: no python3 here: the syntax, ends and lengths of files are not checked\n'
fi
for file in run .ci/run tools/lint.sh tools/demo; do
  bash -n "$file" || complain "$file: not valid bash"
done

if [ "$failed" = 0 ]; then printf 'lint: %d files are in order\n' "${#files[@]}"; fi
exit "$failed"
