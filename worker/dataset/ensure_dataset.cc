#include "worker/dataset/ensure_dataset.h"

#include "common/sha256.h"
#include "worker/dataset/built_in_corpus.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/text_reader.h"
#include "worker/dataset/whole_file.h"

namespace leadline::dataset {
namespace {

namespace fs = std::filesystem;

void CheckFile(const fs::path& path, std::string_view hash,
               const std::string& how_to_get) {
  if (!fs::exists(path)) {
    throw DataError(path.string() + " is not there: " + how_to_get);
  }
  const std::string found = HashFile(path, hash);
  if (found != hash) {
    throw DataError(path.string() + " has hash " + found + ", not " +
                    std::string(hash) + ": " + how_to_get);
  }
}

fs::path EnsureBuiltIn(const spec::DatasetInfo& info, const fs::path& folder) {
  fs::path path = folder / info.file;
  if (fs::exists(path) &&
      HashFile(path, info.content_hash) == info.content_hash)
    return path;
  const auto process = MakeTextProcess(info.name);
  const GeneratedText made = GenerateText(*process, info.name);
  // A build that draws otherwise must not pass its text off under this name.
  if (Sha256Of(made.text) != info.content_hash) {
    throw DataError("corpus " + std::string(info.name) +
                    " was made with another hash than the table's: this build "
                    "is faulty, report it");
  }
  fs::create_directories(folder);
  WriteWholeFile(path, made.text);
  return path;
}

}  // namespace

fs::path EnsureDataset(const spec::DatasetInfo& info, const fs::path& folder,
                       const std::optional<fs::path>& samples) {
  const std::string file(info.file);
  switch (info.kind) {
    case spec::DatasetKind::kBuiltIn:
      return EnsureBuiltIn(info, folder);
    case spec::DatasetKind::kSample: {
      if (!samples) {
        throw DataError("data set " + std::string(info.name) +
                        " needs the folder of " + file +
                        ": name it by LEADLINE_SAMPLES");
      }
      CheckFile(*samples / info.file, info.content_hash,
                "LEADLINE_SAMPLES must name the folder that holds it");
      return *samples / info.file;
    }
    case spec::DatasetKind::kDownload:
      break;
  }
  const std::string put = "put the file " + file + " of " +
                          std::string(info.name) + " (" +
                          std::to_string(info.bytes) + " bytes) there by hand";
  CheckFile(folder / info.file, info.content_hash, put);
  if (!info.held_out_file.empty()) {
    CheckFile(
        folder / info.held_out_file, info.held_out_hash,
        "put the file " + std::string(info.held_out_file) + " there by hand");
  }
  return folder / info.file;
}

}  // namespace leadline::dataset
