#include "tests/support/safetensors.h"

#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace leadline::testing {
namespace {

std::string File(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

std::string OneTensor(const std::string& type, const std::string& shape,
                      const std::string& offsets) {
  return File(R"({"x": {"dtype": ")" + type + R"(", "shape": )" + shape +
                  R"(, "data_offsets": )" + offsets + "}}",
              std::string(16, '\0'));
}

TEST(Safetensors, GoodFileIsRead) {
  const double values[] = {1.5, -2};
  const std::string data(reinterpret_cast<const char*>(values), 16);
  const Safetensors file = ParseSafetensors(
      File(R"({"__metadata__": {"kind": "model"}, "x": {"dtype": "F64",
           "shape": [2, 1], "data_offsets": [0, 16]}}   )",
           data));
  EXPECT_EQ(file.metadata.at("kind"), "model");
  EXPECT_EQ(file.tensors.at("x").size(0), 2);
  EXPECT_EQ(file.tensors.at("x")[1].item<double>(), -2);
}

TEST(Safetensors, WhatIsWrittenReadsBack) {
  Safetensors content;
  content.metadata["note"] = "\"quoted\"";
  content.tensors["a"] = torch::tensor({1.0, 2.0}, torch::kFloat64);
  content.tensors["b"] = torch::tensor({3, 4, 5}, torch::kInt64).view({3, 1});
  const Safetensors back = ParseSafetensors(WriteSafetensors(content));
  EXPECT_EQ(back.metadata, content.metadata);
  EXPECT_TRUE(torch::equal(back.tensors.at("a"), content.tensors.at("a")));
  EXPECT_TRUE(torch::equal(back.tensors.at("b"), content.tensors.at("b")));
}

TEST(Safetensors, EveryPrefixOfAFileIsRefusedOrSmaller) {
  const std::string good = OneTensor("F64", "[2]", "[0, 16]");
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_THROW(ParseSafetensors(good.substr(0, length)), BadSafetensors)
        << length;
  }
}

TEST(Safetensors, FilesThatLieAreRefused) {
  const std::string bad[] = {
      OneTensor("F64", "[3]", "[0, 24]"),
      OneTensor("F64", "[2]", "[8, 24]"),
      OneTensor("F64", "[2]", "[16, 0]"),
      OneTensor("F64", "[1]", "[0, 16]"),
      OneTensor("F64", "[2]", "[0]"),
      OneTensor("F64", "[-2]", "[0, 16]"),
      OneTensor("F64", "[2.0]", "[0, 16]"),
      OneTensor("F64", "[\"2\"]", "[0, 16]"),
      OneTensor("F64", "2", "[0, 16]"),
      OneTensor("F64", "[4611686018427387904, 4, 2]", "[0, 16]"),
      OneTensor("F64", "[18446744073709551615]", "[0, 16]"),
      OneTensor("F64", "[0, 18446744073709551615]", "[0, 0]"),
      OneTensor("F64", "[2]", "[18446744073709551608, 18446744073709551615]"),
      OneTensor("Q7", "[2]", "[0, 16]"),
      File("[]", ""),
      File("{\"x\": 3}", ""),
      File("{\"x\": {}}", ""),
      File("{\"__metadata__\": {\"a\": 1}}", ""),
      File(std::string(100000, '['), ""),
      std::string(8, '\xff') + "{}",
  };
  for (const std::string& file : bad) {
    EXPECT_THROW(ParseSafetensors(file), BadSafetensors) << file.substr(8);
  }
  EXPECT_THROW(ReadSafetensors("/nowhere/at/all"), BadSafetensors);
  EXPECT_THROW(ReadSafetensors("/"), BadSafetensors);
}

}  // namespace
}  // namespace leadline::testing
