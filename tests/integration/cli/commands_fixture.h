// A command run against a coordinator that answers as the test says.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fake_coordinator.h"
#include "program.h"

namespace leadline::cli_test {

class Commands : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "commands_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    sweep_file_ = (folder_ / "sweep.yaml").string();
    std::ofstream(sweep_file_) << "leadline: 1\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Ended Run(std::vector<std::string> arguments,
            const std::string& locale = "C.UTF-8") {
    FakeCoordinator coordinator(answers_);
    Program program(
        std::move(arguments),
        {{"LEADLINE_COORDINATOR", coordinator.address()}, {"LC_ALL", locale}});
    Ended ended = program.Wait();
    attached_ = coordinator.attached();
    return ended;
  }

  // Runs with --json and checks that all output is one document.
  nlohmann::json RunJson(std::vector<std::string> arguments,
                         int exit_code = 0) {
    arguments.push_back("--json");
    const Ended ended = Run(std::move(arguments));
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    nlohmann::json document = nlohmann::json::parse(ended.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ended.out;
    return document;
  }

  nlohmann::json RunJsonError(std::vector<std::string> arguments,
                              int exit_code) {
    arguments.push_back("--json");
    const Ended ended = Run(std::move(arguments));
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    EXPECT_EQ(ended.out, "");
    nlohmann::json document = nlohmann::json::parse(ended.err, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ended.err;
    EXPECT_EQ(document["error"]["exit_code"], exit_code);
    EXPECT_TRUE(document["error"]["code"].is_string());
    return document["error"];
  }

  Answers answers_;
  std::filesystem::path folder_;
  std::string sweep_file_;
  std::vector<v1::AttachRequest> attached_;
};

}  // namespace leadline::cli_test
