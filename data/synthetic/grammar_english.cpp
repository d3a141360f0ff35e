#include "data/synthetic/grammar_english.h"

#include <string>
#include <string_view>
#include <utility>

namespace attn::grammar {
namespace {

Tree noun_phrase(const NounPhrase& phrase, bool as_subject);
std::vector<Tree> clause_parts(const Clause& clause);

Tree parse_one(std::string_view brackets) {
  return parse_trees(brackets, "the generator's dictionary").at(0);
}

Tree prepositional_phrase(const PrepositionalPhrase& phrase) {
  const std::string_view word = phrase.preposition->english;
  return tree_node(
      "PP", {tree_leaf(word == "to" ? "TO" : "IN", word), noun_phrase(*phrase.object, false)});
}

Tree clause_node(const Clause& clause) {
  return tree_node("S", clause_parts(clause));
}

bool is_vowel(char c) {
  return std::string_view("aeiou").find(c) != std::string_view::npos;
}

Tree determiner(const NounPhrase& phrase, std::string_view next_word) {
  const bool plural = phrase.number == Number::plural;
  switch (phrase.determiner) {
    case Determiner::indefinite:
      return tree_leaf("DT", is_vowel(next_word.front()) ? "an" : "a");
    case Determiner::demonstrative:
      return tree_leaf("DT", plural ? "these" : "this");
    case Determiner::every:
      return tree_leaf("DT", "every");
    case Determiner::many:
      return tree_leaf("JJ", "many");
    case Determiner::two:
      return tree_leaf("CD", "two");
    case Determiner::three:
      return tree_leaf("CD", "three");
    case Determiner::possessive:
      return tree_leaf("PRP$", phrase.pronoun->possessive);
    case Determiner::owner: {
      Tree owner = noun_phrase(phrase.parts.at(0), false);
      owner.children.push_back(tree_leaf("POS", "'s"));
      return owner;
    }
    case Determiner::definite:
    case Determiner::whose:
      break;
  }
  return tree_leaf("DT", "the");
}

bool has_determiner(const NounPhrase& phrase) {
  const bool bare = phrase.determiner == Determiner::indefinite && phrase.number == Number::plural;
  return !bare && phrase.determiner != Determiner::whose;
}

// Determiner, adjectives and noun, without what follows the noun.
std::vector<Tree> noun_core(const NounPhrase& phrase) {
  std::vector<Tree> parts;
  for (const Modifier& modifier : phrase.adjectives) {
    Tree adjective = tree_leaf("JJ", modifier.adjective->english);
    if (modifier.very) {
      adjective = tree_node("ADJP", {tree_leaf("RB", "very"), std::move(adjective)});
    }
    parts.push_back(std::move(adjective));
  }
  const bool plural = phrase.number == Number::plural;
  parts.push_back(tree_leaf(plural ? "NNS" : "NN",
                            plural ? phrase.noun->english_plural : phrase.noun->english));
  if (has_determiner(phrase)) {
    const std::string next_word = tree_words(parts.front()).front();
    parts.insert(parts.begin(), determiner(phrase, next_word));
  }
  return parts;
}

Tree relative_clause(const NounPhrase& head, const Clause& clause) {
  const bool of_person = head.noun != nullptr && (head.noun->classes & kPerson) != 0;
  Tree front;
  if (clause.gap == Gap::owner) {
    std::vector<Tree> owned = noun_core(clause.subject);
    owned.insert(owned.begin(), tree_leaf("WP$", "whose"));
    front = tree_node("WHNP", std::move(owned));
  } else if (of_person) {
    front = tree_node("WHNP", {tree_leaf("WP", clause.gap == Gap::subject ? "who" : "whom")});
  } else {
    front = tree_node("WHNP", {tree_leaf("WDT", "that")});
  }
  return tree_node("SBAR", {std::move(front), clause_node(clause)});
}

Tree pronoun_phrase(std::string_view word) {
  return tree_node("NP", {tree_leaf("PRP", word)});
}

Tree noun_phrase(const NounPhrase& phrase, bool as_subject) {
  switch (phrase.kind) {
    case NounPhrase::Kind::pronoun:
      return pronoun_phrase(as_subject ? phrase.pronoun->subject : phrase.pronoun->object);
    case NounPhrase::Kind::anaphor:
      if (phrase.number == Number::plural) return pronoun_phrase(as_subject ? "they" : "them");
      return pronoun_phrase("it");
    case NounPhrase::Kind::weather:
      return pronoun_phrase("it");
    case NounPhrase::Kind::name:
      return tree_node("NP", {tree_leaf("NNP", phrase.name->text)});
    case NounPhrase::Kind::coordination:
      if (phrase.parts.at(0).kind == NounPhrase::Kind::name &&
          phrase.parts.at(1).kind == NounPhrase::Kind::name) {
        return tree_node("NP",
                         {tree_leaf("NNP", phrase.parts.at(0).name->text), tree_leaf("CC", "and"),
                          tree_leaf("NNP", phrase.parts.at(1).name->text)});
      }
      return tree_node("NP", {noun_phrase(phrase.parts.at(0), as_subject), tree_leaf("CC", "and"),
                              noun_phrase(phrase.parts.at(1), as_subject)});
    case NounPhrase::Kind::common:
      break;
  }
  Tree tree = tree_node("NP", noun_core(phrase));
  if (phrase.attribute) {
    tree = tree_node("NP", {std::move(tree), prepositional_phrase(*phrase.attribute)});
  }
  if (phrase.relative) {
    tree = tree_node("NP", {std::move(tree), relative_clause(phrase, *phrase.relative)});
  }
  return tree;
}

Tree adverb_phrase(std::string_view word) {
  return tree_node("ADVP", {tree_leaf("RB", word)});
}

Tree predicate_adjective(const Modifier& modifier) {
  std::vector<Tree> parts;
  if (modifier.very) parts.push_back(tree_leaf("RB", "very"));
  parts.push_back(tree_leaf("JJ", modifier.adjective->english));
  return tree_node("ADJP", std::move(parts));
}

// "her duck quickly": the subject in the object form and a bare infinitive.
Tree perceived_clause(const Clause& clause) {
  std::vector<Tree> verb_phrase = {tree_leaf("VB", clause.perceived->english.base)};
  if (clause.manner != nullptr) verb_phrase.push_back(adverb_phrase(clause.manner->english));
  return tree_node("S",
                   {noun_phrase(*clause.object, false), tree_node("VP", std::move(verb_phrase))});
}

void add_objects(std::vector<Tree>& parts, const Clause& clause) {
  const Verb& verb = *clause.verb;
  Tree particle;
  if (!verb.particle.empty()) particle = tree_node("PRT", {tree_leaf("RP", verb.particle)});
  const bool particle_last = clause.object && clause.object->is_pronoun();
  if (!verb.particle.empty() && !particle_last) parts.push_back(particle);
  if (clause.recipient && !clause.recipient_last) {
    parts.push_back(noun_phrase(*clause.recipient, false));
  }
  if (clause.perceived != nullptr) {
    parts.push_back(perceived_clause(clause));
  } else if (clause.object) {
    Tree object = noun_phrase(*clause.object, false);
    if (!verb.preposition.empty()) {
      object = tree_node("PP", {tree_leaf("IN", verb.preposition), std::move(object)});
    }
    parts.push_back(std::move(object));
  }
  if (!verb.particle.empty() && particle_last) parts.push_back(particle);
  if (clause.recipient && clause.recipient_last) {
    parts.push_back(
        tree_node("PP", {tree_leaf("TO", "to"), noun_phrase(*clause.recipient, false)}));
  }
}

// Everything after the verb.
std::vector<Tree> verb_arguments(const Clause& clause) {
  std::vector<Tree> parts;
  add_objects(parts, clause);
  if (clause.adjective) parts.push_back(predicate_adjective(*clause.adjective));
  if (clause.manner != nullptr && clause.perceived == nullptr) {
    parts.push_back(adverb_phrase(clause.manner->english));
  }
  if (clause.company) parts.push_back(prepositional_phrase(*clause.company));
  if (clause.place) parts.push_back(prepositional_phrase(*clause.place));
  if (clause.time != nullptr && !clause.time_first) parts.push_back(parse_one(clause.time->tree));
  if (clause.complement) {
    const std::string_view word = clause.verb->frame == Frame::if_clause ? "if" : "that";
    parts.push_back(tree_node("SBAR", {tree_leaf("IN", word), clause_node(*clause.complement)}));
  }
  return parts;
}

Tree be_form(const NounPhrase& subject, bool past) {
  const bool first_singular =
      subject.person() == Person::first && subject.number == Number::singular;
  if (past) {
    const bool was = first_singular || subject.is_third_singular();
    return tree_leaf("VBD", was ? "was" : "were");
  }
  if (first_singular) return tree_leaf("VBP", "am");
  return subject.is_third_singular() ? tree_leaf("VBZ", "is") : tree_leaf("VBP", "are");
}

Tree finite_form(const EnglishVerb& verb, const NounPhrase& subject, bool past) {
  if (verb.base == "be") return be_form(subject, past);
  if (past) return tree_leaf("VBD", verb.past);
  return subject.is_third_singular() ? tree_leaf("VBZ", verb.third) : tree_leaf("VBP", verb.base);
}

constexpr EnglishVerb kDo = {"do", "does", "did", "done"};
constexpr EnglishVerb kHave = {"have", "has", "had", "had"};
constexpr EnglishVerb kWant = {"want", "wants", "wanted", "wanted"};

// A finite auxiliary, if there is one, and what follows it: one verb phrase, or the predicate of
// "be".
struct VerbGroup {
  std::optional<Tree> auxiliary;
  std::vector<Tree> rest;
};

Tree verb_phrase(Tree verb, std::vector<Tree> arguments) {
  arguments.insert(arguments.begin(), std::move(verb));
  return tree_node("VP", std::move(arguments));
}

VerbGroup want_group(const Clause& clause, bool with_do) {
  Tree infinitive = verb_phrase(tree_leaf("VB", clause.verb->english.base), verb_arguments(clause));
  Tree wanted = tree_node("S", {tree_node("VP", {tree_leaf("TO", "to"), std::move(infinitive)})});
  if (!with_do) {
    return {{}, {verb_phrase(finite_form(kWant, clause.subject, false), {std::move(wanted)})}};
  }
  return {finite_form(kDo, clause.subject, false),
          {verb_phrase(tree_leaf("VB", "want"), {std::move(wanted)})}};
}

VerbGroup verb_group(const Clause& clause, bool inverted) {
  const EnglishVerb& verb = clause.verb->english;
  const bool with_do = clause.negated || inverted;
  const bool past = clause.tense == Tense::past;
  if (clause.tense == Tense::modal && clause.modal->is_want) return want_group(clause, with_do);
  std::vector<Tree> arguments = verb_arguments(clause);
  if (clause.tense == Tense::modal) {
    return {tree_leaf("MD", clause.modal->english),
            {verb_phrase(tree_leaf("VB", verb.base), std::move(arguments))}};
  }
  if (clause.tense == Tense::perfect) {
    return {finite_form(kHave, clause.subject, false),
            {verb_phrase(tree_leaf("VBN", verb.participle), std::move(arguments))}};
  }
  if (clause.verb->frame == Frame::copula) {
    return {be_form(clause.subject, past), std::move(arguments)};
  }
  if (with_do) {
    return {finite_form(kDo, clause.subject, past),
            {verb_phrase(tree_leaf("VB", verb.base), std::move(arguments))}};
  }
  return {{}, {verb_phrase(finite_form(verb, clause.subject, past), std::move(arguments))}};
}

// The children of S in a statement, a subordinate or a relative clause.
std::vector<Tree> clause_parts(const Clause& clause) {
  std::vector<Tree> parts;
  if (clause.time_first) {
    parts.push_back(parse_one(clause.time->tree));
    parts.push_back(tree_leaf(",", ","));
  }
  if (clause.gap != Gap::subject && clause.gap != Gap::owner) {
    parts.push_back(noun_phrase(clause.subject, true));
  }
  VerbGroup group = verb_group(clause, false);
  std::optional<Tree> frequency;
  if (clause.frequency != nullptr) frequency = parse_one(clause.frequency->tree);
  if (!group.auxiliary) {
    if (frequency) parts.push_back(std::move(*frequency));
    parts.push_back(std::move(group.rest.front()));
    return parts;
  }
  std::vector<Tree> verb_phrase = {std::move(*group.auxiliary)};
  if (clause.negated) verb_phrase.push_back(tree_leaf("RB", "not"));
  if (frequency) verb_phrase.push_back(std::move(*frequency));
  for (Tree& tree : group.rest) verb_phrase.push_back(std::move(tree));
  parts.push_back(tree_node("VP", std::move(verb_phrase)));
  return parts;
}

Tree inverted_clause(const Clause& clause) {
  VerbGroup group = verb_group(clause, true);
  std::vector<Tree> parts = {std::move(*group.auxiliary), noun_phrase(clause.subject, true)};
  for (Tree& tree : group.rest) parts.push_back(std::move(tree));
  return tree_node("SQ", std::move(parts));
}

Tree adverb_question_word(Sentence::Adverb adverb) {
  switch (adverb) {
    case Sentence::Adverb::where:
      return tree_leaf("WRB", "where");
    case Sentence::Adverb::why:
      return tree_leaf("WRB", "why");
    case Sentence::Adverb::when:
      break;
  }
  return tree_leaf("WRB", "when");
}

Tree subordinate_clause(const Conjunction& conjunction, const Clause& clause) {
  Tree word = conjunction.wh_adverb ? tree_node("WHADVP", {tree_leaf("WRB", conjunction.english)})
                                    : tree_leaf("IN", conjunction.english);
  return tree_node("SBAR", {std::move(word), clause_node(clause)});
}

Tree who_question(const Clause& clause) {
  Tree verbs = std::move(clause_parts(clause).back());
  return tree_node(
      "SBARQ", {tree_node("WHNP", {tree_leaf("WP", "who")}), tree_node("SQ", {std::move(verbs)})});
}

Tree sentence_tree(const Sentence& sentence) {
  switch (sentence.kind) {
    case Sentence::Kind::statement:
      return clause_node(sentence.first);
    case Sentence::Kind::coordination:
      return tree_node(
          "S", {clause_node(sentence.first), tree_leaf(",", ","),
                tree_leaf("CC", sentence.contrast ? "but" : "and"), clause_node(*sentence.second)});
    case Sentence::Kind::subordinate_last: {
      Tree tree = clause_node(sentence.first);
      tree.children.back().children.push_back(
          subordinate_clause(*sentence.subordinator, *sentence.second));
      return tree;
    }
    case Sentence::Kind::subordinate_first: {
      Tree tree = clause_node(*sentence.second);
      tree.children.insert(tree.children.begin(), tree_leaf(",", ","));
      tree.children.insert(tree.children.begin(),
                           subordinate_clause(*sentence.subordinator, sentence.first));
      return tree;
    }
    case Sentence::Kind::question:
      return inverted_clause(sentence.first);
    case Sentence::Kind::who:
      return who_question(sentence.first);
    case Sentence::Kind::object_question:
      return tree_node(
          "SBARQ", {tree_node("WHNP", {tree_leaf("WP", sentence.asks_person ? "whom" : "what")}),
                    inverted_clause(sentence.first)});
    case Sentence::Kind::adverb_question:
      break;
  }
  return tree_node("SBARQ", {tree_node("WHADVP", {adverb_question_word(sentence.adverb)}),
                             inverted_clause(sentence.first)});
}

std::string& first_word(Tree& tree) {
  return tree.is_leaf() ? tree.word : first_word(tree.children.front());
}

bool is_question(const Sentence& sentence) {
  switch (sentence.kind) {
    case Sentence::Kind::question:
    case Sentence::Kind::who:
    case Sentence::Kind::object_question:
    case Sentence::Kind::adverb_question:
      return true;
    case Sentence::Kind::statement:
    case Sentence::Kind::coordination:
    case Sentence::Kind::subordinate_last:
    case Sentence::Kind::subordinate_first:
      break;
  }
  return false;
}

}  // namespace

Tree english_tree(const Sentence& sentence) {
  Tree tree = sentence_tree(sentence);
  char& initial = first_word(tree).front();  // English words of the dictionary begin in ASCII
  if (initial >= 'a' && initial <= 'z') initial = static_cast<char>(initial - 'a' + 'A');
  tree.children.push_back(tree_leaf(".", is_question(sentence) ? "?" : "."));
  return tree_node("TOP", {std::move(tree)});
}

}  // namespace attn::grammar
