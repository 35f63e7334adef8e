#include "coordinator/rpc/access_service.h"

#include <algorithm>
#include <utility>

#include "common/sha256.h"
#include "coordinator/rpc/status.h"

namespace leadline::rpc {
namespace {

constexpr int64_t kMostRows = 1000;
constexpr int64_t kUsualAudit = 100;
constexpr size_t kLongestName = 100;
constexpr int64_t kLongestLife_s = int64_t{100} * 366 * 86'400;

absl::StatusOr<int64_t> LimitOf(int64_t asked, int64_t usual) {
  if (asked < 0) return absl::InvalidArgumentError("a limit is 0 or more");
  return std::min(asked == 0 ? usual : asked, kMostRows);
}

bool IsName(const std::string& text) {
  return text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

absl::StatusOr<storage::TokenRecord> FromProto(
    const v1::CreateTokenRequest& request) {
  storage::TokenRecord token;
  const auto role = ParseAccessRole(request.role());
  if (!role) {
    return absl::InvalidArgumentError(
        "a token's role is read, submit, admin or agent");
  }
  token.role = *role;
  if (!IsSha256(request.hash())) {
    return absl::InvalidArgumentError(
        "a token's hash is 64 hexadecimal digits");
  }
  token.hash = request.hash();
  if (!IsName(request.name())) {
    return absl::InvalidArgumentError(
        "a token's name has at most 100 bytes and no control characters");
  }
  token.name = request.name();
  if (request.expires_in_s() < 0 || request.expires_in_s() > kLongestLife_s) {
    return absl::InvalidArgumentError("a token lives for 100 years at most");
  }
  if (request.expires_in_s() > 0) {
    token.expires_at = std::chrono::time_point_cast<std::chrono::microseconds>(
                           std::chrono::system_clock::now()) +
                       std::chrono::seconds(request.expires_in_s());
  }
  return token;
}

v1::Token ToProto(const storage::TokenRecord& token) {
  v1::Token message;
  message.set_token(storage::TokenText(token.id));
  message.set_name(token.name);
  message.set_role(std::string(Name(token.role)));
  message.set_created_at(storage::ToText(token.created_at));
  if (token.expires_at)
    message.set_expires_at(storage::ToText(*token.expires_at));
  if (token.revoked_at)
    message.set_revoked_at(storage::ToText(*token.revoked_at));
  return message;
}

v1::AuditEntry ToProto(const storage::AuditRecord& record) {
  v1::AuditEntry entry;
  entry.set_entry(record.id);
  entry.set_at(storage::ToText(record.at));
  entry.set_who(record.who);
  entry.set_call(record.call);
  entry.set_target(record.target);
  entry.set_outcome(record.outcome);
  entry.set_message(record.message);
  entry.set_count(record.count);
  return entry;
}

absl::StatusOr<v1::Token> ToReply(
    const absl::StatusOr<storage::TokenRecord>& token) {
  if (!token.ok()) return token.status();
  return ToProto(*token);
}

/// "t0" and "" come before all.
absl::StatusOr<int64_t> TokenIdOf(const std::string& text) {
  const auto id = storage::ParseTokenText(text);
  if (id) return *id;
  return absl::InvalidArgumentError(
      "a token is named by its id, t1, t2, ...; leadline token list shows "
      "them");
}

absl::StatusOr<v1::ListTokensReply> ListOf(
    const std::vector<storage::TokenRecord>& tokens, int64_t after,
    int64_t limit) {
  v1::ListTokensReply reply;
  for (const storage::TokenRecord& token : tokens) {
    if (token.id <= after) continue;
    if (reply.tokens_size() >= limit) {
      reply.set_more(true);
      break;
    }
    *reply.add_tokens() = ToProto(token);
  }
  return reply;
}

}  // namespace

template <typename Reply, typename Work>
grpc::ServerUnaryReactor* AccessService::Answer(
    grpc::CallbackServerContext* context, Reply* reply, Work work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  // Request and reply live until Finish.
  background_.Post(
      [reactor, reply, work = std::move(work)](const std::stop_token& stop) {
        if (stop.stop_requested()) return reactor->Finish(Stopping());
        absl::StatusOr<Reply> answer = work();
        if (answer.ok()) *reply = *std::move(answer);
        reactor->Finish(ToGrpc(answer.status()));
      });
  return reactor;
}

grpc::ServerUnaryReactor* AccessService::CreateToken(
    grpc::CallbackServerContext* context, const v1::CreateTokenRequest* request,
    v1::Token* reply) {
  return Answer(context, reply, [this, request]() -> absl::StatusOr<v1::Token> {
    auto token = FromProto(*request);
    if (!token.ok()) return token.status();
    return ToReply(door_.Create(*std::move(token)));
  });
}

grpc::ServerUnaryReactor* AccessService::ListTokens(
    grpc::CallbackServerContext* context, const v1::ListTokensRequest* request,
    v1::ListTokensReply* reply) {
  return Answer(context, reply,
                [this, request]() -> absl::StatusOr<v1::ListTokensReply> {
                  const auto limit = LimitOf(request->limit(), kMostRows);
                  if (!limit.ok()) return limit.status();
                  const auto after = request->after().empty()
                                         ? absl::StatusOr<int64_t>(0)
                                         : TokenIdOf(request->after());
                  if (!after.ok()) return after.status();
                  const auto tokens = door_.store().ListTokens();
                  if (!tokens.ok()) return tokens.status();
                  return ListOf(*tokens, *after, *limit);
                });
}

grpc::ServerUnaryReactor* AccessService::RevokeToken(
    grpc::CallbackServerContext* context, const v1::RevokeTokenRequest* request,
    v1::Token* reply) {
  return Answer(context, reply, [this, request]() -> absl::StatusOr<v1::Token> {
    const auto id = TokenIdOf(request->token());
    if (!id.ok()) return id.status();
    return ToReply(door_.Revoke(*id));
  });
}

grpc::ServerUnaryReactor* AccessService::ListAudit(
    grpc::CallbackServerContext* context, const v1::ListAuditRequest* request,
    v1::ListAuditReply* reply) {
  return Answer(context, reply,
                [this, request]() -> absl::StatusOr<v1::ListAuditReply> {
                  const auto limit = LimitOf(request->limit(), kUsualAudit);
                  if (!limit.ok()) return limit.status();
                  std::optional<int64_t> before;
                  if (request->before() > 0) before = request->before();
                  auto page = door_.store().ListAudit(before, *limit + 1);
                  if (!page.ok()) return page.status();
                  v1::ListAuditReply answer;
                  answer.set_more(std::ssize(*page) > *limit);
                  if (answer.more()) page->pop_back();
                  for (const auto& record : *page) {
                    *answer.add_entries() = ToProto(record);
                  }
                  return answer;
                });
}

}  // namespace leadline::rpc
