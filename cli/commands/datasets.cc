#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "model/spec/dataset_table.h"

namespace leadline::cli {
namespace {

std::string_view Name(spec::DatasetKind kind) {
  switch (kind) {
    case spec::DatasetKind::kBuiltIn:
      return "built-in";
    case spec::DatasetKind::kSample:
      return "sample";
    case spec::DatasetKind::kDownload:
      return "download";
  }
  return "";
}

std::string_view Origin(spec::DatasetKind kind) {
  switch (kind) {
    case spec::DatasetKind::kBuiltIn:
      return "made by the agent where it is needed";
    case spec::DatasetKind::kSample:
      return "read from the folder that LEADLINE_SAMPLES names";
    case spec::DatasetKind::kDownload:
      return "fetched by the agent where it is needed; docs/data.md says how "
             "to put it by hand";
  }
  return "";
}

std::string SplitText(const spec::DatasetInfo& dataset) {
  if (!dataset.held_out_file.empty()) {
    return fmt::format("all / halves of {}", dataset.held_out_file);
  }
  return fmt::format("{:g} / {:g} / {:g}", dataset.split[0], dataset.split[1],
                     dataset.split[2]);
}

std::string FloorText(std::optional<double> floor) {
  return floor ? fmt::format("{:.4f}", *floor) : "";
}

std::string VocabularyText(const spec::DatasetInfo& dataset) {
  return dataset.vocabulary ? fmt::format("{}", *dataset.vocabulary) : "";
}

template <typename Value>
Json Optional(const std::optional<Value>& value) {
  return JsonOptional(value.has_value(), value.value_or(Value{}));
}

Json FileJson(std::string_view name, std::string_view hash, int64_t bytes,
              const spec::DownloadSource& source) {
  if (name.empty()) return nullptr;
  Json file = {{"name", std::string(name)},
               {"bytes", bytes},
               {"content_hash", std::string(hash)}};
  if (source.url.empty()) return file;
  file["url"] = std::string(source.url);
  if (source.archive_bytes > 0) {
    file["archive"] = {{"bytes", source.archive_bytes},
                       {"content_hash", std::string(source.archive_hash)}};
  }
  return file;
}

Json DatasetJson(const spec::DatasetInfo& dataset) {
  const Json held_out =
      FileJson(dataset.held_out_file, dataset.held_out_hash,
               dataset.held_out_bytes, dataset.held_out_source);
  return {
      {"name", std::string(dataset.name)},
      {"kind", std::string(Name(dataset.kind))},
      {"file", FileJson(dataset.file, dataset.content_hash, dataset.bytes,
                        dataset.source)},
      {"held_out", held_out},
      {"tokenizer", std::string(dataset.tokenizer)},
      {"split", held_out.is_null() ? Json(dataset.split) : Json(nullptr)},
      {"vocabulary", Optional(dataset.vocabulary)},
      {"validation_floor", Optional(dataset.validation_floor)},
      {"test_floor", Optional(dataset.test_floor)},
      {"licence", dataset.licence.empty() ? Json(nullptr)
                                          : Json(std::string(dataset.licence))},
      {"meaning", std::string(dataset.meaning)}};
}

std::string HashText(std::string_view hash) {
  return hash.starts_with("md5:") ? std::string(hash)
                                  : "sha256:" + std::string(hash);
}

std::string FileLine(std::string_view name, std::string_view hash,
                     int64_t bytes, const spec::DownloadSource& source) {
  std::string text = fmt::format("  {}, {} bytes\n    {}\n", name,
                                 Grouped(bytes), HashText(hash));
  if (source.url.empty()) return text;
  text += fmt::format("    {}\n", source.url);
  if (source.archive_bytes > 0) {
    text += fmt::format("    in an archive of {} bytes\n    {}\n",
                        Grouped(source.archive_bytes),
                        HashText(source.archive_hash));
  }
  return text;
}

std::string Details(const spec::DatasetInfo& dataset, const Style& style) {
  std::string text = fmt::format("{}: {}\n\n", style.Bold(dataset.name),
                                 style.Clean(dataset.meaning));
  text += FileLine(dataset.file, dataset.content_hash, dataset.bytes,
                   dataset.source);
  if (!dataset.held_out_file.empty()) {
    text += FileLine(dataset.held_out_file, dataset.held_out_hash,
                     dataset.held_out_bytes, dataset.held_out_source);
  }
  text += fmt::format(
      "  {}: {}\n  tokenizer {}, vocabulary {}\n  training / validation / "
      "test: {}\n",
      Name(dataset.kind), Origin(dataset.kind), dataset.tokenizer,
      dataset.vocabulary ? VocabularyText(dataset) : "as found in the file",
      SplitText(dataset));
  if (!dataset.licence.empty()) {
    text += fmt::format("  licence: {}\n", dataset.licence);
  }
  if (dataset.validation_floor) {
    text += fmt::format("  floor in nats/char: validation {:.6f}",
                        *dataset.validation_floor);
    if (dataset.test_floor) {
      text += fmt::format(", test {:.6f}", *dataset.test_floor);
    }
    text += "\n";
  }
  return text;
}

absl::Status PrintOne(Context& context, const std::string& name) {
  const spec::DatasetInfo* dataset = spec::FindDataset(name);
  if (dataset == nullptr) {
    return At(
        absl::NotFoundError(fmt::format(
            "there is no data set '{}'; leadline datasets lists them", name)),
        name);
  }
  if (context.output.json()) context.output.PrintJson(DatasetJson(*dataset));
  context.output.Print(Details(*dataset, context.output.out()));
  return absl::OkStatus();
}

absl::Status PrintAll(Context& context) {
  Json list = Json::array();
  Table table{{{"data set"},
               {"kind"},
               {"bytes", Align::kRight},
               {"symbols", Align::kRight},
               {"training / validation / test"},
               {"floor", Align::kRight},
               {"hash"},
               {"what it is"}},
              {}};
  const Style& style = context.output.out();
  for (const spec::DatasetInfo& dataset : spec::DatasetTable()) {
    list.push_back(DatasetJson(dataset));
    table.rows.push_back({std::string(dataset.name),
                          std::string(Name(dataset.kind)),
                          Grouped(dataset.bytes + dataset.held_out_bytes),
                          VocabularyText(dataset), SplitText(dataset),
                          FloorText(dataset.validation_floor),
                          std::string(dataset.content_hash.substr(0, 12)),
                          style.Clean(dataset.meaning)});
  }
  if (context.output.json()) context.output.PrintJson({{"datasets", list}});
  context.output.Print(Render(table, style));
  return absl::OkStatus();
}

}  // namespace

Command DatasetsCommand() {
  return {"datasets", "the registered texts, their hashes and floors",
          "  leadline datasets\n"
          "  leadline datasets iid27    # file, hash, split, floors\n",
          [](CLI::App& app) -> Action {
            auto name = std::make_shared<std::string>();
            app.add_option("name", *name, "one of them, in full")
                ->option_text("NAME");
            return [name](Context& context) {
              return name->empty() ? PrintAll(context)
                                   : PrintOne(context, *name);
            };
          }};
}

}  // namespace leadline::cli
