#include "model/router/source_name.h"

#include <array>
#include <charconv>

#include <c10/util/Exception.h>

namespace leadline::model {
namespace {

struct Form {
  std::string_view word;
  SourceKind kind;
  bool numbered;
};

constexpr std::array kForms = {
    Form{"e", SourceKind::kEmbedding, false},
    Form{"u", SourceKind::kUpdate, true},
    Form{"h", SourceKind::kState, true},
    Form{"C", SourceKind::kBlock, true},
    Form{"P", SourceKind::kPartial, false},
    Form{"Dphi", SourceKind::kPhaseDetail, true},
    Form{"Pphi", SourceKind::kPhaseDetail, false},
    Form{"Dsig", SourceKind::kSplitDetail, true},
    Form{"Psig", SourceKind::kSplitDetail, false},
    Form{"null", SourceKind::kNull, false},
};

}  // namespace

int64_t SourceName::Birth(int64_t sublayer, int64_t block_sublayers) const {
  if (running()) return sublayer;
  switch (kind) {
    case SourceKind::kUpdate:
      return index + 1;
    case SourceKind::kState:
      return index;
    case SourceKind::kBlock:
    case SourceKind::kPhaseDetail:
    case SourceKind::kSplitDetail:
      return (index + 1) * block_sublayers;
    case SourceKind::kNull:
      return sublayer;
    case SourceKind::kEmbedding:
    case SourceKind::kPartial:
      break;
  }
  return 0;
}

SourceName ReadSourceName(std::string_view label) {
  const size_t digits = label.find_first_of("0123456789");
  const std::string_view word = label.substr(0, digits);
  for (const Form& form : kForms) {
    if (form.word != word || form.numbered == (word == label)) continue;
    SourceName name{form.kind};
    if (!form.numbered) return name;
    const char* const end = label.data() + label.size();
    const auto [stop, error] =
        std::from_chars(label.data() + digits, end, name.index);
    if (error == std::errc() && stop == end) return name;
  }
  TORCH_CHECK(false, "a source labelled '", label, "'");
}

}  // namespace leadline::model
