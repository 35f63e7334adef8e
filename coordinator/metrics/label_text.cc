#include "coordinator/metrics/label_text.h"

#include "common/utf8_prefix.h"
#include "coordinator/metrics/bounds.h"

namespace leadline::metrics {

std::string LabelText(const std::string& text) {
  return std::string(Utf8Prefix(text, kMostLabelBytes));
}

}  // namespace leadline::metrics
