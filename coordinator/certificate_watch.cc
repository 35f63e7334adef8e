#include "coordinator/certificate_watch.h"

#include <utility>

namespace leadline {

CertificateWatch::CertificateWatch(tls::ServerFiles files, Log& log)
    : files_(std::move(files)), log_(log) {
  if (!files_.any()) return;
  if (const auto now = tls::ReadServerFiles(files_); now.ok()) {
    certificate_ = now->certificate;
  }
}

void CertificateWatch::Look(SteadyTime now) {
  if (!files_.any() || now < again_) return;
  again_ = now + files_.look_again;
  const auto found = tls::ReadServerFiles(files_);
  if (!found.ok()) {
    const std::string wrong(found.status().message());
    if (std::exchange(wrong_, wrong) == wrong) return;
    log_.Write(LogLevel::kError, "certificate_unusable", {{"message", wrong}});
    return;
  }
  const bool was_wrong = !std::exchange(wrong_, "").empty();
  const bool is_another =
      std::exchange(certificate_, found->certificate) != found->certificate;
  if (!was_wrong && !is_another) return;
  log_.Write(LogLevel::kInfo, "certificate_renewed",
             {{"file", files_.certificate}});
}

}  // namespace leadline
