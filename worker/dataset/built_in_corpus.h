// Corpora made by a text process from a fixed seed, and their exact floors.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/dataset/text_process.h"

namespace leadline::dataset {

inline constexpr int64_t kBuiltInCharacters = 2'000'000;

struct GeneratedText {
  std::string text;   // ASCII
  double nats = 0.0;  // -ln p(text), summed over the choices
};

/// The first `characters` characters that `process`, standing at its start,
/// writes with the draws of stream `corpus/<name>` under seed 0. Draws are
/// integers, so the text is the same on every machine. A last piece that is cut
/// counts with the probability of what is left of it.
GeneratedText GenerateText(TextProcess& process, std::string_view name,
                           int64_t characters = kBuiltInCharacters);

/// -ln p of each character of `text` given all before it, in nats, from the
/// text and the process's weights alone: reads the text back into choices.
/// Throws DataError, with the offset, if the process cannot have written it.
std::vector<double> ScoreText(TextProcess& process, std::string_view text);

/// The loss, nats/char, of a reader who knows the process and all that came
/// before: mean over the characters of `nats` from `begin`, the first left out
/// as evaluation leaves it out.
double Floor(const std::vector<double>& nats, int64_t begin, int64_t size);

/// Sum with compensation (Neumaier): exact to the last bits whatever the
/// length.
double CompensatedSum(const double* values, size_t count);

}  // namespace leadline::dataset
