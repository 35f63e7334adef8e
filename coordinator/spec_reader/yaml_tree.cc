#include "coordinator/spec_reader/yaml_tree.h"

#include <memory>
#include <optional>
#include <unordered_map>

#include <libfyaml.h>

#include "coordinator/spec_reader/syntax_words.h"

namespace leadline::spec_reader {
namespace {

constexpr int kMostDepth = 24;

using sweep::Position;
using sweep::Problem;

struct DestroyDiag {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};
struct DestroyParser {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
using Diag = std::unique_ptr<fy_diag, DestroyDiag>;
using Parser = std::unique_ptr<fy_parser, DestroyParser>;

void IgnoreOutput(fy_diag*, void*, const char*, size_t) {}

Diag MakeDiag() {
  fy_diag_cfg config;
  fy_diag_cfg_default(&config);
  config.fp = nullptr;
  config.output_fn = IgnoreOutput;
  Diag diag(fy_diag_create(&config));
  fy_diag_set_collect_errors(diag.get(), true);
  return diag;
}

/// Builds the tree from the parser's events. Ends at the first syntax error, or
/// where the nesting is too deep.
class Building {
 public:
  explicit Building(std::string_view text) : text_(text), diag_(MakeDiag()) {
    fy_parse_cfg config{};
    config.flags =
        static_cast<fy_parse_cfg_flags>(FYPCF_JSON_NONE | FYPCF_QUIET);
    config.diag = diag_.get();
    parser_.reset(fy_parser_create(&config));
    fy_parser_set_string(parser_.get(), text.data(), text.size());
  }

  Tree Run() {
    int documents = 0;
    while (Next()) {
      const fy_event_type type = event_->type;
      if (type == FYET_STREAM_END) break;
      if (type == FYET_STREAM_START || type == FYET_DOCUMENT_END) continue;
      if (type == FYET_DOCUMENT_START) {
        if (++documents == 2)
          Add(At(), "found a second document, expected one");
        continue;
      }
      Node node;
      if (!Build(node, 1)) break;
      if (documents == 1) tree_.root = std::move(node);
    }
    Free();
    if (!failure_) tree_.is_readable = true;
    if (failure_) tree_.problems = {*failure_};
    if (tree_.is_readable && documents == 0) {
      tree_.problems.push_back({{1, 1}, "the file is empty"});
      tree_.is_readable = false;
    }
    return std::move(tree_);
  }

 private:
  void Free() {
    if (event_) fy_parser_event_free(parser_.get(), event_);
    event_ = nullptr;
  }

  /// False at the end, and at a syntax error, which it keeps.
  bool Next() {
    Free();
    event_ = fy_parser_parse(parser_.get());
    void* place = nullptr;
    if (const fy_diag_error* error =
            fy_diag_errors_iterate(diag_.get(), &place)) {
      failure_ = SyntaxProblem(text_, {error->line, error->column}, error->msg);
      return false;
    }
    if (!event_ && fy_parser_get_stream_error(parser_.get())) {
      failure_ = Problem{{1, 1}, "the text is not YAML"};
    }
    return event_ != nullptr;
  }

  /// Where the event starts. One without text of its own, a missing value,
  /// stands where the last one stood.
  Position At() {
    if (const fy_mark* mark = fy_event_start_mark(event_)) {
      last_at_ = {mark->line + 1, mark->column + 1};
      if (IsQuoted()) --last_at_.column;
    }
    return last_at_;
  }

  /// The parser's marks of quoted texts stand behind the quote.
  bool IsQuoted() const {
    if (event_->type != FYET_SCALAR || !event_->scalar.value) return false;
    const fy_scalar_style style = fy_token_scalar_style(event_->scalar.value);
    return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
  }

  void Add(Position at, std::string message) {
    tree_.problems.push_back({at, std::move(message)});
  }

  /// Where an anchor, alias or tag stands. The parser's marks of the first two
  /// stand behind their sign.
  Position PlaceOf(fy_token* token, int marks_behind) {
    const fy_mark* mark = fy_token_start_mark(token);
    if (!mark) return At();
    return {mark->line + 1, mark->column + 1 - marks_behind};
  }

  void RefuseExtras(fy_token* anchor, fy_token* tag) {
    if (anchor) Add(PlaceOf(anchor, 1), "found an anchor, expected none");
    if (tag) Add(PlaceOf(tag, 0), "found a tag, expected none");
  }

  /// Reads the node that the current event starts.
  bool Build(Node& node, int depth) {
    node.at = At();
    if (depth > kMostDepth) {
      failure_ = Problem{node.at, "the nesting is too deep"};
      return false;
    }
    switch (event_->type) {
      case FYET_SCALAR:
        Scalar(node);
        return true;
      case FYET_ALIAS:
        node.at = PlaceOf(event_->alias.anchor, 1);
        Add(node.at, "found an alias, expected a value");
        return true;
      case FYET_SEQUENCE_START:
        RefuseExtras(event_->sequence_start.anchor, event_->sequence_start.tag);
        return List(node, depth);
      case FYET_MAPPING_START:
        RefuseExtras(event_->mapping_start.anchor, event_->mapping_start.tag);
        return Map(node, depth);
      default:
        failure_ = Problem{node.at, "the text is not YAML"};
        return false;
    }
  }

  void Scalar(Node& node) {
    RefuseExtras(event_->scalar.anchor, event_->scalar.tag);
    fy_token* token = event_->scalar.value;
    size_t length = 0;
    const char* text = token ? fy_token_get_text(token, &length) : nullptr;
    if (text) node.text.assign(text, length);
    node.is_plain = !token || fy_token_scalar_style(token) == FYSS_PLAIN;
  }

  bool List(Node& node, int depth) {
    node.kind = Node::Kind::kList;
    while (Next()) {
      if (event_->type == FYET_SEQUENCE_END) return true;
      if (!Build(node.items.emplace_back(), depth + 1)) return false;
    }
    return false;
  }

  bool Map(Node& node, int depth) {
    node.kind = Node::Kind::kMap;
    std::unordered_map<std::string, int64_t> lines;  // of the keys so far
    while (Next()) {
      if (event_->type == FYET_MAPPING_END) return true;
      Node key;
      Entry entry;
      if (!Build(key, depth + 1) || !Next() || !Build(entry.value, depth + 1)) {
        return false;
      }
      if (!key.IsScalar()) {
        tree_.problems.push_back({key.at, "found a key that is no text"});
        continue;
      }
      entry.key = std::move(key.text);
      entry.at = key.at;
      const auto [first, is_new] = lines.try_emplace(entry.key, entry.at.line);
      if (is_new) {
        node.entries.push_back(std::move(entry));
      } else {
        tree_.problems.push_back({entry.at, Twice(entry.key, first->second)});
      }
    }
    return false;
  }

  static std::string Twice(const std::string& key, int64_t line) {
    return key + " stands here a second time, the first is in line " +
           std::to_string(line);
  }

  std::string_view text_;
  Tree tree_;
  std::optional<Problem> failure_;
  Diag diag_;
  Parser parser_;
  fy_event* event_ = nullptr;
  Position last_at_{1, 1};
};

}  // namespace

Tree ReadYaml(std::string_view text) { return Building(text).Run(); }

}  // namespace leadline::spec_reader
