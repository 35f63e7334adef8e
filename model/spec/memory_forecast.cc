#include "model/spec/memory_forecast.h"

#include <algorithm>

#include "model/spec/cost.h"
#include "model/spec/evaluation_batch.h"
#include "model/spec/method_memory.h"
#include "model/spec/method_table.h"

namespace leadline::spec {
namespace {

/// Bytes; doubles, since the largest models in range would overflow products.
using Bytes = double;

/// The sizes of one attempt. Kept is what waits for the backward pass; all
/// functions are per token of one replica unless they say otherwise.
class Attempt {
 public:
  Attempt(const Settings& settings, std::optional<int64_t> vocabulary,
          int64_t replicas)
      : settings_(settings),
        method_(FindMethod(settings.method())->memory(settings)),
        wide_(settings.Word("precision") == "fp64" ? 8 : 4),
        narrow_(settings.Word("precision") == "bf16" ? 2 : wide_),
        replicas_(static_cast<double>(replicas)),
        ranks_(Size("devices")),
        sublayers_(2 * settings.depth()),
        width_(Size("d_model")),
        hidden_(Size("d_ff")),
        context_(Size("context")),
        heads_(Size("n_heads")),
        kv_heads_(Size("n_kv_heads")),
        dropout_(settings.Number("dropout") > 0),
        vocabulary_(static_cast<double>(vocabulary.value_or(0))),
        parameters_(
            static_cast<double>(CountParameters(settings, vocabulary))) {
    const auto given = settings.NumberUnlessWord("micro_batch");
    const double batch = Size("batch_sequences") / ranks_;
    const double sequences = given ? std::min(*given, batch) : batch;
    tokens_ = replicas_ * sequences * context_;
    accumulates_ = sequences < batch;
    CountKept();
  }

  /// Values, gradients and two moments.
  Bytes Parameters() const { return 4 * Values(); }

  Bytes Peak() const { return Training() + Copy(); }

  /// All but the copy for a checkpoint.
  Bytes Training() const {
    Bytes peak = std::max({Parameters() + Buckets() + tokens_ * Embedding(),
                           Parameters() + Evaluation(),
                           Buckets() + BothPasses(tokens_, accumulates_)});
    if (!settings_.IsOn("diagnostics")) return peak;
    // The gradients of the last step are still there.
    const double probed =
        std::min(Size("eval_windows"), static_cast<double>(kProbeWindows));
    Attempt probe = *this;
    probe.dropout_ = false;
    probe.CountKept();
    return std::max(peak,
                    probe.BothPasses(replicas_ * probed * context_, true));
  }

 private:
  /// Values and moments, while a checkpoint is written beside the training.
  Bytes Copy() const {
    const auto& every = settings_.values().at("checkpoint_every");
    return every == Value("off") ? 0 : 3 * Values();
  }

  /// What gradients are gathered in to be summed over the ranks; after a step
  /// they are nowhere else.
  Bytes Buckets() const { return ranks_ > 1 ? Values() : 0; }

  void CountKept() {
    kept_by_attention_ = KeptByAny() + KeptByAttention();
    kept_by_mlp_ = KeptByAny() + 3 * hidden_ * narrow_;
  }

  /// A forward and a backward pass of so many tokens, of all replicas.
  /// `has_gradients`: those of the parameters exist before it.
  Bytes BothPasses(double tokens, bool has_gradients) const {
    Bytes peak = AtHead(tokens, has_gradients);
    Bytes kept = 0;     // of sublayers up to l
    Bytes copies = 0;   // of their matrices
    Bytes missing = 0;  // gradients of those before it
    for (int64_t l = 0; l < sublayers_; ++l) {
      kept += Kept(l);
      copies += Copies(l);
      const Bytes made = std::max(InBackward(l), method_.in_backward * wide_);
      const Bytes token = Always() + kept + Held(l) + width_ * wide_ + made;
      const Bytes finishing = has_gradients ? 0 : Finishing(l);
      peak = std::max(
          peak, 4 * Values() - missing - finishing + copies + tokens * token);
      if (!has_gradients) missing += replicas_ * Matrices(l) * wide_;
    }
    return peak;
  }

  double Size(std::string_view key) const {
    return static_cast<double>(settings_.Integer(key));
  }
  static bool IsAttention(int64_t l) { return l % 2 == 0; }

  Bytes Values() const { return replicas_ * parameters_ * wide_; }
  Bytes Table() const { return replicas_ * vocabulary_ * width_ * wide_; }
  Bytes Held(int64_t l) const {
    return static_cast<double>(method_.held.at(l)) * wide_;
  }

  /// Tokens and targets, int64; the loss; dropout's mask of the embedding.
  Bytes Always() const {
    return 2 * 8 + wide_ + (dropout_ ? width_ * wide_ : 0);
  }

  /// Weights of the matrices of a sublayer.
  double Matrices(int64_t l) const {
    if (!IsAttention(l)) return 3 * width_ * hidden_;
    return 2 * width_ * width_ * (1 + kv_heads_ / heads_);
  }

  /// bf16: matrices are kept in both formats, of all replicas.
  Bytes Copies(int64_t l) const {
    return narrow_ == wide_ ? 0 : replicas_ * Matrices(l) * narrow_;
  }

  /// A sublayer's matrices whose gradients do not exist yet when it needs most
  /// memory, of all replicas.
  Bytes Finishing(int64_t l) const {
    const double later =
        IsAttention(l) ? Matrices(l) - width_ * width_ : 2 * width_ * hidden_;
    return replicas_ * later * wide_;
  }

  Bytes Kept(int64_t l) const {
    return IsAttention(l) ? kept_by_attention_ : kept_by_mlp_;
  }

  /// The normed input with its 1/rms, and the mask of the update.
  Bytes KeptByAny() const {
    return width_ * narrow_ + (method_.norms_before_sublayers ? wide_ : 0) +
           (dropout_ ? width_ * wide_ : 0);
  }

  Bytes KeptByAttention() const {
    // Queries, what they mix, keys and values. Shared heads are repeated, but a
    // single one is only seen as often.
    const double repeated = kv_heads_ == 1 ? width_ / heads_ : width_;
    Bytes kept = 2 * (width_ + repeated) * narrow_;
    if (settings_.IsOn("qk_norm")) {
      kept += (width_ + heads_) * (1 + kv_heads_ / heads_) * wide_;
    }
    // Learnt shares of the first layer's values keep those of each layer.
    if (settings_.Has("value_residual") &&
        settings_.Word("value_residual") == "learned") {
      kept += width_ * kv_heads_ / heads_ * narrow_;
    }
    // With dropout the weights, the mask and their product; else one log-sum a
    // head.
    return kept + (dropout_ ? 3 * heads_ * context_ * narrow_ : heads_ * wide_);
  }

  /// Made by a sublayer's backward beside the gradient of its update, less what
  /// it has let go by then.
  Bytes InBackward(int64_t l) const {
    // Gradients of the gated product, the gate, and either a factor of it or
    // the other input; the gated product itself is gone.
    if (!IsAttention(l)) return 2 * hidden_ * narrow_;
    const Bytes heads = dropout_ ? 2 * heads_ * context_ * narrow_ : 0;
    return 4 * width_ * narrow_ + heads;
  }

  /// When the loss is turned into the gradient of the logits: log-softmax and
  /// two gradients. The final norm's output is kept, and all before it.
  Bytes AtHead(double tokens, bool has_gradients) const {
    Bytes kept = width_ * narrow_ + wide_ + 3 * vocabulary_ * wide_;
    Bytes copies = narrow_ == wide_ ? 0 : Table() / wide_ * narrow_;
    for (int64_t l = 0; l < sublayers_; ++l) {
      kept += Kept(l);
      copies += Copies(l);
    }
    const double sets = has_gradients ? 4 : 3;
    return sets * Values() + copies +
           tokens * (Always() + kept + Held(sublayers_));
  }

  /// The gradient of the embeddings and, for small vocabularies, one row of
  /// zeros and a one for each.
  Bytes Embedding() const {
    return Always() + width_ * wide_ +
           (vocabulary_ <= 1024 ? vocabulary_ * wide_ : 0);
  }

  /// The largest pass of an evaluation, of all its tokens.
  Bytes Evaluation() const {
    const double sequences =
        std::min(Size("eval_windows"),
                 static_cast<double>(EvaluationWindows(
                     static_cast<int64_t>(replicas_),
                     static_cast<int64_t>(context_), /*cpu=*/true)));
    const Bytes sublayer = width_ * narrow_ + 3 * hidden_ * narrow_;
    const Bytes head = width_ * narrow_ + 2 * vocabulary_ * wide_;
    return replicas_ * sequences * context_ *
           (2 * 8 + static_cast<double>(method_.in_pass) * wide_ +
            std::max(sublayer, head));
  }

  const Settings& settings_;
  MethodMemory method_;
  double wide_;    // bytes of a number of the stream
  double narrow_;  // of what matrices read and make
  double replicas_;
  double ranks_;  // each with its share of the batch
  int64_t sublayers_;
  double width_, hidden_, context_, heads_, kv_heads_;
  bool dropout_;
  double vocabulary_;
  double parameters_;  // of one replica
  double tokens_ = 0;  // of all replicas, computed at once
  bool accumulates_ = false;
  Bytes kept_by_attention_ = 0;
  Bytes kept_by_mlp_ = 0;
};

}  // namespace

MemoryForecast ForecastMemory(const Settings& settings,
                              std::optional<int64_t> vocabulary,
                              int64_t replicas) {
  const Attempt attempt(settings, vocabulary, replicas);
  return {static_cast<int64_t>(attempt.Parameters()),
          static_cast<int64_t>(attempt.Peak()),
          static_cast<int64_t>(attempt.Training())};
}

}  // namespace leadline::spec
