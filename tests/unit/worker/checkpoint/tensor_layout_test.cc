#include "worker/checkpoint/tensor_layout.h"

#include <gmock/gmock.h>

#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(TensorLayout, HeaderReadsBackAndDataAreAligned) {
  const std::vector<TensorInfo> tensors = {
      {"embed", TensorType::kFloat64, {2, 3, 1}},
      {"layers.0.attn.wq", TensorType::kFloat32, {2, 5}}};
  const std::string bytes = FormatTensorHeader(tensors);
  EXPECT_EQ(bytes.size() % 8, 0U);
  EXPECT_EQ(ParseTensorHeader(bytes.substr(8), 48 + 40), tensors);
}

TEST(TensorLayout, OrderIsThatOfTheData) {
  const auto tensors = ParseTensorHeader(
      R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("a":{"shape":[1],"data_offsets":[0,4],"dtype":"F32"}})",
      8);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "a");
}

void ExpectRefused(const std::string& header, const std::string& words,
                   int64_t data_bytes = 8) {
  EXPECT_THAT([&] { ParseTensorHeader(header, data_bytes); },
              ThrowsMessage<BadCheckpoint>(HasSubstr(words)))
      << header;
}

std::string Tensor(const std::string& name, const std::string& type,
                   const std::string& shape, const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}";
}

TEST(TensorLayout, HostileHeadersAreRefused) {
  const auto one = [](const std::string& type, const std::string& shape,
                      const std::string& offsets) {
    return "{" + Tensor("a", type, shape, offsets) + "}";
  };
  ExpectRefused("", "not JSON");
  ExpectRefused("[]", "no JSON object");
  ExpectRefused(std::string(200000, '['), "nested too deeply");
  ExpectRefused(std::string(kMostHeaderBytes + 1, ' '), "longer than");
  ExpectRefused("{" + Tensor("a", "F32", "[1]", "[0,4]") + "," +
                    Tensor("a", "F32", "[1]", "[4,8]") + "}",
                "\"a\" twice");
  ExpectRefused("{" + Tensor("a", "F32", "[1]", "[0,4]") + "," +
                    Tensor("b", "F32", "[1]", "[2,6]") + "}",
                "overlaps");
  ExpectRefused("{" + Tensor("a", "F32", "[1]", "[0,4]") + "}",
                "belong to none");
  ExpectRefused("{" + Tensor("a", "F32", "[1]", "[4,8]") + "}", "a gap before");
  ExpectRefused("{" + Tensor("../a", "F32", "[2]", "[0,8]") + "}", "no name");
  ExpectRefused("{" + Tensor("", "F32", "[2]", "[0,8]") + "}", "no name");
  ExpectRefused("{" + Tensor("a\\u0000", "F32", "[2]", "[0,8]") + "}",
                "no name");
  ExpectRefused(one("I64", "[1]", "[0,8]"), "the type \"I64\"");
  ExpectRefused(one("BF16", "[4]", "[0,8]"), "the type \"BF16\"");
  ExpectRefused(one("F32", "[]", "[0,8]"), "no axis of replicas");
  ExpectRefused(one("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), "too many axes");
  ExpectRefused(one("F32", "[0]", "[0,0]"), "is empty");
  ExpectRefused(one("F32", "[-2]", "[0,8]"), "no size");
  ExpectRefused(one("F32", "[2.0]", "[0,8]"), "no size");
  ExpectRefused(one("F32", "[\"2\"]", "[0,8]"), "no size");
  ExpectRefused(one("F32", "[18446744073709551616]", "[0,8]"), "no size");
  ExpectRefused(one("F32", "[4294967296,4294967296]", "[0,8]"), "larger");
  ExpectRefused(one("F64", "[2305843009213693953]", "[0,8]"), "larger");
  ExpectRefused(one("F32", "[3]", "[0,8]"), "larger");
  ExpectRefused(one("F32", "[1]", "[0,8]"), "a shape of 4 bytes");
  ExpectRefused(one("F32", "[2]", "[8,0]"), "outside");
  ExpectRefused(one("F32", "[2]", "[4,12]"), "outside");
  ExpectRefused(one("F32", "[2]", "[0,8,9]"), "no two data_offsets");
  ExpectRefused(R"({"a":5})", "not described");
  ExpectRefused(R"({"a":{"dtype":"F32","shape":[2],"extra":[0,8]}})",
                "lacks its data_offsets");
}

}  // namespace
}  // namespace leadline::checkpoint
