#include "cli/place.h"

#include <gtest/gtest.h>

namespace leadline::cli {
namespace {

PlaceVariables Everything() {
  return {"env:7000", "/env/state", "/xdg", "/home/me"};
}

TEST(ChoosePlace, PutsTheCommandLineFirst) {
  EXPECT_EQ(ChoosePlace({"arg:7000", ""}, Everything())->coordinator,
            "arg:7000");
  const auto local = ChoosePlace({"", "/arg/state"}, Everything());
  ASSERT_TRUE(local.ok());
  EXPECT_TRUE(local->is_local());
  EXPECT_EQ(local->state, "/arg/state");
}

TEST(ChoosePlace, GoesThroughTheEnvironmentInOrder) {
  PlaceVariables variables = Everything();
  EXPECT_EQ(ChoosePlace({}, variables)->coordinator, "env:7000");
  variables.coordinator.clear();
  EXPECT_EQ(ChoosePlace({}, variables)->state, "/env/state");
  variables.state.clear();
  EXPECT_EQ(ChoosePlace({}, variables)->state, "/xdg/leadline");
  variables.xdg_state = "relative";
  EXPECT_EQ(ChoosePlace({}, variables)->state,
            "/home/me/.local/state/leadline");
  variables.home.clear();
  EXPECT_FALSE(ChoosePlace({}, variables).ok());
}

TEST(ChoosePlace, RefusesBothAtOnceAndWhatIsNoAddress) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      ChoosePlace({"a:1", "/s"}, Everything()).status()));
  for (const std::string address :
       {"host", "host:", ":7000", "host:0", "host:65536", "host:x", "unix:"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        ChoosePlace({address, ""}, Everything()).status()))
        << address;
  }
  const auto web = ChoosePlace({"http://10.0.0.5:7070", ""}, {});
  EXPECT_EQ(web.status().message(),
            "--coordinator: expected HOST:PORT or unix:PATH, found "
            "http://10.0.0.5:7070; leave out http://");
  PlaceVariables variables;
  variables.coordinator = "head";
  EXPECT_EQ(ChoosePlace({}, variables).status().message(),
            "LEADLINE_COORDINATOR: expected HOST:PORT or unix:PATH, found "
            "head; the port is missing");
  EXPECT_TRUE(ChoosePlace({"unix:/run/a.sock", ""}, Everything()).ok());
  EXPECT_TRUE(ChoosePlace({"[::1]:7000", ""}, Everything()).ok());
}

TEST(ChoosePlace, MakesAStateFolderAbsolute) {
  const auto place = ChoosePlace({"", "some/../state"}, {});
  ASSERT_TRUE(place.ok());
  EXPECT_TRUE(place->state.is_absolute());
  EXPECT_EQ(place->state.filename(), "state");
}

}  // namespace
}  // namespace leadline::cli
