#include "worker/trainer/trainer_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace leadline::trainer {
namespace {

constexpr size_t kMostReplicas = 64;

[[noreturn]] void Refuse(const std::string& where, const std::string& what) {
  throw ConfigError(where + ": " + what);
}

void Require(const Json& json, Json::Kind kind, const std::string& where,
             const char* expected) {
  if (json.kind != kind) Refuse(where, std::string("expected ") + expected);
}

std::string Text(const Json& json, const std::string& where) {
  Require(json, Json::Kind::kText, where, "a text");
  if (json.text.find('\0') != std::string::npos) {
    Refuse(where, "holds a zero byte");
  }
  return json.text;
}

template <typename Number>
Number Parse(const Json& json, const std::string& where, const char* expected) {
  Require(json, Json::Kind::kNumber, where, expected);
  Number number{};
  const char* end = json.text.data() + json.text.size();
  const auto result = std::from_chars(json.text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) {
    Refuse(where, json.text + ", expected " + expected);
  }
  return number;
}

int64_t Integer(const Json& json, const std::string& where, int64_t least,
                int64_t most) {
  const auto number = Parse<int64_t>(json, where, "an integer");
  if (number < least || number > most) {
    Refuse(where, json.text + ", expected an integer from " +
                      std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

using Reader = std::function<void(const Json&, const std::string& where)>;

// Every key must have a reader, and every reader its key.
void ReadObject(const Json& json, const std::string& where,
                const std::map<std::string, Reader, std::less<>>& readers) {
  Require(json, Json::Kind::kObject, where, "an object");
  for (const auto& [key, value] : json.members) {
    const auto reader = readers.find(key);
    if (reader == readers.end()) Refuse(where, "has no key \"" + key + "\"");
    reader->second(value, where == "configuration" ? key : where + "." + key);
  }
  if (json.members.size() == readers.size()) return;
  for (const auto& [key, reader] : readers) {
    const bool there =
        std::any_of(json.members.begin(), json.members.end(),
                    [&](const auto& member) { return member.first == key; });
    if (!there) Refuse(where, "lacks the key \"" + key + "\"");
  }
}

spec::Value SettingValue(const spec::SettingInfo& setting, const Json& json,
                         const std::string& where) {
  const bool number = json.kind == Json::Kind::kNumber;
  if (number || json.kind == Json::Kind::kText) {
    auto parsed = spec::ParseValue(setting, json.text);
    if (auto* value = std::get_if<spec::Value>(&parsed)) {
      // "12" in quotes is a word, and no setting has such a word.
      if (number != std::holds_alternative<std::string>(*value)) {
        return *value;
      }
    }
  }
  Refuse(where, "expected " + spec::ExpectedText(setting));
}

spec::Settings ReadSettings(const Json& json, const std::string& where) {
  Require(json, Json::Kind::kObject, where, "an object");
  spec::GivenSettings given;
  for (const auto& [key, value] : json.members) {
    const spec::SettingInfo* setting = spec::FindSetting(key);
    if (setting == nullptr) {
      Refuse(where, "there is no setting \"" + key + "\"");
    }
    given[key] = SettingValue(*setting, value, where + "." + key);
  }
  spec::Resolution resolution = spec::Resolve(given);
  if (!resolution.errors.empty()) {
    Refuse(where + "." + resolution.errors.front().key,
           resolution.errors.front().message);
  }
  for (const auto& [key, value] : given) {
    if (!spec::BelongsTo(*spec::FindSetting(key),
                         resolution.settings.method())) {
      Refuse(where + "." + key,
             "is no option of " + resolution.settings.method());
    }
  }
  return std::move(resolution.settings);
}

std::vector<int64_t> ReadSeeds(const Json& json, const std::string& where) {
  Require(json, Json::Kind::kArray, where, "an array of seeds");
  if (json.items.empty() || json.items.size() > kMostReplicas) {
    Refuse(where, "expected 1 to 64 seeds");
  }
  std::vector<int64_t> seeds;
  for (const Json& item : json.items) {
    const int64_t seed = Integer(item, where, 0, INT64_MAX);
    if (std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
      Refuse(where, "has the seed " + item.text + " twice");
    }
    seeds.push_back(seed);
  }
  return seeds;
}

std::string ReadHash(const Json& json, const std::string& where) {
  std::string hash = Text(json, where);
  const bool md5 = hash.starts_with("md5:");
  const std::string_view digits = std::string_view(hash).substr(md5 ? 4 : 0);
  const bool hexadecimal =
      digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (digits.size() != (md5 ? 32U : 64U) || !hexadecimal) {
    Refuse(where, "expected 64 lower-case hexadecimal digits");
  }
  return hash;
}

spec::Dataset ReadDataset(const Json& json, const std::string& where) {
  spec::Dataset dataset;
  ReadObject(
      json, where,
      {{"path", [&](const Json& j, auto& w) { dataset.path = Text(j, w); }},
       {"content_hash",
        [&](const Json& j, auto& w) { dataset.content_hash = ReadHash(j, w); }},
       {"tokenizer",
        [&](const Json& j, auto& w) {
          dataset.tokenizer = Text(j, w);
          if (dataset.tokenizer != "char" && dataset.tokenizer != "byte") {
            Refuse(w, "expected char or byte");
          }
        }},
       {"split", [&](const Json& j, auto& w) {
          Require(j, Json::Kind::kArray, w, "an array");
          if (j.items.size() != 3) Refuse(w, "expected three fractions");
          for (size_t i = 0; i < 3; ++i) {
            dataset.split[i] = Parse<double>(j.items[i], w, "a fraction");
            if (!(dataset.split[i] >= 0 && dataset.split[i] <= 1)) {
              Refuse(w, j.items[i].text + ", expected a fraction from 0 to 1");
            }
          }
        }}});
  if (dataset.path.empty()) Refuse(where + ".path", "is empty");
  return dataset;
}

std::string ReadDevice(const Json& json, const std::string& where) {
  std::string device = Text(json, where);
  const std::string_view number =
      std::string_view(device).substr(std::min<size_t>(5, device.size()));
  const bool cuda =
      device.starts_with("cuda:") && !number.empty() && number.size() <= 2 &&
      number.find_first_not_of("0123456789") == std::string_view::npos;
  if (device != "cpu" && !cuda) Refuse(where, "expected cpu or cuda:0");
  return device;
}

std::string ReadSecret(const Json& json, const std::string& where) {
  std::string secret = Text(json, where);
  // Its value is told to nobody, a wrong one neither.
  if (secret.size() < 32 || secret.size() > 128 ||
      secret.find_first_not_of("0123456789abcdef") != std::string::npos) {
    Refuse(where, "expected 32 to 128 lower-case hexadecimal digits");
  }
  return secret;
}

// A key that only some configurations have.
using Readers = std::map<std::string, Reader, std::less<>>;
void AddIfThere(const Json& json, const std::string& key, Reader reader,
                Readers& readers) {
  if (FindMember(json, key) != nullptr) readers[key] = std::move(reader);
}

void CheckWorld(const std::string& where, const spec::TrainerConfig& config) {
  if (config.rank >= config.world_size) {
    Refuse(where + ".rank", "is not below the world's size");
  }
  if (config.world_size == 1) {
    if (!config.listen.empty() || !config.secret.empty()) {
      Refuse(where, "listen and secret are for several ranks");
    }
    return;
  }
  if (config.secret.empty()) Refuse(where, "lacks the key \"secret\"");
  if (config.peers.empty()) {
    if (config.listen.empty()) {
      Refuse(where, "lacks a host to listen on, or the peers");
    }
    if (!config.folder) {
      Refuse(where + ".peers", "are needed where there is no folder");
    }
    return;
  }
  if (static_cast<int64_t>(config.peers.size()) != config.world_size) {
    Refuse(where + ".peers", "expected an address for each of " +
                                 std::to_string(config.world_size) + " ranks");
  }
}

void ReadWorld(const Json& json, const std::string& where,
               spec::TrainerConfig& config) {
  Readers readers = {
      {"size", [&](const Json& j,
                   auto& w) { config.world_size = Integer(j, w, 1, 1024); }},
      {"rank",
       [&](const Json& j, auto& w) { config.rank = Integer(j, w, 0, 1023); }},
      {"peers", [&](const Json& j, auto& w) {
         Require(j, Json::Kind::kArray, w, "an array of addresses");
         for (const Json& peer : j.items) {
           config.peers.push_back(Text(peer, w));
         }
       }}};
  AddIfThere(
      json, "listen",
      [&](const Json& j, auto& w) { config.listen = Text(j, w); }, readers);
  AddIfThere(
      json, "secret",
      [&](const Json& j, auto& w) { config.secret = ReadSecret(j, w); },
      readers);
  AddIfThere(
      json, "setup_timeout_s",
      [&](const Json& j, auto& w) {
        config.setup_timeout_s = Integer(j, w, 1, 86400);
      },
      readers);
  AddIfThere(
      json, "timeout_s",
      [&](const Json& j, auto& w) {
        config.timeout_s = Integer(j, w, 1, 86400);
      },
      readers);
  AddIfThere(
      json, "overlap",
      [&](const Json& j, auto& w) {
        Require(j, Json::Kind::kBool, w, "true or false");
        config.overlap = j.boolean;
      },
      readers);
  ReadObject(json, where, readers);
}

std::optional<std::string> TextOrNull(const Json& json,
                                      const std::string& where) {
  if (json.kind == Json::Kind::kNull) return std::nullopt;
  std::string text = Text(json, where);
  if (text.empty()) Refuse(where, "is empty");
  return text;
}

}  // namespace

spec::TrainerConfig ParseTrainerConfig(std::string_view text) {
  const Json json = ParseStrictJson(text);
  spec::TrainerConfig config;
  ReadObject(
      json, "configuration",
      {{"version",
        [](const Json& j, auto& w) {
          if (Parse<int64_t>(j, w, "1") != 1) Refuse(w, "expected 1");
        }},
       {"settings",
        [&](const Json& j, auto& w) { config.settings = ReadSettings(j, w); }},
       {"seeds",
        [&](const Json& j, auto& w) { config.seeds = ReadSeeds(j, w); }},
       {"dataset",
        [&](const Json& j, auto& w) { config.dataset = ReadDataset(j, w); }},
       {"device",
        [&](const Json& j, auto& w) { config.device = ReadDevice(j, w); }},
       {"world", [&](const Json& j, auto& w) { ReadWorld(j, w, config); }},
       {"folder",
        [&](const Json& j, auto& w) { config.folder = TextOrNull(j, w); }},
       {"resume",
        [&](const Json& j, auto& w) { config.resume = TextOrNull(j, w); }}});
  CheckWorld("world", config);
  return config;
}

}  // namespace leadline::trainer
