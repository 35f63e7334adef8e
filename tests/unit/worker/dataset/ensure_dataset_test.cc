#include "worker/dataset/ensure_dataset.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sha256.h"
#include "worker/dataset/data_error.h"
#include "worker/dataset/symbol_text.h"

namespace leadline::dataset {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string Contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class EnsureDatasetTest : public testing::Test {
 protected:
  EnsureDatasetTest() {
    std::string pattern = testing::TempDir() + "ensure_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~EnsureDatasetTest() override { std::filesystem::remove_all(folder_); }

  size_t FilesInFolder() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

  std::filesystem::path folder_;
  const spec::DatasetInfo& grammar_ = *spec::FindDataset("grammar16");
};

TEST_F(EnsureDatasetTest, BuiltInCorpusIsMadeOnceAndKept) {
  const auto path = EnsureDataset(grammar_, folder_, {});
  EXPECT_EQ(Sha256Of(Contents(path)), grammar_.content_hash);
  const auto made_at = std::filesystem::last_write_time(path);
  EXPECT_EQ(EnsureDataset(grammar_, folder_, {}), path);
  EXPECT_EQ(std::filesystem::last_write_time(path), made_at);
  EXPECT_EQ(FilesInFolder(), 1U);
}

TEST_F(EnsureDatasetTest, DamagedCorpusIsMadeAgain) {
  const auto path = EnsureDataset(grammar_, folder_, {});
  std::ofstream(path) << "damaged";
  EnsureDataset(grammar_, folder_, {});
  EXPECT_EQ(Sha256Of(Contents(path)), grammar_.content_hash);
}

TEST_F(EnsureDatasetTest, ProcessesThatAskAtOnceAllGetTheWholeFile) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto path = EnsureDataset(grammar_, folder_, {});
      _exit(Sha256Of(Contents(path)) == grammar_.content_hash ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(FilesInFolder(), 1U);
}

TEST_F(EnsureDatasetTest, MissingDownloadNamesTheFileToPut) {
  EXPECT_THAT(
      [&] { EnsureDataset(*spec::FindDataset("tinystories"), folder_, {}); },
      ThrowsMessage<DataError>(HasSubstr("TinyStories-train.txt")));
}

TEST_F(EnsureDatasetTest, FileOfAnotherContentIsNoDownload) {
  std::ofstream(folder_ / "text8") << "not text8";
  EXPECT_THAT([&] { EnsureDataset(*spec::FindDataset("text8"), folder_, {}); },
              ThrowsMessage<DataError>(HasSubstr("has hash")));
}

TEST_F(EnsureDatasetTest, SampleWithoutItsFolderSaysWhatToSet) {
  EXPECT_THAT(
      [&] { EnsureDataset(*spec::FindDataset("shakespeare"), folder_, {}); },
      ThrowsMessage<DataError>(HasSubstr("LEADLINE_SAMPLES")));
}

TEST_F(EnsureDatasetTest, FolderThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(EnsureDataset(grammar_, "/proc/none", {}), std::system_error);
}

TEST(Samples, HaveTheSizesAndSymbolsOfTheTable) {
  const char* samples = std::getenv("LEADLINE_SAMPLES");
  if (samples == nullptr) GTEST_SKIP() << "LEADLINE_SAMPLES is not set";
  for (const spec::DatasetInfo& info : spec::DatasetTable()) {
    if (info.kind != spec::DatasetKind::kSample) continue;
    spec::Dataset dataset;
    dataset.path = EnsureDataset(info, "unused", samples);
    dataset.content_hash = info.content_hash;
    dataset.split = info.split;
    EXPECT_EQ(static_cast<int64_t>(std::filesystem::file_size(dataset.path)),
              info.bytes);
    const SymbolText text = LoadText(dataset);
    EXPECT_EQ(text.vocabulary(), info.vocabulary) << info.name;
    if (info.name == "text8_sample") {
      EXPECT_EQ(text.train().size(), 2'777'246U);
      EXPECT_EQ(text.validation().size(), 154'291U);
      EXPECT_EQ(text.test().size(), 154'292U);
    }
  }
}

}  // namespace
}  // namespace leadline::dataset
