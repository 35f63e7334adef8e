#include "breaking_changes.h"

#include <map>

namespace leadline {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptorProto;

/// Everything that crosses the wire, under its full name.
struct Wire {
  std::map<std::string, const DescriptorProto*> messages;
  std::map<std::string, const MethodDescriptorProto*> calls;
};

void AddMessages(const std::string& scope, const DescriptorProto& message,
                 Wire& wire) {
  const std::string name = scope + "." + message.name();
  wire.messages[name] = &message;
  for (const DescriptorProto& inner : message.nested_type()) {
    AddMessages(name, inner, wire);
  }
}

Wire Read(const FileDescriptorSet& set) {
  Wire wire;
  for (const auto& file : set.file()) {
    for (const DescriptorProto& message : file.message_type()) {
      AddMessages(file.package(), message, wire);
    }
    for (const auto& service : file.service()) {
      for (const MethodDescriptorProto& call : service.method()) {
        wire.calls[file.package() + "." + service.name() + "/" + call.name()] =
            &call;
      }
    }
  }
  return wire;
}

/// The oneof it is part of; an optional field is in one of its own.
std::string OneofOf(const DescriptorProto& message,
                    const FieldDescriptorProto& field) {
  if (!field.has_oneof_index() || field.proto3_optional()) return "";
  return message.oneof_decl(field.oneof_index()).name();
}

std::string TypeOf(const DescriptorProto& message,
                   const FieldDescriptorProto& field) {
  const std::string oneof = OneofOf(message, field);
  return FieldDescriptorProto::Label_Name(field.label()) + " " +
         FieldDescriptorProto::Type_Name(field.type()) + field.type_name() +
         (oneof.empty() ? "" : " of oneof " + oneof);
}

void CompareFields(const std::string& name, const DescriptorProto& before,
                   const DescriptorProto& after,
                   std::vector<std::string>& changes) {
  std::map<int, const FieldDescriptorProto*> now;
  for (const FieldDescriptorProto& field : after.field()) {
    now[field.number()] = &field;
  }
  for (const FieldDescriptorProto& field : before.field()) {
    const std::string what = name + "." + field.name() + " (number " +
                             std::to_string(field.number()) + ")";
    const auto found = now.find(field.number());
    if (found == now.end()) {
      changes.push_back(what + " is gone");
    } else if (found->second->name() != field.name()) {
      changes.push_back(what + " is now " + found->second->name());
    } else if (TypeOf(before, field) != TypeOf(after, *found->second)) {
      changes.push_back(what + " was " + TypeOf(before, field) + " and is " +
                        TypeOf(after, *found->second));
    }
  }
}

std::string Signature(const MethodDescriptorProto& call) {
  return std::string(call.client_streaming() ? "stream " : "") +
         call.input_type() + " -> " +
         (call.server_streaming() ? "stream " : "") + call.output_type();
}

}  // namespace

std::vector<std::string> BreakingChanges(const FileDescriptorSet& before,
                                         const FileDescriptorSet& after) {
  const Wire old_wire = Read(before);
  const Wire new_wire = Read(after);
  std::vector<std::string> changes;
  for (const auto& [name, message] : old_wire.messages) {
    const auto found = new_wire.messages.find(name);
    if (found == new_wire.messages.end()) {
      changes.push_back("message " + name + " is gone");
    } else {
      CompareFields(name, *message, *found->second, changes);
    }
  }
  for (const auto& [name, call] : old_wire.calls) {
    const auto found = new_wire.calls.find(name);
    if (found == new_wire.calls.end()) {
      changes.push_back("call " + name + " is gone");
    } else if (Signature(*call) != Signature(*found->second)) {
      changes.push_back("call " + name + " was " + Signature(*call) +
                        " and is " + Signature(*found->second));
    }
  }
  return changes;
}

}  // namespace leadline
