// What a reader of a table over seeds must be told beside its figures.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leadline::analysis {

/// One succeeded trial of a cell.
struct SeedLoss {
  int64_t seed = 0;
  double value = 0;
  std::string numerics;  // "fused-fp32"; empty where not known
};

struct CellSample {
  std::string cell;  // its id as text
  int64_t planned = 0;
  int64_t diverged = 0;
  int64_t failed = 0;
  std::string unit;
  std::vector<SeedLoss> seeds;
  std::string method = {};  // its label: "wav(rho=2)"
};

/// Gathers cell after cell, so that a sweep need not be held at once.
class Warnings {
 public:
  /// `ended`: nothing of the sweep is still to come, so what is missing stays
  /// missing.
  explicit Warnings(bool ended) : ended_(ended) {}

  void Add(const CellSample& cell);

  /// Few and short, whatever the size of the sweep: a line a kind of trouble,
  /// with the first cells it concerns. Names seeds whose losses are equal to
  /// the last bit (they may be one run counted twice), missing seeds, numerics
  /// or units that differ among what is compared, and what the table of methods
  /// wants said beside every result of a method.
  std::vector<std::string> Lines() const;

 private:
  /// Cells with one trouble: all counted, the first ones named.
  struct Trouble {
    int64_t cells = 0;
    std::vector<std::string> named;
    void Name(const std::string& text);
  };

  static std::string Line(const Trouble& trouble, const std::string& meaning);

  const bool ended_;
  Trouble equal_;
  Trouble diverged_;
  Trouble failed_;
  Trouble missing_;
  std::vector<std::string> numerics_;  // each once, in order of appearance
  std::vector<std::string> units_;
  std::vector<std::string> caveats_;
};

}  // namespace leadline::analysis
