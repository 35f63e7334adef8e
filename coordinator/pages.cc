#include "coordinator/pages.h"

#include <chrono>
#include <string>

namespace leadline {
namespace {

constexpr char kMetrics[] = "/metrics";
constexpr char kAlive[] = "/healthz";
constexpr char kReady[] = "/readyz";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";

http::Response Verdict(const std::string& trouble) {
  return trouble.empty() ? http::TextResponse(200, "ok")
                         : http::TextResponse(503, trouble);
}

}  // namespace

std::vector<http::Route> MakePages(PagesParts parts) {
  const Health& health = parts.health;
  metrics::Exposition& exposition = parts.exposition;
  return {
      {kMetrics, "everything that is measured, for Prometheus", false,
       [&exposition](const http::Request&) {
         return http::Response{200, kPrometheusText, exposition.Text(), {}};
       }},
      {kAlive, "whether the process lives: 200, or 503 and why", true,
       [&health](const http::Request&) {
         return Verdict(health.WhyNotAlive(std::chrono::steady_clock::now()));
       }},
      {kReady, "whether it takes work: 200, or 503 and why", true,
       [&health](const http::Request&) {
         return Verdict(health.WhyNotReady(std::chrono::steady_clock::now()));
       }},
  };
}

std::vector<std::string> PathsOfPages() {
  return {kMetrics, kAlive, kReady, "/"};
}

}  // namespace leadline
