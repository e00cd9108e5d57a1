#include "process/setup/container_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/match.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

const Installation kInstallation = {.folder = "/home/ann/up",
                                    .http = "127.0.0.1:1234",
                                    .metrics = "127.0.0.1:1235",
                                    .agents = 2,
                                    .trusted = {"server", "lab"},
                                    .engine = "podman",
                                    .images = "localhost/attune-{}:7"};
const ProcessorShares kShares = {.measuring = {0, 1, 4}, .computing = {3}};

using Arguments = std::vector<std::string>;

// Returns the values after the flag, each time it is given before the image.
std::multiset<std::string> Values(const Arguments& arguments, const std::string& flag) {
  std::multiset<std::string> values;
  for (size_t i = 0; i + 1 < arguments.size() && !absl::StartsWith(arguments[i], "localhost/"); ++i)
    if (arguments[i] == flag) values.insert(arguments[i + 1]);
  return values;
}

// The image, and what is run in it.
Arguments Command(const Arguments& arguments) {
  const auto image = std::ranges::find_if(
      arguments, [](const std::string& argument) { return absl::StartsWith(argument, "localhost/"); });
  return {image, arguments.end()};
}

std::string Own(const std::string& name) { return ContainerPrefix(kInstallation) + name; }

TEST(ContainerPlan, GivesEachFolderNamesOfItsOwn) {
  Installation other = kInstallation;
  other.folder += "2";
  EXPECT_NE(ContainerPrefix(kInstallation), ContainerPrefix(other));
  EXPECT_EQ(ContainerPrefix(kInstallation).size(), std::string("attune-12345678").size());
  EXPECT_EQ(ContainerFilter(kInstallation), "label=attune.up=" + Own(""));
  EXPECT_THAT(ContainerVolumes(kInstallation),
              ElementsAre(Own("-server"), Own("-agent-1"), Own("-agent-2"), Own("-runner"), Own("-leases")));
}

TEST(ContainerPlan, TakesTheImagesThatAreNamed) {
  EXPECT_THAT(
      ContainerImages(kInstallation),
      ElementsAre("localhost/attune-server:7", "localhost/attune-agent:7", "localhost/attune-compiler:7"));
  Installation alone = kInstallation;
  alone.agents = 0;
  EXPECT_THAT(ContainerImages(alone), ElementsAre("localhost/attune-server:7"));
  EXPECT_THAT(ContainerServices(alone), ElementsAre("server"));
  EXPECT_EQ(UsualImages("podman", "0.1.0"), "localhost/attune-{}:0.1.0");
  EXPECT_EQ(UsualImages("docker", "0.1.0"), "attune-{}:0.1.0");
}

TEST(ContainerPlan, PublishesTheServerOnTheLoopbackAlone) {
  const Arguments arguments = ServerArguments(kInstallation);
  EXPECT_THAT(Values(arguments, "--publish"), ElementsAre("127.0.0.1:1234:9193", "127.0.0.1:1235:9192"));
  EXPECT_THAT(Values(arguments, "--network"), ElementsAre(Own("")));
  EXPECT_THAT(Values(arguments, "--volume"), ElementsAre(Own("-server:/state")));
  EXPECT_THAT(Values(arguments, "--entrypoint"), ElementsAre("attune"));
  EXPECT_THAT(Command(arguments),
              ElementsAre("localhost/attune-server:7", "server", "--state", "/state/server", "--host",
                          Own("-server"), "--listen", "0.0.0.0:9190", "--enrolment", "0.0.0.0:9191",
                          "--metrics", "0.0.0.0:9192", "--http", "0.0.0.0:9193", "--http-in-the-clear"));
}

TEST(ContainerPlan, GivesMembersTheirProcessorsAndNoPort) {
  const Arguments agent = MemberArguments(kInstallation, "agent-2", kShares);
  EXPECT_THAT(agent, Not(Contains("--publish")));
  EXPECT_THAT(Values(agent, "--volume"), ElementsAre(Own("-agent-2:/state"), Own("-leases:/leases")));
  EXPECT_THAT(Values(agent, "--entrypoint"), ElementsAre("taskset"));
  EXPECT_THAT(Command(agent),
              ElementsAre("localhost/attune-agent:7", "--cpu-list", "0,1,4", "attune", "agent", "--state",
                          "/state/agent", "--invitation-file", "/state/agent/invitation", "--key", "desk",
                          "--trust", "server", "--trust", "lab"));
  EXPECT_THAT(Command(MemberArguments(kInstallation, "runner", kShares)),
              ElementsAre("localhost/attune-compiler:7", "--cpu-list", "3", "attune", "runner", "--state",
                          "/state/runner", "--invitation-file", "/state/runner/invitation"));
  const Arguments anywhere = MemberArguments(kInstallation, "runner", {});
  EXPECT_THAT(Values(anywhere, "--entrypoint"), ElementsAre("attune"));
  EXPECT_EQ(Command(anywhere)[1], "runner");
}

TEST(ContainerPlan, ConfinesEveryContainer) {
  for (const Arguments& arguments :
       {FirstTokenArguments(kInstallation), ServerArguments(kInstallation),
        InviteArguments(kInstallation, "agent-1"), MemberArguments(kInstallation, "agent-1", kShares),
        MemberArguments(kInstallation, "runner", kShares), RestoreArguments(kInstallation)}) {
    EXPECT_THAT(arguments, Contains("--read-only"));
    EXPECT_THAT(Values(arguments, "--user"), ElementsAre("1000:1000"));
    EXPECT_THAT(Values(arguments, "--cap-drop"), ElementsAre("all"));
    EXPECT_THAT(Values(arguments, "--security-opt"), ElementsAre("no-new-privileges"));
    EXPECT_THAT(Values(arguments, "--pull"), ElementsAre("never"));
    EXPECT_THAT(Values(arguments, "--label"), ElementsAre("attune.up=" + Own("")));
    EXPECT_EQ(Values(arguments, "--network").size(), 1u);
  }
}

TEST(ContainerPlan, KeepsSecretsOutOfTheEnginesLog) {
  for (const Arguments& arguments :
       {FirstTokenArguments(kInstallation), InviteArguments(kInstallation, "runner")}) {
    EXPECT_THAT(arguments, AllOf(Contains("--rm"), Not(Contains("--detach"))));
    EXPECT_THAT(Values(arguments, "--log-driver"), ElementsAre("none"));
  }
  EXPECT_THAT(Values(RestoreArguments(kInstallation), "--log-driver"), ElementsAre("none"));
  EXPECT_THAT(
      Command(InviteArguments(kInstallation, "runner")).back(),
      "umask 077; mkdir -p /state/runner; test -e /state/runner/credentials.pem || attune fleet invite "
      "--role runner --owner server > /state/runner/invitation");
}

}  // namespace
}  // namespace attune
