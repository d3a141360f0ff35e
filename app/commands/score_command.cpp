#include "app/commands/score_command.h"

#include "app/commands/score_bleu.h"
#include "app/commands/score_chrf.h"
#include "app/commands/score_parse.h"
#include "app/commands/score_ter.h"
#include "app/commands/score_text.h"
#include "app/commands/score_triples.h"

namespace attn {

void add_score_command(CLI::App& app) {
  CLI::App* score = app.add_subcommand(
      "score", "Score text or tree files with BLEU, chrF, TER or F1, without a model");
  score->footer(
      "Examples: attn score bleu out.de ref.de --tokenize 13a\n"
      "          attn score chrf out.de ref.de --word-order 2\n"
      "          attn score text out.de ref.de --metrics bleu,chrf,ter --baseline base.de\n"
      "          attn score parse gold.ptb out.ptb\n"
      "See attn score bleu --help etc. for the options.");
  score->require_subcommand(1);
  add_score_bleu_command(*score);
  add_score_chrf_command(*score);
  add_score_ter_command(*score);
  add_score_text_command(*score);
  add_score_triples_command(*score);
  add_score_parse_command(*score);
}

}  // namespace attn
