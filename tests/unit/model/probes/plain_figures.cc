#include "plain_figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace leadline::model::testing {
namespace {

using torch::Tensor;
using Named = std::map<std::string, std::vector<double>>;
using Vector = std::vector<double>;

void Set(Named& figures, const std::string& name, int64_t index, double value) {
  auto& list = figures[name];
  if (static_cast<int64_t>(list.size()) <= index) {
    list.resize(index + 1, std::numeric_limits<double>::quiet_NaN());
  }
  list[index] = value;
}

/// Row of the last axis of [R, B, T, D] as doubles.
Vector Row(const Tensor& x, int64_t r, int64_t b, int64_t t) {
  const Tensor row = x[r][b][t].to(torch::kFloat64).contiguous();
  const auto* data = row.const_data_ptr<double>();
  return {data, data + row.numel()};
}

double RmsOf(const Vector& v, double eps) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum / static_cast<double>(v.size()) + eps);
}

/// Mean of `of(b, t)` over the tokens.
double OverTokens(const Tensor& like,
                  const std::function<double(int64_t, int64_t)>& of) {
  double sum = 0;
  for (int64_t b = 0; b < like.size(1); ++b) {
    for (int64_t t = 0; t < like.size(2); ++t) sum += of(b, t);
  }
  return sum / static_cast<double>(like.size(1) * like.size(2));
}

bool IsDetail(const std::string& label) {
  return label[0] == 'D' || label == "Pphi" || label == "Psig";
}

int64_t Number(const std::string& label) {
  return std::stoll(label.substr(label.find_first_of("0123456789")));
}

int64_t BirthOf(const std::string& label, int64_t l, int64_t s) {
  if (label == "e") return 0;
  if (label[0] == 'P' || label == "null") return l;
  if (label[0] == 'u') return Number(label) + 1;
  if (label[0] == 'h') return Number(label);
  return (Number(label) + 1) * s;
}

class OfRouter {
 public:
  OfRouter(const RouteRecord& record, int64_t replica,
           const PlainOptions& options, Named& figures)
      : record_(record), r_(replica), options_(options), figures_(figures) {}

  void Write() {
    WriteTokenFigures();
    WriteMasses();
    WriteCosine();
    WriteDetails();
  }

 private:
  double Weight(size_t j, int64_t b, int64_t t, int64_t g) const {
    const auto at = static_cast<int64_t>(j);
    return record_.head_weights_JRBTG.defined()
               ? record_.head_weights_JRBTG[at][r_][b][t][g].item<double>()
               : record_.weights_JRBT[at][r_][b][t].item<double>();
  }
  int64_t heads() const {
    return record_.head_weights_JRBTG.defined()
               ? record_.head_weights_JRBTG.size(4)
               : 1;
  }
  /// Mean over tokens and the heads from `first` to `last`.
  double Mean(int64_t first, int64_t last,
              const std::function<double(const Vector&)>& of) const {
    double sum = 0;
    for (int64_t g = first; g < last; ++g) {
      sum += OverTokens(record_.out_RBTD, [&](int64_t b, int64_t t) {
        Vector a;
        for (size_t j = 0; j < record_.labels.size(); ++j) {
          a.push_back(Weight(j, b, t, g));
        }
        return of(a);
      });
    }
    return sum / static_cast<double>(last - first);
  }

  void WriteTokenFigures() {
    const auto j_count = static_cast<double>(record_.labels.size());
    const auto max = [](const Vector& a) {
      return *std::ranges::max_element(a);
    };
    const auto entropy = [](const Vector& a) {
      double sum = 0;
      for (const double x : a) sum -= x > 0 ? x * std::log(x) : 0;
      return sum;
    };
    const int64_t q = record_.router;
    Set(figures_, "route.max_weight", q, Mean(0, heads(), max));
    Set(figures_, "route.entropy", q, Mean(0, heads(), entropy));
    for (int64_t g = 0; heads() > 1 && g < heads(); ++g) {
      const std::string head = ".head" + std::to_string(g);
      Set(figures_, "route.max_weight" + head, q, Mean(g, g + 1, max));
      Set(figures_, "route.entropy" + head, q, Mean(g, g + 1, entropy));
    }
    const double effective =
        Mean(0, heads(), [&](const Vector& a) { return std::exp(entropy(a)); });
    Set(figures_, "route.effective_sources", q, effective);
    Set(figures_, "route.effective_sources_frac", q, effective / j_count);
    Set(figures_, "route.tv_uniform", q, Mean(0, heads(), [&](const Vector& a) {
          double sum = 0;
          for (const double x : a) sum += std::abs(x - 1 / j_count);
          return sum / 2;
        }));
  }

  void WriteMasses() {
    const int64_t q = record_.router;
    size_t newest = 0;
    double lookback = 0;
    std::map<std::string, double> mass = {{"route.embedding_mass", 0},
                                          {"route.partial_mass", 0}};
    const bool any_detail = std::ranges::any_of(record_.labels, IsDetail);
    for (size_t j = 0; j < record_.labels.size(); ++j) {
      const std::string& label = record_.labels[j];
      const double a =
          Mean(0, heads(), [&](const Vector& all) { return all[j]; });
      if (!IsDetail(label) && label != "null") newest = j;
      lookback += a * static_cast<double>(
                          q - BirthOf(label, q, options_.block_sublayers));
      if (label == "e") mass["route.embedding_mass"] += a;
      if (label == "P") mass["route.partial_mass"] += a;
      if (label == "null") mass["route.null_mass"] += a;
      if (!IsDetail(label)) continue;
      mass["route.detail_mass"] += a;
      mass[std::string("route.detail_mass.") +
           (label.substr(1, 3) == "phi" ? "phase" : "split") +
           (label[0] == 'P' ? "_partial" : "_finished")] += a;
    }
    for (const auto& [name, value] : mass) Set(figures_, name, q, value);
    Set(figures_, "route.lookback", q, lookback);
    Set(figures_, "route.last_mass", q,
        Mean(0, heads(), [&](const Vector& a) { return a[newest]; }));
    if (any_detail) has_details = true;
  }

  void WriteCosine() {
    std::vector<size_t> counted;
    for (size_t j = 0; j < record_.labels.size(); ++j) {
      const std::string& label = record_.labels[j];
      if (IsDetail(label) || label == "null") continue;
      counted.push_back(j);
      if (label[0] == 'P' || !seen->insert({label, seen->size()}).second)
        continue;
      Set(figures_, "source.rms", static_cast<int64_t>(seen->size()) - 1,
          OverTokens(record_.out_RBTD, [&](int64_t b, int64_t t) {
            return RmsOf(Row(record_.sources_RBTD[j], r_, b, t), options_.eps);
          }));
    }
    if (counted.size() < 2) return;
    Set(figures_, "source.cosine", record_.router,
        OverTokens(record_.out_RBTD, [&](int64_t b, int64_t t) {
          double sum = 0;
          for (const size_t i : counted) {
            for (const size_t j : counted) {
              if (i != j) sum += Cosine(i, j, b, t);
            }
          }
          const auto count = static_cast<double>(counted.size());
          return sum / (count * (count - 1));
        }));
  }

  double Cosine(size_t i, size_t j, int64_t b, int64_t t) const {
    const Vector v = Row(record_.sources_RBTD[i], r_, b, t);
    const Vector w = Row(record_.sources_RBTD[j], r_, b, t);
    double vw = 0;
    for (size_t d = 0; d < v.size(); ++d) vw += v[d] * w[d];
    return vw / (RmsOf(v, 0) * RmsOf(w, 0) * static_cast<double>(v.size()));
  }

  void WriteDetails() {
    for (size_t j = 0; j < record_.labels.size(); ++j) {
      const std::string& label = record_.labels[j];
      if (!IsDetail(label)) continue;
      const bool running = label[0] == 'P';
      const std::string whole =
          running ? "P" : "C" + std::to_string(Number(label));
      const auto at = std::ranges::find(record_.labels, whole);
      const Tensor& c = record_.sources_RBTD[at - record_.labels.begin()];
      const std::string part =
          std::string(label.substr(1, 3) == "phi" ? ".phase" : ".split") +
          (running ? "_partial" : "_finished");
      const int64_t index = running ? record_.router : Number(label);
      const auto ratio = [&](int64_t b, int64_t t) {
        return RmsOf(Row(record_.sources_RBTD[j], r_, b, t), options_.eps) /
               RmsOf(Row(c, r_, b, t), options_.eps);
      };
      Set(figures_, "detail.rms_ratio" + part, index,
          OverTokens(record_.out_RBTD, ratio));
      Set(figures_, "detail.clipped" + part, index,
          OverTokens(record_.out_RBTD, [&](int64_t b, int64_t t) {
            return 1 / ratio(b, t) > options_.rho ? 1.0 : 0.0;
          }));
    }
  }

  const RouteRecord& record_;
  int64_t r_;
  const PlainOptions& options_;
  Named& figures_;

 public:
  std::map<std::string, size_t>* seen = nullptr;
  bool has_details = false;
};

void WriteLayers(const Tape& tape, int64_t r, const PlainOptions& options,
                 Named& figures) {
  const auto rms = [&](const Tensor& x) {
    return OverTokens(x, [&](int64_t b, int64_t t) {
      return RmsOf(Row(x, r, b, t), options.eps);
    });
  };
  Tensor stream = tape.e_RBTD.clone();
  for (size_t l = 0; l <= tape.updates.size(); ++l) {
    const auto at = static_cast<int64_t>(l);
    Set(figures, "layer.stream_rms", at, rms(stream));
    for (const RouteRecord& record : tape.routes) {
      if (!options.additive || record.router != at) continue;
      Set(figures, "route.ratio", at,
          OverTokens(stream, [&](int64_t b, int64_t t) {
            return RmsOf(Row(record.out_RBTD, r, b, t), options.eps) /
                   RmsOf(Row(stream, r, b, t), options.eps);
          }));
    }
    if (l == tape.updates.size()) break;
    Set(figures, "layer.input_rms", at, rms(tape.inputs[l]));
    Set(figures, "layer.output_rms", at, rms(tape.updates[l]));
    stream = stream + tape.updates[l];
  }
}

void WriteSpread(const Tape& tape, int64_t r, const PlainOptions& options,
                 Named& figures) {
  for (const auto& [l, streams] : tape.streams) {
    const int64_t width = streams.size(4);
    const int64_t count = streams.size(3);
    Set(figures, "streams.spread", l,
        OverTokens(streams, [&](int64_t b, int64_t t) {
          Vector mean(width, 0);
          for (int64_t m = 0; m < count; ++m) {
            for (int64_t d = 0; d < width; ++d) {
              mean[d] += streams[r][b][t][m][d].item<double>() /
                         static_cast<double>(count);
            }
          }
          double apart = 0;
          for (int64_t m = 0; m < count; ++m) {
            for (int64_t d = 0; d < width; ++d) {
              apart +=
                  std::pow(streams[r][b][t][m][d].item<double>() - mean[d], 2);
            }
          }
          return std::sqrt(apart / static_cast<double>(count * width)) /
                 RmsOf(mean, options.eps);
        }));
  }
}

}  // namespace

void Tape::OnEmbeddings(const Tensor& e) { e_RBTD = e.detach().clone(); }

void Tape::OnRoute(const RouteRecord& record) {
  routes.push_back(record);
  RouteRecord& copy = routes.back();
  copy.weights_JRBT = record.weights_JRBT.clone();
  copy.out_RBTD = record.out_RBTD.clone();
  for (Tensor& source : copy.sources_RBTD) {
    if (source.defined()) source = source.clone();
  }
}

void Tape::OnStreams(int64_t sublayer, const Tensor& streams_RBTMD) {
  streams[sublayer] = streams_RBTMD.detach().clone();
}

void Tape::OnSublayer(int64_t, const Tensor& x_RBTD, const Tensor& u_RBTD) {
  inputs.push_back(x_RBTD.detach().clone());
  updates.push_back(u_RBTD.detach().clone());
}

Named PlainFigures(const Tape& tape, int64_t replica,
                   const PlainOptions& options) {
  Named figures;
  std::map<std::string, size_t> seen;
  bool details = false;
  for (const RouteRecord& record : tape.routes) {
    OfRouter router(record, replica, options, figures);
    router.seen = &seen;
    router.Write();
    details = details || router.has_details;
  }
  // Masses of kinds a router lacks are 0, not absent.
  for (const char* name :
       {"route.detail_mass", "route.detail_mass.phase_finished",
        "route.detail_mass.phase_partial", "route.detail_mass.split_finished",
        "route.detail_mass.split_partial", "route.null_mass"}) {
    const bool null = std::string(name) == "route.null_mass";
    if (null ? !figures.contains(name) : !details) continue;
    auto& list = figures[name];
    list.resize(figures["route.entropy"].size(),
                std::numeric_limits<double>::quiet_NaN());
    for (const RouteRecord& record : tape.routes) {
      if (std::isnan(list[record.router])) list[record.router] = 0;
    }
  }
  WriteLayers(tape, replica, options, figures);
  WriteSpread(tape, replica, options, figures);
  return figures;
}

}  // namespace leadline::model::testing
