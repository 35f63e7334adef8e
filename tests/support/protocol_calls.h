// Every call of the protocol, for tests that hold a table to it.

#pragma once

#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>

#include "leadline/v1/access_service.pb.h"
#include "leadline/v1/node_service.pb.h"
#include "leadline/v1/results_service.pb.h"
#include "leadline/v1/sweep_service.pb.h"
#include "leadline/v1/worker_service.pb.h"

namespace leadline::test {

/// "/leadline.v1.SweepService/Submit", by file and in its order. The one list
/// of the files that declare services.
inline std::vector<std::string> CallsOfTheProtocol() {
  std::vector<std::string> calls;
  for (const google::protobuf::FileDescriptor* file :
       {v1::CreateTokenRequest::descriptor()->file(),
        v1::ListNodesRequest::descriptor()->file(),
        v1::ResultsRequest::descriptor()->file(),
        v1::SubmitRequest::descriptor()->file(),
        v1::AgentMessage::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      const auto* service = file->service(s);
      for (int m = 0; m < service->method_count(); ++m) {
        calls.push_back("/" + service->full_name() + "/" +
                        service->method(m)->name());
      }
    }
  }
  return calls;
}

}  // namespace leadline::test
