#include "data/synthetic/grammar_lexicon.h"

#include <algorithm>

namespace attn::grammar {
namespace {

constexpr Gender kM = Gender::masculine;
constexpr Gender kF = Gender::feminine;
constexpr Gender kN = Gender::neuter;

constexpr Classes kLiving = kPerson | kAnimal;
constexpr Classes kObject = kThing | kText | kVehicle | kFurniture | kOpenable;
constexpr Classes kInside = kBuilding | kRoom | kArea;

constexpr Noun kNouns[] = {
    {"man", "men", "Mann", "Männer", kM, kPerson, "Mannes"},
    {"woman", "women", "Frau", "Frauen", kF, kPerson, {}},
    {"child", "children", "Kind", "Kinder", kN, kPerson | kRelation, "Kindes"},
    {"boy", "boys", "Junge", "Jungen", kM, kPerson, "Jungen", true},
    {"girl", "girls", "Mädchen", "Mädchen", kN, kPerson, "Mädchens"},
    {"teacher", "teachers", "Lehrer", "Lehrer", kM, kPerson | kRelation, "Lehrers"},
    {"doctor", "doctors", "Arzt", "Ärzte", kM, kPerson | kRelation, "Arztes"},
    {"neighbor", "neighbors", "Nachbar", "Nachbarn", kM, kPerson | kRelation, "Nachbarn", true},
    {"mother", "mothers", "Mutter", "Mütter", kF, kPerson | kRelation | kParent, {}},
    {"father", "fathers", "Vater", "Väter", kM, kPerson | kRelation | kParent, "Vaters"},
    {"sister", "sisters", "Schwester", "Schwestern", kF, kPerson | kRelation, {}},
    {"brother", "brothers", "Bruder", "Brüder", kM, kPerson | kRelation, "Bruders"},
    {"friend", "friends", "Freund", "Freunde", kM, kPerson | kRelation, "Freundes"},
    {"dog", "dogs", "Hund", "Hunde", kM, kAnimal, {}},
    {"cat", "cats", "Katze", "Katzen", kF, kAnimal, {}},
    {"horse", "horses", "Pferd", "Pferde", kN, kAnimal, {}},
    {"bear", "bears", "Bär", "Bären", kM, kAnimal, "Bären", true},
    {"bird", "birds", "Vogel", "Vögel", kM, kAnimal | kFlying, {}},
    {"duck", "ducks", "Ente", "Enten", kF, kAnimal | kFlying, {}},
    {"bat", "bats", "Fledermaus", "Fledermäuse", kF, kAnimal | kFlying, {}},
    {"crane", "cranes", "Kranich", "Kraniche", kM, kAnimal | kFlying, {}},
    {"apple", "apples", "Apfel", "Äpfel", kM, kFood, {}},
    {"egg", "eggs", "Ei", "Eier", kN, kFood, {}},
    {"sausage", "sausages", "Wurst", "Würste", kF, kFood, {}},
    {"bag", "bags", "Tasche", "Taschen", kF, kThing, {}},
    {"knife", "knives", "Messer", "Messer", kN, kThing, {}},
    {"key", "keys", "Schlüssel", "Schlüssel", kM, kThing, {}},
    {"hat", "hats", "Hut", "Hüte", kM, kThing, {}},
    {"flower", "flowers", "Blume", "Blumen", kF, kThing, {}},
    {"leaf", "leaves", "Blatt", "Blätter", kN, kThing, {}},
    {"bat", "bats", "Schläger", "Schläger", kM, kThing, {}},
    {"saw", "saws", "Säge", "Sägen", kF, kThing | kMachine, {}},
    {"lamp", "lamps", "Lampe", "Lampen", kF, kThing | kMachine, {}},
    {"watch", "watches", "Uhr", "Uhren", kF, kThing | kMachine, {}},
    {"box", "boxes", "Kiste", "Kisten", kF, kThing | kOpenable, {}},
    {"can", "cans", "Dose", "Dosen", kF, kThing | kOpenable, {}},
    {"door", "doors", "Tür", "Türen", kF, kOpenable, {}},
    {"window", "windows", "Fenster", "Fenster", kN, kOpenable, {}},
    {"book", "books", "Buch", "Bücher", kN, kText, {}},
    {"letter", "letters", "Brief", "Briefe", kM, kText, {}},
    {"newspaper", "newspapers", "Zeitung", "Zeitungen", kF, kText, {}},
    {"table", "tables", "Tisch", "Tische", kM, kFurniture, {}},
    {"bed", "beds", "Bett", "Betten", kN, kFurniture, {}},
    {"bench", "benches", "Bank", "Bänke", kF, kFurniture, {}},
    {"house", "houses", "Haus", "Häuser", kN, kBuilding, {}},
    {"school", "schools", "Schule", "Schulen", kF, kBuilding, {}},
    {"station", "stations", "Bahnhof", "Bahnhöfe", kM, kBuilding, {}},
    {"bank", "banks", "Bank", "Banken", kF, kBuilding, {}},
    {"bank", "banks", "Ufer", "Ufer", kN, kShore, {}},
    {"kitchen", "kitchens", "Küche", "Küchen", kF, kRoom, {}},
    {"room", "rooms", "Zimmer", "Zimmer", kN, kRoom, {}},
    {"garden", "gardens", "Garten", "Gärten", kM, kArea, {}},
    {"forest", "forests", "Wald", "Wälder", kM, kArea, {}},
    {"city", "cities", "Stadt", "Städte", kF, kArea | kCity, {}},
    {"car", "cars", "Auto", "Autos", kN, kVehicle | kMachine, {}},
    {"crane", "cranes", "Kran", "Kräne", kM, kVehicle | kMachine, {}},
    {"train", "trains", "Zug", "Züge", kM, kScheduled, {}},
    {"bus", "buses", "Bus", "Busse", kM, kScheduled, {}},
    {"boat", "boats", "Boot", "Boote", kN, kFloating | kMachine, {}},
    {"river", "rivers", "Fluss", "Flüsse", kM, kWater, {}},
    {"tree", "trees", "Baum", "Bäume", kM, kTree, {}},
};

constexpr Pronoun kPronouns[] = {
    {"I", "me", "my", "ich", "mich", "mir", "mein", Person::first, Number::singular},
    {"you", "you", "your", "du", "dich", "dir", "dein", Person::second, Number::singular},
    {"he", "him", "his", "er", "ihn", "ihm", "sein", Person::third, Number::singular},
    {"she", "her", "her", "sie", "sie", "ihr", "ihr", Person::third, Number::singular},
    {"we", "us", "our", "wir", "uns", "uns", "unser", Person::first, Number::plural},
    {"they", "them", "their", "sie", "sie", "ihnen", "ihr", Person::third, Number::plural},
};

constexpr Name kNames[] = {
    {"Anna", kF}, {"Maria", kF}, {"Lisa", kF}, {"Peter", kM}, {"Paul", kM}, {"Martin", kM},
};

constexpr Adjective kAdjectives[] = {
    {"happy", "glücklich", "glücklich", kPerson, 1},
    {"hungry", "hungrig", "hungrig", kLiving, 1},
    {"tired", "müde", "müd", kLiving, 1},
    {"beautiful", "schön", "schön", kObject | kFlying | kInside | kFloating | kShore | kWater, 1},
    {"expensive", "teuer", "teur", kObject | kFood | kFloating, 1},
    {"broken", "kaputt", "kaputt", kMachine | kOpenable | kFurniture, 1},
    {"light", "leicht", "leicht", kThing, 4},
    {"light", "hell", "hell", kRoom, 4},
    {"dark", "dunkel", "dunkl", kRoom | kArea | kShore, 4},
    {"big", "groß", "groß", kAnimal | kFood | kThing | kInside | kFloating | kVehicle, 2},
    {"small", "klein", "klein", kLiving | kFood | kObject | kInside | kFloating | kTree | kWater,
     2},
    {"short", "klein", "klein", kPerson, 2},
    {"short", "kurz", "kurz", kText, 2},
    {"young", "jung", "jung", kLiving, 3},
    {"old", "alt", "alt", kLiving | kObject | kInside | kFloating | kScheduled | kTree, 3},
    {"new", "neu", "neu", kObject | kBuilding | kFloating | kScheduled, 3},
    {"red", "rot", "rot", kThing | kVehicle | kFurniture | kOpenable | kScheduled, 4},
    {"black", "schwarz", "schwarz", kAnimal | kThing | kVehicle | kScheduled, 4},
};

constexpr Tenses kPresent = tense_bit(Tense::present);
constexpr Tenses kPast = tense_bit(Tense::past);
constexpr Tenses kPerfect = tense_bit(Tense::perfect);
constexpr Tenses kModal = tense_bit(Tense::modal);

constexpr TimePhrase kTimes[] = {
    {"(NP (NN today))", "heute", kPresent | kPast | kPerfect | kModal, true},
    {"(NP (NN yesterday))", "gestern", kPast, true},
    {"(NP (NN tomorrow))", "morgen", kModal, true},
    {"(ADVP (RB now))", "jetzt", kPresent | kModal, true},
    {"(NP (DT every) (NN day))", "jeden Tag", kPresent | kPast, false},
    {"(NP (JJ last) (NN week))", "letzte Woche", kPast, true},
    {"(PP (IN in) (NP (DT the) (NN morning)))", "am Morgen", kPresent | kPast | kModal, true},
    {"(PP (IN in) (NP (DT the) (NN evening)))", "am Abend", kPresent | kPast | kModal, true},
    {"(PP (IN on) (NP (NNP Monday)))", "am Montag", kPast | kModal, true},
    {"(PP (IN on) (NP (NNP Sunday)))", "am Sonntag", kPast | kModal, true},
};

constexpr TimePhrase kFrequencies[] = {
    {"(ADVP (RB often))", "oft", kPresent | kPast | kPerfect, false},
    {"(ADVP (RB always))", "immer", kPresent | kPast, false},
    {"(ADVP (RB sometimes))", "manchmal", kPresent | kPast, false},
    {"(ADVP (RB never))", "nie", kPresent | kPast | kPerfect, false},
    {"(ADVP (RB already))", "schon", kPerfect, false},
};

constexpr Manners kSlowly = 1, kQuickly = 2, kQuietly = 4, kLoudly = 8, kWell = 16;
constexpr Manner kManners[] = {
    {"slowly", "langsam", kSlowly}, {"quickly", "schnell", kQuickly},
    {"quietly", "leise", kQuietly}, {"loudly", "laut", kLoudly},
    {"well", "gut", kWell},
};

constexpr Preposition kLocations[] = {
    {"in", "in", Case::dative, kInside},
    {"under", "unter", Case::dative, kFurniture | kTree},
    {"behind", "hinter", Case::dative, kBuilding | kTree},
    {"on", "auf", Case::dative, kFurniture},
    {"on", "an", Case::dative, kShore},
};
constexpr Preposition kRunning[] = {
    {"into", "in", Case::accusative, kInside},
    {"under", "unter", Case::accusative, kFurniture | kTree},
    {"behind", "hinter", Case::accusative, kBuilding | kTree},
    {"to", "zu", Case::dative, kPerson | kBuilding | kTree},
};
constexpr Preposition kGoing[] = {
    {"into", "in", Case::accusative, kInside},
    {"to", "zu", Case::dative, kPerson | kBuilding},
};
constexpr Preposition kFlyingOver[] = {
    {"over", "über", Case::accusative, kArea | kWater | kTree},
};
constexpr Preposition kSwimming[] = {
    {"in", "in", Case::dative, kWater},
    {"to", "zu", Case::dative, kShore | kFloating},
};
constexpr Preposition kCompany[] = {
    {"with", "mit", Case::dative, kPerson},
    {"without", "ohne", Case::accusative, kPerson},
};
constexpr Attribute kAttributes[] = {
    {kPerson, {"with", "mit", Case::dative, kAnimal | kThing}},
    {kPerson, {"from", "aus", Case::dative, kCity}},
    {kThing | kFood | kText, {"on", "auf", Case::dative, kFurniture}},
    {kText | kThing, {"for", "für", Case::accusative, kPerson}},
    {kBuilding, {"by", "an", Case::dative, kWater}},
};

constexpr Modal kModals[] = {
    {"can", "kann", "kannst", "können", "kann", {}, {}, {}, false},
    {"must", "muss", "musst", "müssen", "muss", "darf", "darfst", "dürfen", false},
    {"should", "sollte", "solltest", "sollten", "sollte", {}, {}, {}, false},
    {"will", "werde", "wirst", "werden", "wird", {}, {}, {}, false},
    {"want", "will", "willst", "wollen", "will", {}, {}, {}, true},
};

constexpr Conjunction kSubordinators[] = {
    {"because", "weil", "weil", false},     {"when", "wenn", "als", true},
    {"if", "wenn", "wenn", false},          {"although", "obwohl", "obwohl", false},
    {"while", "während", "während", false}, {"before", "bevor", "bevor", false},
};

}  // namespace

std::span<const Noun> all_nouns() {
  return kNouns;
}
std::span<const Pronoun> all_pronouns() {
  return kPronouns;
}
std::span<const Name> all_names() {
  return kNames;
}
std::span<const Adjective> all_adjectives() {
  return kAdjectives;
}
std::span<const TimePhrase> all_times() {
  return kTimes;
}
std::span<const TimePhrase> all_frequencies() {
  return kFrequencies;
}
std::span<const Manner> all_manners() {
  return kManners;
}
std::span<const Modal> all_modals() {
  return kModals;
}
std::span<const Conjunction> all_subordinators() {
  return kSubordinators;
}
std::span<const Attribute> all_attributes() {
  return kAttributes;
}
std::span<const Preposition> company_prepositions() {
  return kCompany;
}

std::span<const Preposition> prepositions_of(Places places) {
  switch (places) {
    case Places::none:
      return {};
    case Places::location:
      return kLocations;
    case Places::running:
      return kRunning;
    case Places::going:
      return kGoing;
    case Places::flying:
      return kFlyingOver;
    case Places::swimming:
      return kSwimming;
  }
  return {};
}

std::vector<const Noun*> admitted_nouns(Classes classes) {
  const auto fits = [classes](const Noun& noun) { return (noun.classes & classes) != 0; };
  std::vector<const Noun*> admitted;
  for (const Noun& noun : kNouns) {
    const auto rivals = [&](const Noun& other) {
      return &other != &noun && other.english == noun.english && fits(other);
    };
    if (fits(noun) && std::ranges::none_of(kNouns, rivals)) admitted.push_back(&noun);
  }
  return admitted;
}

}  // namespace attn::grammar
