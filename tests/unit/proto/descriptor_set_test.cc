// The protocol as it is against the one that is committed:
// proto/descriptor_set.txt, which older programs speak.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "breaking_changes.h"
#include "proto/protocol_version.h"
#include "tests/support/paths.h"

namespace leadline {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kHowToUpdate[] =
    "LEADLINE_UPDATE_DOCS=1 build/tests/proto_test "
    "--gtest_filter=DescriptorSet.* writes it anew";

std::filesystem::path CommittedPath() {
  return test::SourceDir() / "proto" / "descriptor_set.txt";
}

/// Made by the build from every file of proto/leadline/v1.
FileDescriptorSet Now() {
  const auto path = test::BuildDir() / "proto" / "descriptor_set.binpb";
  std::ifstream file(path, std::ios::binary);
  FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromIstream(&file)) << path;
  return set;
}

/// The services of the protocol; they live as long as `pool`.
std::vector<const ServiceDescriptor*> Services(DescriptorPool& pool) {
  std::vector<const ServiceDescriptor*> services;
  const FileDescriptorSet now = Now();
  for (const auto& file : now.file()) {
    const FileDescriptor* built = pool.BuildFile(file);
    EXPECT_NE(built, nullptr) << file.name();
    for (int s = 0; built != nullptr && s < built->service_count(); ++s) {
      services.push_back(built->service(s));
    }
  }
  return services;
}

struct Committed {
  FileDescriptorSet set;
  int32_t protocol = 0;  // that it was written for
};

Committed ReadCommitted() {
  std::ifstream file(CommittedPath());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Committed committed;
  const bool is_read =
      std::sscanf(text.c_str(), "# protocol %d", &committed.protocol) == 1 &&
      google::protobuf::TextFormat::ParseFromString(text, &committed.set);
  EXPECT_TRUE(is_read) << CommittedPath() << ": " << kHowToUpdate;
  return committed;
}

void WriteCommitted() {
  std::string text;
  google::protobuf::TextFormat::PrintToString(Now(), &text);
  std::ofstream(CommittedPath())
      << "# protocol " << kProtocol.newest
      << "\n# What is on the wire. Written by proto_test; read as "
         "google.protobuf.FileDescriptorSet.\n"
      << text;
}

/// A set of one message with one field and one call, to be changed.
FileDescriptorSet Small() {
  FileDescriptorSet set;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(file { name: "a.proto" package: "p" syntax: "proto3"
           message_type { name: "M"
             field { name: "f" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }
             field { name: "g" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING }
             nested_type { name: "N" } }
           service { name: "S"
             method { name: "Do" input_type: ".p.M" output_type: ".p.M" } } })",
      &set));
  return set;
}

TEST(DescriptorSet, WhatOlderProgramsSpeakIsStillUnderstood) {
  const bool update = std::getenv("LEADLINE_UPDATE_DOCS") != nullptr;
  if (update && !std::filesystem::exists(CommittedPath())) WriteCommitted();
  const Committed committed = ReadCommitted();
  const FileDescriptorSet now = Now();
  const auto changes = BreakingChanges(committed.set, now);
  if (update && (changes.empty() || kProtocol.newest > committed.protocol)) {
    return WriteCommitted();
  }
  EXPECT_THAT(changes, IsEmpty())
      << "older programs misread this. Keep what was there and add beside it; "
         "or raise kProtocol in proto/protocol_version.h, and then "
      << kHowToUpdate;
  EXPECT_LE(committed.protocol, kProtocol.newest);
  if (changes.empty() &&
      !google::protobuf::util::MessageDifferencer::Equals(committed.set, now)) {
    std::cout << "the protocol has grown; " << CommittedPath().string()
              << " does not know of it yet: " << kHowToUpdate << "\n";
  }
}

TEST(DescriptorSet, WhatIsNewBreaksNothing) {
  FileDescriptorSet more = Small();
  auto& file = *more.mutable_file(0);
  auto& field = *file.mutable_message_type(0)->add_field();
  field = file.message_type(0).field(0);
  field.set_name("h");
  field.set_number(3);
  file.add_message_type()->set_name("Other");
  auto& call = *file.mutable_service(0)->add_method();
  call = file.service(0).method(0);
  call.set_name("Undo");
  EXPECT_THAT(BreakingChanges(Small(), more), IsEmpty());
}

TEST(DescriptorSet, FieldsThatGoMoveOrChangeAreTold) {
  FileDescriptorSet set = Small();
  set.mutable_file(0)->mutable_message_type(0)->mutable_field()->RemoveLast();
  EXPECT_THAT(BreakingChanges(Small(), set),
              ElementsAre("p.M.g (number 2) is gone"));

  set = Small();
  set.mutable_file(0)->mutable_message_type(0)->mutable_field(1)->set_number(5);
  EXPECT_THAT(BreakingChanges(Small(), set),
              ElementsAre("p.M.g (number 2) is gone"));

  set = Small();
  set.mutable_file(0)->mutable_message_type(0)->mutable_field(1)->set_name("x");
  EXPECT_THAT(BreakingChanges(Small(), set),
              ElementsAre("p.M.g (number 2) is now x"));

  set = Small();
  auto* field = set.mutable_file(0)->mutable_message_type(0)->mutable_field(0);
  field->set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
  EXPECT_THAT(BreakingChanges(Small(), set),
              ElementsAre(HasSubstr("TYPE_INT64 and is")));
  field->set_type(google::protobuf::FieldDescriptorProto::TYPE_INT64);
  field->set_label(google::protobuf::FieldDescriptorProto::LABEL_REPEATED);
  EXPECT_THAT(BreakingChanges(Small(), set),
              ElementsAre(HasSubstr("LABEL_REPEATED")));
}

TEST(DescriptorSet, MessagesAndCallsThatGoOrChangeAreTold) {
  FileDescriptorSet set = Small();
  set.mutable_file(0)->mutable_message_type(0)->clear_nested_type();
  EXPECT_THAT(BreakingChanges(Small(), set),
              ElementsAre("message p.M.N is gone"));

  set = Small();
  set.mutable_file(0)->mutable_service(0)->clear_method();
  EXPECT_THAT(BreakingChanges(Small(), set),
              ElementsAre("call p.S/Do is gone"));

  set = Small();
  set.mutable_file(0)
      ->mutable_service(0)
      ->mutable_method(0)
      ->set_server_streaming(true);
  EXPECT_THAT(BreakingChanges(Small(), set), ElementsAre(HasSubstr("stream")));
}

/// Calls that change nothing that lasts. Whoever adds one here says so.
const std::set<std::string>& ReadingCalls() {
  static const std::set<std::string> calls = {
      "AccessService/ListAudit", "AccessService/ListTokens",
      // Done twice they are done once: a token is known by its hash, which its
      // owner makes, and what is revoked stays so.
      "AccessService/CreateToken", "AccessService/RevokeToken",
      "NodeService/ListNodes", "NodeService/ShowNode", "ResultsService/Curve",
      "ResultsService/ListSweeps", "ResultsService/ListTrials",
      "ResultsService/ReadLog", "ResultsService/Results",
      "ResultsService/Routing", "ResultsService/ShowTrial",
      "ResultsService/TrainerConfig", "SweepService/Attach",
      "SweepService/Backup", "SweepService/Explain", "SweepService/Plan",
      "SweepService/Watch",
      // Its messages carry fencing tokens and sequence numbers instead.
      "WorkerService/Session"};
  return calls;
}

bool CarriesRequestId(const MethodDescriptor& call) {
  const auto* field = call.input_type()->FindFieldByName("request_id");
  return field != nullptr && !field->is_repeated() &&
         field->type() == google::protobuf::FieldDescriptor::TYPE_STRING;
}

TEST(ChangingCalls, EachCarriesARequestId) {
  DescriptorPool pool;
  std::set<std::string> reading;
  int changing = 0;
  for (const ServiceDescriptor* service : Services(pool)) {
    for (int m = 0; m < service->method_count(); ++m) {
      const MethodDescriptor& call = *service->method(m);
      const std::string name = service->name() + "/" + call.name();
      if (ReadingCalls().contains(name)) {
        reading.insert(name);
        continue;
      }
      ++changing;
      EXPECT_TRUE(CarriesRequestId(call))
          << name << " may be asked again when its answer is lost: give its "
          << "request a string request_id, stored with the answer, or list it "
          << "among the calls that change nothing";
    }
  }
  EXPECT_GE(changing, 6);
  EXPECT_EQ(reading, ReadingCalls()) << "the list names calls that are gone";
}

}  // namespace
}  // namespace leadline
