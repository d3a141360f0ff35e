// The generator's dictionary: every word in English and German, with its grammatical properties.
//
// An ambiguous English word ("bank", "bat", "light", "to miss") has one entry per German
// translation. The semantic classes that a slot admits select the entry. Where they do not,
// `admitted_nouns` excludes the word, so that every English sentence has exactly one translation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attn::grammar {

enum class Number { singular, plural };
enum class Person { first, second, third };
enum class Gender { masculine, feminine, neuter };
enum class Case { nominative, accusative, dative, genitive };

/// Semantic classes of nouns, as bits: selectional restrictions of verbs, adjectives and
/// prepositions.
using Classes = uint32_t;
inline constexpr Classes kPerson = 1 << 0;
inline constexpr Classes kAnimal = 1 << 1;
inline constexpr Classes kFlying = 1 << 2;
inline constexpr Classes kFood = 1 << 3;
inline constexpr Classes kThing = 1 << 4;  // can be carried
inline constexpr Classes kMachine = 1 << 5;
inline constexpr Classes kOpenable = 1 << 6;
inline constexpr Classes kText = 1 << 7;
inline constexpr Classes kFurniture = 1 << 8;
inline constexpr Classes kBuilding = 1 << 9;
inline constexpr Classes kRoom = 1 << 10;
inline constexpr Classes kArea = 1 << 11;
inline constexpr Classes kCity = 1 << 12;
inline constexpr Classes kVehicle = 1 << 13;
inline constexpr Classes kScheduled = 1 << 14;
inline constexpr Classes kFloating = 1 << 15;
inline constexpr Classes kShore = 1 << 16;
inline constexpr Classes kWater = 1 << 17;
inline constexpr Classes kTree = 1 << 18;
inline constexpr Classes kRelation = 1 << 19;  // "her friend", but hardly "her boy"
inline constexpr Classes kParent = 1 << 20;    // "my mother": one per person

struct Noun {
  std::string_view english;
  std::string_view english_plural;
  std::string_view german;
  std::string_view german_plural;
  Gender gender;
  Classes classes;
  std::string_view german_genitive;  ///< masculine and neuter persons, who alone own things
  bool weak = false;                 ///< accusative and dative are like the genitive: "den Jungen"
};

struct Pronoun {
  std::string_view subject, object, possessive;  ///< English
  std::string_view nominative, accusative, dative,
      german_possessive;  ///< "mein", without an ending
  Person person;
  Number number;
};

struct Name {
  std::string_view text;  ///< in both languages
  Gender gender;
};

struct Adjective {
  std::string_view english;
  std::string_view german;
  std::string_view german_stem;  ///< before an ending: "teur" of "teuer"
  Classes classes;
  int rank;  ///< lower ranks come first, "small black"; above 1 each rank is a scale, and so used
             ///< once
};

/// The tenses of the grammar.
enum class Tense { present, past, perfect, modal };

/// A set of tenses.
using Tenses = uint32_t;
constexpr Tenses tense_bit(Tense tense) {
  return Tenses{1} << static_cast<int>(tense);
}

/// "often", "yesterday", "in the evening": fixed in both languages.
struct TimePhrase {
  std::string_view tree;  ///< English, in Penn brackets
  std::string_view german;
  Tenses tenses;
  bool with_negation;  ///< "does not sleep today", but not "does not sleep always"
};

using Manners = uint32_t;
struct Manner {
  std::string_view english;
  std::string_view german;
  Manners bit;
};

struct Preposition {
  std::string_view english;
  std::string_view german;
  Case object_case;
  Classes objects;
};

enum class Frame {
  intransitive,
  motion,         ///< with a direction: "goes into the garden"
  transitive,     ///< German accusative or dative
  ditransitive,   ///< German dative and accusative
  prepositional,  ///< German preposition and case: "wartet auf den Bus"
  that_clause,
  if_clause,  ///< German "ob"
  copula,
  weather,  ///< subject "it"
};

enum class Places { none, location, running, going, flying, swimming };

struct EnglishVerb {
  std::string_view base, third, past, participle;
};
struct GermanVerb {
  std::string_view infinitive, ich, du, er, past, participle;
};

struct Verb {
  EnglishVerb english;
  GermanVerb german;
  Frame frame = Frame::intransitive;
  Classes subjects = 0;
  Classes objects = 0;
  std::string_view particle = {};            ///< English: "picks up"
  std::string_view preposition = {};         ///< English: "waits for"
  std::string_view prefix = {};              ///< German, separable: "ruft … an"
  std::string_view german_preposition = {};  ///< "auf"
  Case object_case = Case::accusative;
  bool with_sein = false;  ///< German perfect
  Places places = Places::none;
  Manners manners = 0;
  bool with_company = false;  ///< "with the teacher"
  bool stative = false;       ///< takes neither a time nor a perfect: "knows", "has"

  /// "read": a past that looks like the present except in the third person singular.
  bool past_looks_present() const { return english.past == english.base; }
};

struct Modal {
  std::string_view english;
  std::string_view ich, du, plural;  ///< German; "er" has the form of "ich" unless `er` is set
  std::string_view er;
  std::string_view negated_ich, negated_du,
      negated_plural;  ///< "must not": "darf nicht"; empty: as above
  bool is_want;        ///< "wants to", with do-support, and with a past
};

struct Conjunction {
  std::string_view english, german;
  std::string_view german_past;  ///< "when" with a past: "als"
  bool wh_adverb;                ///< Penn's WHADVP
};

std::span<const Noun> all_nouns();
std::span<const Pronoun> all_pronouns();
std::span<const Name> all_names();
std::span<const Adjective> all_adjectives();
std::span<const TimePhrase> all_times();
std::span<const TimePhrase> all_frequencies();
std::span<const Manner> all_manners();
std::span<const Verb> all_verbs();
std::span<const Modal> all_modals();
std::span<const Conjunction> all_subordinators();
/// Where an action happens or goes, by kind.
std::span<const Preposition> prepositions_of(Places places);
/// "the man with the dog": the preposition, what it attaches to, what it takes.
struct Attribute {
  Classes heads;
  Preposition preposition;
};
std::span<const Attribute> all_attributes();
/// "with the teacher", "without Anna".
std::span<const Preposition> company_prepositions();
/// The verb "be".
const Verb& copula_verb();
/// "duck": only beside "see", where it rivals the bird: "he saw her duck quickly", "he saw her duck
/// swim".
const Verb& duck_verb();
/// "see", the verb of perception.
const Verb& see_verb();

/// The nouns with a class among `classes`, without those that share their English form with another
/// such noun.
std::vector<const Noun*> admitted_nouns(Classes classes);

}  // namespace attn::grammar
