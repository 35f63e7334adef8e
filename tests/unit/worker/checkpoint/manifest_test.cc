#include "worker/checkpoint/manifest.h"

#include <cmath>

#include <gmock/gmock.h>

#include "tests/unit/worker/checkpoint/small_checkpoint.h"
#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Manifest Whole() {
  Manifest manifest = SmallManifest({0, INT64_MAX});
  manifest.replicas[1].ended = "limit";
  manifest.replicas[1].end_step = 5;
  manifest.replicas[0].best_loss = 0.1 + 0.2;
  manifest.origin = {"convert", std::string(64, '1'), "prenorm", 9};
  manifest.files = {{std::string(kParametersFile), 5, std::string(64, 'f')},
                    {std::string(kMomentsFile), 6, std::string(64, 'e')}};
  return manifest;
}

TEST(Manifest, ReadsBackBitForBit) {
  const Manifest manifest = Whole();
  const std::string text = ManifestJson(manifest);
  const Manifest read = ParseManifest(text);
  EXPECT_EQ(ManifestJson(read), text);
  EXPECT_EQ(read.settings, manifest.settings);
  EXPECT_EQ(read.alphabet, manifest.alphabet);
  EXPECT_EQ(read.replicas[0].best_loss, 0.1 + 0.2);
  EXPECT_TRUE(std::isnan(read.replicas[1].best_loss));
  EXPECT_TRUE(std::isinf(read.replicas[1].sums[1]));
  EXPECT_EQ(read.origin, manifest.origin);
  EXPECT_EQ(read.files, manifest.files);
}

TEST(Manifest, NamesNoPath) {
  Manifest manifest = Whole();
  manifest.dataset.path = "/home/me/text";
  EXPECT_THAT(ManifestJson(manifest), testing::Not(HasSubstr("someone")));
}

void ExpectRefused(const std::string& what, const std::string& by,
                   const std::string& words) {
  std::string text = ManifestJson(Whole());
  const size_t at = text.find(what);
  ASSERT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), by);
  EXPECT_THAT([&] { ParseManifest(text); },
              ThrowsMessage<BadCheckpoint>(HasSubstr(words)))
      << by;
}

TEST(Manifest, HostileManifestsAreRefused) {
  ExpectRefused("{\"format\":1", "", "not JSON");
  ExpectRefused("\"format\":1", "\"format\":1,\"format\":1", "twice");
  ExpectRefused("\"format\":1", "\"format\":2", "newer version");
  ExpectRefused("\"format\":1", "\"format\":1e0", "out of range");
  ExpectRefused("\"settings_version\":", "\"settings_version\":9",
                "newer version");
  ExpectRefused("\"depth\":2", "\"depth\":2,\"layers\":2", "no setting");
  ExpectRefused("\"depth\":2", "\"depth\":\"2\"", "depth");
  ExpectRefused("\"n_heads\":1", "\"n_heads\":3", "n_heads");
  ExpectRefused("philox", "mt", "random streams");
  ExpectRefused("\"step\":7", "\"step\":-1", "out of range");
  ExpectRefused("\"step\":7", "\"step\":9223372036854775808", "out of range");
  ExpectRefused("\"vocabulary\":3", "\"vocabulary\":5", "do not agree");
  ExpectRefused("[97,", "[1114112,", "out of range");
  ExpectRefused("\"seed\":0", "\"seed\":9223372036854775807", "twice");
  ExpectRefused("\"ended\":\"limit\"", "\"ended\":\"bored\"", "no known cause");
  ExpectRefused("\"best_loss\":\"nan\"", "\"best_loss\":\"naan\"", "no number");
  ExpectRefused("\"best_loss\":\"nan\"", "\"best_loss\":1e999", "not JSON");
  ExpectRefused("parameters.safetensors", "../parameters.safetensors",
                "none of a checkpoint");
  ExpectRefused("parameters.safetensors", "moments.safetensors", "twice");
  ExpectRefused("parameters.safetensors", "/etc/passwd",
                "none of a checkpoint");
  ExpectRefused("\"bytes\":5", "\"bytes\":-5", "out of range");
  ExpectRefused(std::string(64, 'f'), std::string(64, 'F'), "no SHA-256");
  ExpectRefused("\"origin\":{", "\"origin\":[{", "not JSON");
}

}  // namespace
}  // namespace leadline::checkpoint
