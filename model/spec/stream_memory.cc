// Memory of methods without routers that keep more than one sum, or another
// one.

#include <algorithm>

#include "model/spec/method_memory.h"

namespace leadline::spec {
namespace {

int64_t Factorial(int64_t n) { return n < 2 ? 1 : n * Factorial(n - 1); }

/// M streams; `coefficients` are numbers that one sublayer's connections keep.
MethodMemory Streams(const Settings& settings, int64_t coefficients) {
  const int64_t width = settings.Integer("d_model");
  const int64_t streams = settings.Integer("streams");
  const int64_t connections = streams * (streams + 2);
  const int64_t all = streams * width;
  const int64_t sublayers = 2 * settings.depth();
  MethodMemory memory;
  for (int64_t l = 0; l < sublayers; ++l) {
    // Streams, what was read of them, earlier updates; the gradients of the
    // streams and of the connections wait.
    memory.held.push_back((l + 1) * (all + width + coefficients) + l * width +
                          all + connections);
  }
  memory.held.push_back(sublayers * (all + 2 * width + coefficients) + width);
  memory.in_backward = all + width;
  memory.in_pass = 2 * (all + width) + coefficients;
  return memory;
}

}  // namespace

MethodMemory DenseFormerMemory(const Settings& settings) {
  const int64_t width = settings.Integer("d_model");
  const int64_t layers = settings.depth();
  const int64_t dilation = settings.Integer("dilation");
  const int64_t period = settings.Integer("period");
  const auto averages = [&](int64_t layer) {
    return (layer + 1) % period == 0;
  };
  // For each state, the layer whose average reads it first, and last.
  std::vector<int64_t> first(layers + 1, layers);
  std::vector<int64_t> last(layers + 1, -1);
  for (int64_t i = 0; i < layers; ++i) {
    if (!averages(i)) continue;
    for (int64_t j = (i + 1) % dilation; j <= i + 1; j += dilation) {
      first[j] = std::min(first[j], i);
      last[j] = i;
    }
  }
  MethodMemory memory;
  for (int64_t l = 0; l <= 2 * layers; ++l) {
    const int64_t layer = l / 2;
    int64_t tensors = l + 1;  // inputs
    for (int64_t j = 0; j <= layer; ++j) {
      // A state that no average follows is the next layer's input itself.
      const bool own = j > 0 && averages(j - 1);
      if (own && first[j] < layer) ++tensors;
      if (l < 2 * layers && last[j] >= layer) ++tensors;  // its gradient
    }
    memory.held.push_back(tensors * width);
  }
  memory.in_backward = width;
  memory.in_pass = (layers + 3) * width;
  return memory;
}

MethodMemory HyperConnectionsMemory(const Settings& settings) {
  const int64_t streams = settings.Integer("streams");
  const int64_t connections = streams * (streams + 2);
  // Connections, and where they depend on the token also the projection with
  // its 1/rms and its tanh.
  return Streams(settings, settings.IsOn("dynamic") ? 3 * connections + streams
                                                    : connections);
}

MethodMemory MhcMemory(const Settings& settings) {
  const int64_t streams = settings.Integer("streams");
  const int64_t of_matrix = settings.Word("residual") == "permutations"
                                ? Factorial(streams)
                                : streams * streams;
  // The projection and its 1/rms, both sigmoids, what the matrix is made of,
  // and the connections.
  return Streams(settings, (2 * streams + of_matrix) + 1 + 2 * streams +
                               of_matrix + streams * (streams + 2));
}

MethodMemory DeepNormMemory(const Settings& settings) {
  const int64_t width = settings.Integer("d_model");
  MethodMemory memory;
  memory.norms_before_sublayers = false;
  for (int64_t l = 0; l <= 2 * settings.depth(); ++l) {
    // Sums before their norms, with 1/rms; the stream's gradient waits.
    memory.held.push_back(l * (width + 1) + width);
  }
  memory.in_backward = width;
  memory.in_pass = 2 * width;
  return memory;
}

}  // namespace leadline::spec
