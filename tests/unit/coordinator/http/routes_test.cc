#include "coordinator/http/routes.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leadline::http {
namespace {

using testing::HasSubstr;

Route Page(const std::string& path, bool open = false) {
  return {path, "a page", open,
          [path](const Request&) { return TextResponse(200, path); }};
}

Request Get(const std::string& path) { return {path, "", "", ""}; }

TEST(RoutesTest, AnswersWhatIsThereAndNamesTheRest) {
  const Routes routes({Page("/a")});
  EXPECT_EQ(routes.Answer(Get("/a")).response.body, "/a\n");
  EXPECT_EQ(routes.Answer(Get("/a")).route, "/a");
  for (const char* path : {"/b", "/a/", "/a/../a", "//a", "", "/%61"}) {
    const Answered answered = routes.Answer(Get(path));
    EXPECT_EQ(answered.response.code, 404u) << path;
    EXPECT_EQ(answered.route, "other") << path;
  }
}

TEST(RoutesTest, FirstPageListsAllOthers) {
  const Routes routes({Page("/a"), Page("/b")});
  const Answered answered = routes.Answer(Get("/"));
  EXPECT_EQ(answered.response.code, 200u);
  EXPECT_THAT(answered.response.body, HasSubstr("href=\"/a\""));
  EXPECT_THAT(answered.response.body, HasSubstr("href=\"/b\""));
  EXPECT_THAT(routes.Paths(), testing::ElementsAre("/a", "/b", "/"));
}

TEST(RoutesTest, GateIsAskedUnlessARouteIsOpen) {
  Verdict verdict = Verdict::kUnauthenticated;
  const Routes routes({Page("/a"), Page("/healthz", true)},
                      [&](const Request&, const Route& route) {
                        EXPECT_EQ(route.path, "/a");
                        return verdict;
                      });
  const Answered first = routes.Answer(Get("/a"));
  EXPECT_EQ(first.response.code, 401u);
  EXPECT_THAT(first.response.headers,
              testing::Contains(testing::Pair("WWW-Authenticate", "Bearer")));
  verdict = Verdict::kForbidden;
  EXPECT_EQ(routes.Answer(Get("/a")).response.code, 403u);
  verdict = Verdict::kTooMany;
  const Answered soon = routes.Answer(Get("/a"));
  EXPECT_EQ(soon.response.code, 429u);
  EXPECT_THAT(soon.response.headers,
              testing::Contains(testing::Pair("Retry-After", "1")));
  verdict = Verdict::kAllowed;
  EXPECT_EQ(routes.Answer(Get("/a")).response.code, 200u);
  EXPECT_EQ(routes.Answer(Get("/healthz")).response.code, 200u);
}

TEST(RoutesTest, RouteThatThrowsIsAnErrorAndNoEnd) {
  const Routes routes({{"/a", "a page", false, [](const Request&) -> Response {
                          throw std::runtime_error("secret");
                        }}});
  const Answered answered = routes.Answer(Get("/a"));
  EXPECT_EQ(answered.response.code, 500u);
  EXPECT_THAT(answered.response.body, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace leadline::http
