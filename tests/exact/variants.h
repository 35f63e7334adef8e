// The configurations that properties of the whole registry are held on: every
// method as it is, and with each of its options changed. They come from the
// tables of methods and settings, so a new row of either is covered.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "model/spec/settings.h"

namespace leadline::exact {

struct Variant {
  std::string name;    // "block_attnres_key_norm_off", fit for a test's name
  std::string method;  // "block_attnres"
  spec::GivenSettings options;  // without the method

  /// Another length of blocks, named too.
  Variant WithBlocks(int64_t block_sublayers) const;
};

/// Every method with its defaults.
std::vector<Variant> PlainVariants();

/// PlainVariants and, for each option of a method, every other word of it, the
/// least values of an integer, and a number beside the default. One more a
/// method changes every word that all methods have. What does not resolve at
/// that depth is left out.
std::vector<Variant> Variants(int64_t depth);

/// Lengths of blocks that resolve at that depth: the least, and of the lengths
/// above it one that divides 2 * depth and one that does not. {0} for a method
/// without blocks.
std::vector<int64_t> BlockLengths(const Variant& variant, int64_t depth);

/// Settings of the narrow decoder of `Small`, or none if they do not resolve.
bool Resolves(const Variant& variant, int64_t depth,
              const spec::GivenSettings& extra = {});

/// Resolved settings; a failure of the test if they do not resolve.
spec::Settings SettingsOf(const Variant& variant, int64_t depth,
                          const spec::GivenSettings& extra = {});

/// One configuration at one size.
struct Case {
  Variant variant;
  int64_t depth = 0;
  int64_t replicas = 1;
};
/// "wav_S4_L5_R3".
std::string NameOf(const Case& c);
void PrintTo(const Case& c, std::ostream* out);

/// Plain variants with each of their block lengths at depth 2, 5 and 12, alone
/// and as three replicas; all other variants at depth 5 as three replicas.
std::vector<Case> Cases();
/// Those of three replicas.
std::vector<Case> FusedCases();

/// True if the table of methods says that the method equals prenorm at its
/// start and no option of the variant is one that is known to end that.
bool EqualsPreNormAtStart(const Variant& variant);
/// True if an option of the variant is known to end what the table says.
bool ChangesTheStart(const Variant& variant);

}  // namespace leadline::exact
