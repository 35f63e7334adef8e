// An answer that is lost may mean that the call was done. Every changing call
// is made, its answer dropped, and made again: the store must be as after one,
// and the second answer what the first would have been.

#include <future>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include "coordinator_world.h"
#include "fake_agent.h"
#include "leadline/v1/access_service.pb.h"
#include "leadline/v1/node_service.pb.h"
#include "tests/support/store_world.h"

namespace leadline {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

/// A call by name, its request as text.
struct Call {
  std::string method;  // "SweepService/Pause"
  std::string request;
};

struct Case {
  std::vector<Call> before;  // made once, to get there
  Call call;
  bool needs_node = false;
};

const char kSubmit[] =
    "text: 'leadline: 1\\nname: small\\nseeds: 2\\naxes:\\n  depth: [1, 2]\\n"
    "  dataset: [iid27]\\n  method: [prenorm]\\n' file: 'sweep.yaml' "
    "base_folder: '/tmp' request_id: 'first'";

// Made by its owner, the hash is the request's id.
const char kCreateToken[] =
    "hash: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef' "
    "role: 'admin' name: 'me'";

const Call kSubmitFirst{"SweepService/Submit", kSubmit};

/// Every call whose request carries a request id has its row, and those that
/// are known by what they carry besides.
const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {{}, {"SweepService/Submit", std::string(kSubmit) + " make_new: true"}},
      {{kSubmitFirst},
       {"SweepService/Cancel", "target: 's1.1' request_id: 'again'"}},
      {{kSubmitFirst,
        {"SweepService/Cancel", "target: 's1' request_id: 'cancel'"}},
       {"SweepService/Retry",
        "targets: 's1' cancelled: true request_id: 'again'"}},
      {{kSubmitFirst},
       {"SweepService/Pause", "sweep: 's1' stop: true request_id: 'again'"}},
      {{kSubmitFirst,
        {"SweepService/Pause", "sweep: 's1' request_id: 'pause'"}},
       {"SweepService/Resume", "sweep: 's1' request_id: 'again'"}},
      {{kSubmitFirst},
       {"SweepService/Edit",
        "sweep: 's1' note: 'n' add_tags: 'a' request_id: 'again'"}},
      {{kSubmitFirst,
        {"SweepService/Cancel", "target: 's1' request_id: 'cancel'"}},
       {"SweepService/Remove", "targets: 's1' request_id: 'again'"}},
      {{}, {"NodeService/ClearNode", "node: 'n' request_id: 'again'"}, true},
      {{}, {"AccessService/CreateToken", kCreateToken}},
      {{{"AccessService/CreateToken", kCreateToken}},
       {"AccessService/RevokeToken", "token: 't1'"}},
  };
  return cases;
}

const MethodDescriptor* Find(const std::string& method) {
  std::string name = "leadline.v1." + method;
  name[name.find('/')] = '.';
  return DescriptorPool::generated_pool()->FindMethodByName(name);
}

class RepeatedRequests : public ::testing::Test {
 protected:
  /// The answer, serialised.
  std::string Make(const Call& call) {
    const MethodDescriptor* method = Find(call.method);
    if (method == nullptr) {
      ADD_FAILURE() << "there is no call " << call.method;
      return "";
    }
    auto* factory = google::protobuf::MessageFactory::generated_factory();
    std::unique_ptr<Message> request(
        factory->GetPrototype(method->input_type())->New());
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(call.request,
                                                              request.get()))
        << call.method;
    std::string bytes = request->SerializeAsString();
    grpc::Slice slice(bytes);
    const grpc::ByteBuffer sent(&slice, 1);
    grpc::ByteBuffer answer;
    grpc::ClientContext context;
    std::promise<grpc::Status> done;
    // A channel of its own each time, as a command that starts anew has.
    grpc::GenericStub(world_.Channel())
        .UnaryCall(&context, "/leadline.v1." + call.method, {}, &sent, &answer,
                   [&](grpc::Status status) { done.set_value(status); });
    const grpc::Status status = done.get_future().get();
    EXPECT_TRUE(status.ok()) << call.method << ": " << status.error_message();
    return Text(answer);
  }

  std::string Contents() { return test::Dump(world_.stores(), {}); }

  CoordinatorWorld world_;

 private:
  static std::string Text(const grpc::ByteBuffer& buffer) {
    std::vector<grpc::Slice> slices;
    std::string text;
    if (!buffer.Dump(&slices).ok()) return text;
    for (const grpc::Slice& slice : slices) {
      text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    return text;
  }
};

class RepeatedRequest : public RepeatedRequests,
                        public ::testing::WithParamInterface<Case> {};

TEST_P(RepeatedRequest, WhoseAnswerWasLostIsDoneOnce) {
  std::promise<void> welcome;
  std::optional<FakeAgent> agent;
  if (GetParam().needs_node) {
    agent.emplace(world_.Channel(), RegisterMessage("n", 1),
                  [&](FakeAgent::Stream&, const v1::CoordinatorMessage& heard) {
                    if (heard.has_registered()) welcome.set_value();
                  });
    welcome.get_future().wait();
  }
  for (const Call& call : GetParam().before) Make(call);
  const std::string lost = Make(GetParam().call);
  const std::string after_one = Contents();
  EXPECT_EQ(Make(GetParam().call), lost);
  EXPECT_EQ(Contents(), after_one);
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  const std::string& method = info.param.call.method;
  return method.substr(method.find('/') + 1);
}

INSTANTIATE_TEST_SUITE_P(Calls, RepeatedRequest, ::testing::ValuesIn(Cases()),
                         NameOf);

TEST(RepeatedRequestTable, HasEveryCallThatCarriesARequestId) {
  (void)v1::ClearNodeRequest::descriptor();
  std::set<std::string> expected = {"AccessService/CreateToken",
                                    "AccessService/RevokeToken"};
  for (const char* name : {"NodeService", "SweepService", "ResultsService"}) {
    const auto* service = DescriptorPool::generated_pool()->FindServiceByName(
        std::string("leadline.v1.") + name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i) {
      const MethodDescriptor* method = service->method(i);
      if (method->input_type()->FindFieldByName("request_id") == nullptr ||
          method->server_streaming()) {
        continue;
      }
      expected.insert(service->name() + "/" + method->name());
    }
  }
  std::set<std::string> covered;
  for (const Case& one : Cases()) covered.insert(one.call.method);
  EXPECT_EQ(covered, expected);
}

}  // namespace
}  // namespace leadline
