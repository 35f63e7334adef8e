#include "worker/dataset/built_in_corpus.h"

#include <cmath>

#include "common/random_stream.h"
#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

uint64_t TotalWeight(const std::vector<TextOption>& options) {
  uint64_t total = 0;
  for (const TextOption& option : options) total += option.weight;
  return total;
}

size_t Pick(const std::vector<TextOption>& options, uint64_t draw) {
  size_t index = 0;
  while (draw >= options[index].weight) draw -= options[index++].weight;
  return index;
}

// The weight of the options that begin with `prefix`.
uint64_t WeightOfPrefix(const std::vector<TextOption>& options,
                        std::string_view prefix) {
  uint64_t total = 0;
  for (const TextOption& option : options) {
    if (std::string_view(option.text).starts_with(prefix)) {
      total += option.weight;
    }
  }
  return total;
}

double Nats(uint64_t weight, uint64_t total) {
  return weight == total ? 0.0
                         : std::log(static_cast<double>(total) /
                                    static_cast<double>(weight));
}

size_t IndexOf(const std::vector<TextOption>& options, std::string_view text) {
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i].text == text) return i;
  }
  return options.size();
}

}  // namespace

GeneratedText GenerateText(TextProcess& process, std::string_view name,
                           int64_t characters) {
  const RandomStream draws(0, "corpus/" + std::string(name));
  const auto size = static_cast<size_t>(characters);
  GeneratedText result;
  result.text.reserve(size + 16);
  std::vector<double> nats;
  for (uint64_t i = 0; result.text.size() < size; ++i) {
    const std::vector<TextOption>& options = process.Options();
    const uint64_t total = TotalWeight(options);
    const size_t index = Pick(options, draws.Integer(i, total));
    const size_t room = size - result.text.size();
    const std::string written = options[index].text.substr(0, room);
    nats.push_back(Nats(WeightOfPrefix(options, written), total));
    result.text += written;
    process.Take(index);
  }
  result.nats = CompensatedSum(nats.data(), nats.size());
  return result;
}

std::vector<double> ScoreText(TextProcess& process, std::string_view text) {
  std::vector<double> nats;
  nats.reserve(text.size());
  size_t begin = 0;  // of the piece being read
  uint64_t reached = TotalWeight(process.Options());
  for (size_t end = 1; end <= text.size(); ++end) {
    const std::string_view piece = text.substr(begin, end - begin);
    const uint64_t weight = WeightOfPrefix(process.Options(), piece);
    if (weight == 0) {
      throw DataError("the text does not belong to the corpus: offset " +
                      std::to_string(end - 1));
    }
    nats.push_back(Nats(weight, reached));
    reached = weight;
    const size_t index = IndexOf(process.Options(), piece);
    if (index == process.Options().size()) continue;
    process.Take(index);
    begin = end;
    reached = TotalWeight(process.Options());
  }
  return nats;
}

double Floor(const std::vector<double>& nats, int64_t begin, int64_t size) {
  return CompensatedSum(nats.data() + begin + 1,
                        static_cast<size_t>(size - 1)) /
         static_cast<double>(size - 1);
}

double CompensatedSum(const double* values, size_t count) {
  double sum = 0.0;
  double lost = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double next = sum + values[i];
    lost += std::abs(sum) >= std::abs(values[i]) ? (sum - next) + values[i]
                                                 : (values[i] - next) + sum;
    sum = next;
  }
  return sum + lost;
}

std::unique_ptr<TextProcess> MakeTextProcess(std::string_view corpus) {
  if (corpus == "iid27") return MakeIidProcess();
  if (corpus == "grammar16") return MakeGrammarProcess(16);
  if (corpus == "grammar64") return MakeGrammarProcess(64);
  if (corpus == "recall") return MakeRecallProcess();
  return nullptr;
}

}  // namespace leadline::dataset
