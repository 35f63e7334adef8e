#include "worker/dataset/fetch/unzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch_world.h"
#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class UnzipTest : public FetchWorld {
 protected:
  UnzipTest() {
    const std::string command = "python3 -B '" +
                                Script("make_archives.py").string() + "' '" +
                                served_.path().string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  std::string Unpacked(const std::string& archive) {
    std::string text;
    Unzip(served_.path() / archive, "text", info_.bytes,
          [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  void ServeZipped(const std::string& archive) {
    url_ = "http://elsewhere.invalid/" + archive;
    archive_hash_ = Sha256Of(Contents(served_.path() / archive));
    info_.source = {.url = url_,
                    .archive_hash = archive_hash_,
                    .archive_bytes = static_cast<int64_t>(
                        std::filesystem::file_size(served_.path() / archive))};
  }

  std::vector<std::string> NamesInFolder() const {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(options_.folder)) {
      if (entry.path().extension() != ".lock") {
        names.push_back(entry.path().filename());
      }
    }
    return names;
  }

  std::string url_;
  std::string archive_hash_;
};

TEST_F(UnzipTest, PassesOnTheEntryOfThatName) {
  EXPECT_EQ(Unpacked("good.zip"), text_);
}

TEST_F(UnzipTest, HostileArchivesAreRefused) {
  for (const char* archive : {"traversal.zip", "bomb.zip", "liar.zip",
                              "damaged.zip", "cut.zip", "no.zip", "none.zip"}) {
    EXPECT_THAT([&] { Unpacked(archive); },
                ThrowsMessage<DataError>(HasSubstr(archive)))
        << archive;
  }
}

TEST_F(UnzipTest, LiarPassesOnNoMoreThanItsSize) {
  size_t passed = 0;
  EXPECT_THROW(Unzip(served_.path() / "liar.zip", "text", info_.bytes,
                     [&](std::string_view bytes) { passed += bytes.size(); }),
               DataError);
  EXPECT_LE(passed, text_.size());
}

TEST_F(UnzipTest, ZippedDataSetIsFetchedAndUnpacked) {
  ServeZipped("good.zip");
  EXPECT_EQ(Contents(Fetch("cut")), text_);
  EXPECT_THAT(NamesInFolder(), ElementsAre("text"));
}

TEST_F(UnzipTest, ArchiveThatWasPutByHandIsUnpackedAndKept) {
  ServeZipped("good.zip");
  std::filesystem::create_directories(options_.folder);
  std::filesystem::copy(served_.path() / "good.zip", options_.folder);
  EXPECT_EQ(Contents(Fetch("plain")), text_);
  EXPECT_TRUE(Requests().empty());
  EXPECT_TRUE(IsThere("good.zip"));
}

TEST_F(UnzipTest, ArchiveWithAnotherTextLeavesNothingToUse) {
  for (const char* archive :
       {"other_text.zip", "traversal.zip", "liar.zip", "bomb.zip"}) {
    ServeZipped(archive);
    EXPECT_THAT([&] { Fetch("plain"); },
                ThrowsMessage<DataError>(HasSubstr(archive)));
    EXPECT_FALSE(IsThere("text")) << archive;
    EXPECT_FALSE(IsThere("text.part")) << archive;
  }
}

TEST_F(UnzipTest, WithoutANetworkArchiveAndTextAreNamed) {
  ServeZipped("good.zip");
  server_.Stop();
  EXPECT_THAT([&] { Fetch("plain"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr((options_.folder / "good.zip").string()),
                        HasSubstr(archive_hash_), HasSubstr(hash_))));
}

}  // namespace
}  // namespace leadline::dataset
