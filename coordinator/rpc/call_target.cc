#include "coordinator/rpc/call_target.h"

#include <array>

#include <google/protobuf/descriptor.h>

#include "common/utf8_prefix.h"

namespace leadline::rpc {
namespace {

constexpr size_t kMostBytes = 200;
constexpr std::array<const char*, 6> kNames = {"target", "targets", "sweep",
                                               "trial",  "token",   "node"};

std::string TextOf(const google::protobuf::Message& message,
                   const google::protobuf::FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  if (!field.is_repeated()) return reflection.GetString(message, &field);
  std::string text;
  const int count = reflection.FieldSize(message, &field);
  for (int i = 0; i < count && text.size() <= kMostBytes; ++i) {
    if (i > 0) text += ",";
    text += reflection.GetRepeatedString(message, &field, i);
  }
  return text;
}

}  // namespace

std::string TargetOf(const google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  const auto& descriptor = *message.GetDescriptor();
  for (const char* name : kNames) {
    const FieldDescriptor* field = descriptor.FindFieldByName(name);
    if (field == nullptr || field->type() != FieldDescriptor::TYPE_STRING) {
      continue;
    }
    const std::string text = TextOf(message, *field);
    if (!text.empty()) return std::string(Utf8Prefix(text, kMostBytes));
  }
  // The first message of an agent holds who it is.
  const FieldDescriptor* first = descriptor.FindFieldByName("register");
  if (first == nullptr || !message.GetReflection()->HasField(message, first)) {
    return "";
  }
  return TargetOf(message.GetReflection()->GetMessage(message, first));
}

}  // namespace leadline::rpc
