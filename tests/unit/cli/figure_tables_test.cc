#include "cli/figure_tables.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void Add(v1::RoutingReply& reply, const std::string& name,
         const std::vector<double>& values) {
  v1::NamedVector& figure = *reply.add_statistics();
  figure.set_name(name);
  figure.mutable_values()->Add(values.begin(), values.end());
}

TEST(RenderFigures, HasARowASublayerAndOnlyColumnsThatThereAre) {
  v1::RoutingReply reply;
  Add(reply, "layer.input_rms", {0.5, 0.25});
  Add(reply, "layer.stream_rms", {0.5, 0.75, 1});
  const std::string text = RenderFigures(reply, Style{});
  EXPECT_THAT(text, HasSubstr("\nsublayers\n"
                              "sublayer       input rms  stream rms\n"
                              "  0 attention        0.5         0.5\n"
                              "  1 MLP             0.25        0.75\n"
                              "  2 attention                      1\n"));
  EXPECT_THAT(text, Not(HasSubstr("gradient")));
  EXPECT_THAT(text, Not(HasSubstr("router")));
}

TEST(RenderFigures, WhatIsNotThereIsBlank) {
  v1::RoutingReply reply;
  Add(reply, "route.ratio", {std::numeric_limits<double>::quiet_NaN(), 0.5});
  EXPECT_THAT(RenderFigures(reply, Style{}),
              HasSubstr("router         out/stream\n"
                        "  0 attention\n"
                        "  1 MLP               0.5\n"));
}

TEST(RenderFigures, TellsWhatTheLossIsWithoutAFamily) {
  v1::RoutingReply reply;
  Add(reply, "causal.block", {0.25, -0.125});
  Add(reply, "causal.block.se", {0.01});
  Add(reply, "causal.embedding", {1.5});
  Add(reply, "causal.embedding.se", {0.02});
  EXPECT_THAT(RenderFigures(reply, Style{}),
              HasSubstr("without     change      se\n"
                        "block 0    +0.2500  0.0100\n"
                        "block 1    -0.1250\n"
                        "embedding  +1.5000  0.0200\n"));
}

TEST(RenderFigures, OfNoFiguresIsNothing) {
  EXPECT_EQ(RenderFigures(v1::RoutingReply(), Style{}), "");
}

TEST(RenderFigures, HostileNamesDoNotReachTheTerminal) {
  v1::RoutingReply reply;
  Add(reply, "causal.\x1b[2J", {1});
  EXPECT_THAT(RenderFigures(reply, Style{}), Not(HasSubstr("\x1b[2J")));
}

}  // namespace
}  // namespace leadline::cli
