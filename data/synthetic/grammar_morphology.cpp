#include "data/synthetic/grammar_morphology.h"

namespace attn::grammar {
namespace {

// Rows: nominative, accusative, dative, genitive. Columns: masculine, feminine, neuter, plural.
using Table = std::string_view[4][4];

constexpr Table kDefinite = {
    {"der", "die", "das", "die"},
    {"den", "die", "das", "die"},
    {"dem", "der", "dem", "den"},
    {"des", "der", "des", "der"},
};
constexpr Table kDerEndings = {
    {"er", "e", "es", "e"},
    {"en", "e", "es", "e"},
    {"em", "er", "em", "en"},
    {"es", "er", "es", "er"},
};
constexpr Table kEinEndings = {
    {"", "e", "", "e"},
    {"en", "e", "", "e"},
    {"em", "er", "em", "en"},
    {"es", "er", "es", "er"},
};
constexpr Table kRelative = {
    {"der", "die", "das", "die"},
    {"den", "die", "das", "die"},
    {"dem", "der", "dem", "denen"},
    {"dessen", "deren", "dessen", "deren"},
};
constexpr Table kPersonal = {
    {"er", "sie", "es", "sie"},
    {"ihn", "sie", "es", "sie"},
    {"ihm", "ihr", "ihm", "ihnen"},
    {"seiner", "ihrer", "seiner", "ihrer"},
};
constexpr Table kWeak = {
    {"e", "e", "e", "en"},
    {"en", "e", "e", "en"},
    {"en", "en", "en", "en"},
    {"en", "en", "en", "en"},
};
constexpr Table kMixed = {
    {"er", "e", "es", "en"},
    {"en", "e", "es", "en"},
    {"en", "en", "en", "en"},
    {"en", "en", "en", "en"},
};
constexpr Table kStrong = {
    {"er", "e", "es", "e"},
    {"en", "e", "es", "e"},
    {"em", "er", "em", "en"},
    {"en", "er", "en", "er"},
};

std::string_view look_up(const Table& table, Case form, Agreement agreement) {
  const int column = agreement.number == Number::plural ? 3 : static_cast<int>(agreement.gender);
  return table[static_cast<int>(form)][column];
}

std::string inflected(std::string_view stem, std::string_view ending) {
  return std::string(stem) += ending;
}

}  // namespace

std::string_view definite_article(Case form, Agreement agreement) {
  return look_up(kDefinite, form, agreement);
}

std::string der_word(std::string_view stem, Case form, Agreement agreement) {
  return inflected(stem, look_up(kDerEndings, form, agreement));
}

std::string ein_word(std::string_view stem, Case form, Agreement agreement) {
  return inflected(stem, look_up(kEinEndings, form, agreement));
}

std::string_view relative_pronoun(Case form, Agreement agreement) {
  return look_up(kRelative, form, agreement);
}

std::string_view personal_pronoun(Case form, Agreement agreement) {
  return look_up(kPersonal, form, agreement);
}

std::string adjective_form(const Adjective& adjective, Declension declension, Case form,
                           Agreement agreement) {
  switch (declension) {
    case Declension::weak:
      return inflected(adjective.german_stem, look_up(kWeak, form, agreement));
    case Declension::mixed:
      return inflected(adjective.german_stem, look_up(kMixed, form, agreement));
    case Declension::strong:
      break;
  }
  return inflected(adjective.german_stem, look_up(kStrong, form, agreement));
}

std::string noun_form(const Noun& noun, Case form, Number number) {
  if (number == Number::plural) {
    const char last = noun.german_plural.back();
    const bool takes_n = form == Case::dative && last != 'n' && last != 's';
    return inflected(noun.german_plural, takes_n ? "n" : "");
  }
  const bool own_genitive = form == Case::genitive && !noun.german_genitive.empty();
  const bool weak = noun.weak && form != Case::nominative;
  return std::string(own_genitive || weak ? noun.german_genitive : noun.german);
}

std::string_view fused_preposition(std::string_view preposition, Case form, Agreement agreement) {
  if (agreement.number == Number::plural) return {};
  if (form == Case::accusative) {
    return preposition == "in" && agreement.gender == Gender::neuter ? "ins" : std::string_view();
  }
  if (agreement.gender == Gender::feminine) {
    return preposition == "zu" ? "zur" : std::string_view();
  }
  if (preposition == "in") return "im";
  if (preposition == "an") return "am";
  if (preposition == "zu") return "zum";
  return {};
}

std::string finite_form(const GermanVerb& verb, Person person, Number number, bool past) {
  if (past) {
    const bool ends_in_e = verb.past.ends_with('e');
    if (number == Number::plural) return inflected(verb.past, ends_in_e ? "n" : "en");
    if (person == Person::second) return inflected(verb.past, "st");
    return std::string(verb.past);
  }
  if (number == Number::plural) {
    return std::string(verb.infinitive == "sein" ? "sind" : verb.infinitive);
  }
  switch (person) {
    case Person::first:
      return std::string(verb.ich);
    case Person::second:
      return std::string(verb.du);
    case Person::third:
      break;
  }
  return std::string(verb.er);
}

std::string modal_form(const Modal& modal, Person person, Number number, bool negated) {
  const bool other = negated && !modal.negated_ich.empty();
  if (number == Number::plural) return std::string(other ? modal.negated_plural : modal.plural);
  if (person == Person::second) return std::string(other ? modal.negated_du : modal.du);
  if (other) return std::string(modal.negated_ich);
  return std::string(person == Person::third ? modal.er : modal.ich);
}

}  // namespace attn::grammar
