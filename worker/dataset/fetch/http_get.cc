#include "worker/dataset/fetch/http_get.h"

#include <charconv>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>

#include <curl/curl.h>

namespace leadline::dataset {
namespace {

constexpr size_t kMostHeaderBytes = size_t{64} << 10U;

std::string_view Trim(std::string_view text) {
  const auto is_blank = [](char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsNamed(std::string_view name, std::string_view lower) {
  if (name.size() != lower.size()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != lower[i]) return false;
  }
  return true;
}

std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0) return std::nullopt;
  return value;
}

// "bytes 10-99/100"
void ReadContentRange(std::string_view value, HttpHead& head) {
  constexpr std::string_view kUnit = "bytes ";
  const size_t dash = value.find('-');
  const size_t slash = value.find('/');
  if (!value.starts_with(kUnit) || dash == std::string_view::npos ||
      slash == std::string_view::npos || dash < kUnit.size()) {
    return;
  }
  head.range_begin =
      ParseCount(value.substr(kUnit.size(), dash - kUnit.size()));
  head.range_total = ParseCount(value.substr(slash + 1));
}

class Transfer {
 public:
  Transfer(HttpReceiver& receiver, const std::stop_token& stop)
      : receiver_(receiver), stop_(stop), curl_(curl_easy_init()) {
    if (curl_ == nullptr) throw std::runtime_error("libcurl does not start");
  }

  HttpOutcome Get(const std::string& url, int64_t begin,
                  const HttpLimits& limits) {
    Configure(url, begin, limits);
    const CURLcode code = curl_easy_perform(curl_.get());
    if (fault_) std::rethrow_exception(fault_);
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (stop_.stop_requested()) {
      return {HttpEnd::kStopped, status, "stopped"};
    }
    if (code == CURLE_OK) {
      // An empty body brings no call of its own.
      if (!begun_) receiver_.Begin(head_);
      return {HttpEnd::kDone, status, ""};
    }
    return {EndOf(code, status), status, Explain(code, status)};
  }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl_.get(), option, value) != CURLE_OK) {
      throw std::runtime_error("libcurl refuses an option");
    }
  }

  void Configure(const std::string& url, int64_t begin,
                 const HttpLimits& limits) {
    const bool is_secure = url.starts_with("https:");
    Set(CURLOPT_URL, url.c_str());
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_REDIR_PROTOCOLS_STR, is_secure ? "https" : "http,https");
    Set(CURLOPT_FOLLOWLOCATION, 1L);
    Set(CURLOPT_MAXREDIRS, static_cast<long>(limits.redirects));
    Set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    Set(CURLOPT_FAILONERROR, 1L);
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_USERAGENT, "leadline");
    Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
    Set(CURLOPT_TIMEOUT, static_cast<long>(limits.total.count()));
    Set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.stall.count()));
    Set(CURLOPT_LOW_SPEED_LIMIT,
        static_cast<long>(limits.least_bytes_per_second));
    Set(CURLOPT_ERRORBUFFER, message_);
    if (begin > 0) {
      range_ = std::to_string(begin) + "-";
      Set(CURLOPT_RANGE, range_.c_str());
    }
    Set(CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
    Set(CURLOPT_WRITEDATA, this);
    Set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
    Set(CURLOPT_HEADERDATA, this);
    Set(CURLOPT_NOPROGRESS, 0L);
    Set(CURLOPT_XFERINFOFUNCTION, &Transfer::OnProgress);
    Set(CURLOPT_XFERINFODATA, this);
  }

  HttpEnd EndOf(CURLcode code, long status) const {
    if (headers_too_long_) return HttpEnd::kRefused;
    switch (code) {
      case CURLE_HTTP_RETURNED_ERROR:
        return status >= 500 || status == 408 || status == 429
                   ? HttpEnd::kCut
                   : HttpEnd::kRefused;
      case CURLE_URL_MALFORMAT:
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_TOO_MANY_REDIRECTS:
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
        return HttpEnd::kRefused;
      default:
        return HttpEnd::kCut;
    }
  }

  std::string Explain(CURLcode code, long status) const {
    if (headers_too_long_) return "the head of the answer is too long";
    if (code == CURLE_HTTP_RETURNED_ERROR) {
      return "the server answers with status " + std::to_string(status);
    }
    return message_[0] != '\0' ? message_ : curl_easy_strerror(code);
  }

  static size_t OnBody(char* bytes, size_t, size_t count, void* self) {
    return static_cast<Transfer*>(self)->Take({bytes, count}) ? count : 0;
  }
  static size_t OnHeader(char* bytes, size_t, size_t count, void* self) {
    return static_cast<Transfer*>(self)->ReadHeader({bytes, count}) ? count : 0;
  }
  static int OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t,
                        curl_off_t) {
    return static_cast<Transfer*>(self)->stop_.stop_requested() ? 1 : 0;
  }

  // Nothing may be thrown through a library in C.
  bool Take(std::string_view bytes) {
    try {
      if (!begun_) {
        begun_ = true;
        receiver_.Begin(head_);
      }
      receiver_.Take(bytes);
      return !stop_.stop_requested();
    } catch (...) {
      fault_ = std::current_exception();
      return false;
    }
  }

  bool ReadHeader(std::string_view line) {
    header_bytes_ += line.size();
    headers_too_long_ = header_bytes_ > kMostHeaderBytes;
    if (headers_too_long_) return false;
    if (line.starts_with("HTTP/")) {
      // After a redirect, or an interim answer, another head begins.
      head_ = {};
      const size_t blank = line.find(' ');
      if (blank != std::string_view::npos) {
        head_.status = ParseCount(line.substr(blank + 1, 3)).value_or(0);
      }
      return true;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return true;
    const std::string_view value = Trim(line.substr(colon + 1));
    if (IsNamed(line.substr(0, colon), "content-length")) {
      head_.length = ParseCount(value);
    } else if (IsNamed(line.substr(0, colon), "content-range")) {
      ReadContentRange(value, head_);
    }
    return true;
  }

  struct Close {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };

  HttpReceiver& receiver_;
  std::stop_token stop_;
  std::unique_ptr<CURL, Close> curl_;
  std::string range_;
  char message_[CURL_ERROR_SIZE] = {};
  HttpHead head_;
  size_t header_bytes_ = 0;
  bool headers_too_long_ = false;
  bool begun_ = false;
  std::exception_ptr fault_;
};

}  // namespace

HttpOutcome HttpGet(const std::string& url, int64_t begin,
                    const HttpLimits& limits, const std::stop_token& stop,
                    HttpReceiver& receiver) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  return Transfer(receiver, stop).Get(url, begin, limits);
}

}  // namespace leadline::dataset
