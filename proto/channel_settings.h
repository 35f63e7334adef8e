// What both ends of a connection must agree on: server, command line and agent
// take it from here.

#pragma once

#include <chrono>

#include <grpcpp/grpcpp.h>

namespace leadline {

/// Messages in both directions stay below this; what may grow is streamed or
/// paged.
inline constexpr int kMostMessageBytes = 1 << 20;

/// How the two ends of an idle connection find out that the other has gone
/// without a word. `ping_after` must not be below `least_between`, or the
/// server takes a client's pings for an attack and closes the connection.
struct Keepalive {
  std::chrono::milliseconds ping_after{20'000};     // without any data
  std::chrono::milliseconds answer_within{10'000};  // else the other is gone
  std::chrono::milliseconds least_between{5'000};   // pings a server takes
};

namespace channel_settings {

inline int Milliseconds(std::chrono::milliseconds time) {
  return static_cast<int>(time.count());
}

/// `set` is called with each argument of either end and its value.
template <typename Set>
void ForBothEnds(const Keepalive& keepalive, Set set) {
  set(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(keepalive.ping_after));
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(keepalive.answer_within));
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Without it an end falls silent after two pings of an idle stream.
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

}  // namespace channel_settings

/// Of a server.
inline void Configure(grpc::ServerBuilder& builder,
                      const Keepalive& keepalive = {}) {
  channel_settings::ForBothEnds(keepalive, [&](const char* name, int value) {
    builder.AddChannelArgument(name, value);
  });
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      channel_settings::Milliseconds(keepalive.least_between));
  builder.SetMaxReceiveMessageSize(kMostMessageBytes);
  builder.SetMaxSendMessageSize(kMostMessageBytes);
}

/// Of a client. What waits for a server is to find it soon after it is back, so
/// dials never come to lie minutes apart.
inline grpc::ChannelArguments ClientArguments(const Keepalive& keepalive = {}) {
  grpc::ChannelArguments arguments;
  channel_settings::ForBothEnds(keepalive, [&](const char* name, int value) {
    arguments.SetInt(name, value);
  });
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  arguments.SetMaxSendMessageSize(kMostMessageBytes);
  // gRPC's waits are kept with a subchannel, and would outlive a channel.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // A proxy between the two is never meant.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

}  // namespace leadline
