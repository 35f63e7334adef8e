#include "model/spec/checks.h"

#include "model/spec/cost.h"

namespace leadline::spec {
namespace {

/// Far above any machine, far below what would overflow a product.
constexpr int64_t kMostParameters = 1'000'000'000'000;
constexpr int64_t kMostTokensPerStep = int64_t{1} << 26;

class Checking {
 public:
  explicit Checking(const Settings& settings) : settings_(settings) {}

  std::vector<SettingError> Run() {
    Heads();
    Blocks();
    Routers();
    Deltas();
    Details();
    Streams();
    Training();
    Sizes();
    return std::move(errors_);
  }

 private:
  int64_t Integer(std::string_view key) const { return settings_.Integer(key); }
  std::string Text(std::string_view key) const {
    return std::string(key) + " " +
           ToText(settings_.values().find(key)->second);
  }
  void Add(std::string_view key, std::string message) {
    errors_.push_back({std::string(key), std::move(message)});
  }

  void Heads() {
    const int64_t heads = Integer("n_heads");
    if (Integer("d_model") % heads != 0) {
      Add("n_heads", Text("n_heads") + " does not divide " + Text("d_model"));
    } else if (Integer("d_model") / heads % 2 != 0) {
      Add("n_heads", "the head width, " + Text("d_model") + " over " +
                         Text("n_heads") + ", is not even");
    }
    if (heads % Integer("n_kv_heads") != 0) {
      Add("n_kv_heads",
          Text("n_kv_heads") + " does not divide " + Text("n_heads"));
    }
  }

  void Blocks() {
    if (!settings_.Has("block_sublayers")) return;
    const int64_t length = Integer("block_sublayers");
    if (length > 2 * settings_.depth()) {
      Add("block_sublayers", Text("block_sublayers") + " is more than the " +
                                 std::to_string(2 * settings_.depth()) +
                                 " sublayers of " + Text("depth"));
    }
    if (settings_.method() == "wav" && (length % 2 != 0 || length < 4)) {
      Add("block_sublayers",
          "wav needs an even block_sublayers of at least 4, and here (" +
              Text("depth") + ") it is " + std::to_string(length));
    }
  }

  void Streams() {
    if (settings_.method() == "deepnorm" &&
        settings_.Word("residual_init") != "plain") {
      Add("residual_init",
          "deepnorm divides its matrices by (8L)^(1/4) instead: "
          "residual_init is plain, not " +
              settings_.Word("residual_init"));
    }
    constexpr int64_t kMostPermuted = 4;
    if (settings_.Has("residual") &&
        settings_.Word("residual") == "permutations" &&
        Integer("streams") > kMostPermuted) {
      Add("streams", Text("streams") +
                         " have too many permutations: at most 4 where "
                         "residual is permutations");
    }
  }

  void Routers() {
    if (settings_.Has("router_heads")) {
      const int64_t heads = Integer("router_heads");
      if (heads > 2 && heads != 4 && heads != 8 && heads != 16) {
        Add("router_heads",
            Text("router_heads") + " is none of 1, 2, 4, 8 and 16");
      } else if (Integer("d_model") % heads != 0) {
        Add("router_heads",
            Text("router_heads") + " does not divide " + Text("d_model"));
      }
    }
    if (settings_.Word("eps_mode") != "compensated") return;
    // Under these a router's output is no known multiple of the stream.
    const std::pair<std::string_view, std::string_view> usual[] = {
        {"gate", "off"},
        {"window", "off"},
        {"sources", "updates"},
        {"static_mixing", "off"}};
    for (const auto& [key, value] : usual) {
      if (settings_.Has(key) &&
          settings_.values().find(key)->second != Value(std::string(value))) {
        Add("eps_mode", "compensated does not go with " + Text(key));
      }
    }
  }

  void Deltas() {
    if (settings_.method() == "delta_block_repo" &&
        Integer("block_sublayers") % 2 != 0) {
      Add("block_sublayers",
          "delta_block_repo has blocks of whole layers, not "
          "of " +
              std::to_string(Integer("block_sublayers")) + " sublayers");
    }
  }

  void Details() {
    const std::string& method = settings_.method();
    if (!method.starts_with("haares")) return;
    if (Integer("block_sublayers") < 2) {
      Add("block_sublayers",
          method + " needs a block_sublayers of at least 2: a block of one " +
              "has no halves");
    }
    if (method == "haares" && settings_.Word("detail_bias_mode") == "fixed") {
      Add("detail_bias_mode",
          "haares with a fixed detail bias is the method haares_fixedbias");
    }
  }

  void Training() {
    if (settings_.Number("lr_min") > settings_.Number("lr")) {
      Add("lr_min", Text("lr_min") + " is above " + Text("lr"));
    }
    if (Integer("eval_stride") > Integer("context")) {
      Add("eval_stride", Text("eval_stride") + " is above " + Text("context"));
    }
    const int64_t devices = Integer("devices");
    const int64_t sequences = Integer("batch_sequences");
    if (sequences % devices != 0) {
      Add("devices",
          Text("devices") + " does not divide " + Text("batch_sequences"));
    }
    if (settings_.IsOn("freeze_base") &&
        CountMethodParameters(settings_) <= 0) {
      Add("freeze_base", settings_.method() +
                             " has no parameters of its own: with " +
                             Text("freeze_base") + " nothing would be trained");
    }
    const auto micro = settings_.NumberUnlessWord("micro_batch");
    if (!micro || !errors_.empty()) return;
    if (sequences % static_cast<int64_t>(*micro) != 0) {
      Add("micro_batch",
          Text("micro_batch") + " does not divide " + Text("batch_sequences"));
    } else if (sequences / devices % static_cast<int64_t>(*micro) != 0) {
      Add("micro_batch", Text("micro_batch") + " does not divide the " +
                             std::to_string(sequences / devices) +
                             " sequences of a rank, " + Text("devices"));
    }
  }

  void Sizes() {
    if (!errors_.empty()) return;
    if (CountParameters(settings_, std::nullopt) > kMostParameters) {
      Add("d_model", "the model would have more than 1e12 parameters");
    }
    if (Integer("batch_sequences") * Integer("context") > kMostTokensPerStep) {
      Add("batch_sequences",
          "batch_sequences times context is more than 2^26 tokens a step");
    }
  }

  const Settings& settings_;
  std::vector<SettingError> errors_;
};

}  // namespace

std::vector<SettingError> CheckTogether(const Settings& settings) {
  return Checking(settings).Run();
}

}  // namespace leadline::spec
