// attune server, agent, fleet, and --on: a device elsewhere is as good as this one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/testing/await_that.h"
#include "expect_refused.h"
#include "models.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Variables = std::vector<std::pair<std::string, std::string>>;

// An attune that runs until it is destroyed; what it prints goes to a file.
class RunningAttune {
 public:
  RunningAttune(std::vector<std::string> arguments, const Variables& variables, const std::string& log) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    arguments.insert(arguments.begin(), ATTUNE_PROGRAM);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, ATTUNE_PROGRAM, &actions, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    for (const auto& [name, value] : variables) unsetenv(name.c_str());
  }
  RunningAttune(const RunningAttune&) = delete;
  RunningAttune& operator=(const RunningAttune&) = delete;
  ~RunningAttune() { End(SIGTERM); }

  // Returns its exit code; -1 if the signal has ended it.
  int End(int signal) {
    if (pid_ <= 0) return -1;
    kill(pid_, signal);
    return Await();
  }
  // The same, once it ends by itself.
  int Await() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

class FleetCliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StartServer("127.0.0.1:0", "127.0.0.1:0");
    AwaitServer();
  }

  Outcome Attune(const std::vector<std::string>& arguments, RunOptions options = {}) {
    options.environment = variables_;
    return RunAttune(arguments, options);
  }
  void StartServer(const std::string& listen, const std::string& enrolment) {
    server_ = std::make_unique<RunningAttune>(
        std::vector<std::string>{"server", "--listen", listen, "--enrolment", enrolment}, variables_,
        folder_ / "server.log");
  }
  void AwaitServer() {
    testing::AwaitThat([&] { return Attune({"fleet", "list"}).exit_code == 0; });
  }
  std::string Invitation(const std::string& role, const std::string& owner) {
    const Outcome invited = Attune({"fleet", "invite", "--role", role, "--owner", owner});
    EXPECT_EQ(invited.exit_code, 0) << invited.err;
    return invited.out.substr(0, invited.out.find('\n'));
  }
  // The same in a file that only its owner may read.
  std::string InvitationFile(const std::string& role, const std::string& owner) {
    std::string path = folder_.Write("invitation", Invitation(role, owner) + "\n");
    chmod(path.c_str(), S_IRUSR | S_IWUSR);
    return path;
  }
  // Starts an agent, and waits until its device is there.
  void StartAgent(const std::string& owner = "server") {
    agent_ = std::make_unique<RunningAttune>(
        std::vector<std::string>{"agent", "--invitation-file", InvitationFile("agent", owner), "--key",
                                 "desk", "--trust", "server"},
        variables_, folder_ / "agent.log");
    testing::AwaitThat([&] { return !Device().empty(); });
  }
  // The device as attune fleet list shows it; null if it is not there.
  json Device() {
    const Outcome listed = Attune({"fleet", "list", "--json", "-"});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    const json devices = json::parse(listed.out)["devices"];
    return !devices.empty() && devices[0]["is_there"] ? devices[0] : json();
  }

  const TemporaryFolder folder_;
  const Variables variables_ = {{"ATTUNE_SERVER", folder_ / "server"},
                                {"ATTUNE_AGENT", folder_ / "agent"},
                                {"ATTUNE_FLEET", folder_ / "client"},
                                {"ATTUNE_LEASES", folder_ / "leases"}};
  std::unique_ptr<RunningAttune> server_, agent_;
};

TEST_F(FleetCliTest, ADeviceElsewhereRunsNetworks) {
  StartAgent();
  const std::string model = folder_.Write("scores.onnx", ScoresModel());
  const std::vector<std::string> input = {"--input", "x=random:3", "--json", "-"};
  const auto with = [&](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Attune(arguments);
  };
  const Outcome here = with({"run", model}, input), there = with({"run", model, "--on", "desk"}, input);
  ASSERT_EQ(there.exit_code, 0) << there.err;
  EXPECT_EQ(there.out, here.out);
  const Outcome verified = Attune({"verify", model, "--on", "desk"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("ok   scores"));
  const Outcome benched = Attune({"bench", model, "--on", "desk", "--seconds", "0.1", "--json", "-"});
  ASSERT_EQ(benched.exit_code, 0) << benched.err;
  EXPECT_GE(json::parse(benched.out)["latency_ms"].size(), 3);
  const Outcome profiled = Attune({"profile", model, "--on", "desk", "--threads", "1", "--json", "-"});
  ASSERT_EQ(profiled.exit_code, 0) << profiled.err;
  EXPECT_FALSE(json::parse(profiled.out)["kernels"].empty());
  const std::string artifact = folder_ / "scores.atn";
  const Outcome compiled = Attune({"compile", model, "--on", "desk", "-o", artifact});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_EQ(with({"run", artifact, "--on", "desk"}, input).out, here.out);
}

TEST_F(FleetCliTest, ANetworkIsTunedForADeviceElsewhere) {
  StartAgent();
  const std::string model = folder_.Write("net.onnx", ConvolutionsModel());
  const Outcome tuned = Attune({"tune", model, "--on", "desk", "--trials", "8", "--threads", "1", "--records",
                                folder_ / "records.db", "--json", "-"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_GE(json::parse(tuned.out)["trials"], 8);
  // The fleet itself may look at it for a moment.
  testing::AwaitThat([&] { return Device()["held_by"] == ""; });
}

// They build where their device's agent measures: neither may hold what the other's measuring needs.
TEST_F(FleetCliTest, TwoTunersShareADeviceOfTheirOwnMachine) {
  StartAgent();
  const std::string model = folder_.Write("net.onnx", ConvolutionsModel());
  const auto tune = [&](const std::string& records) {
    return std::vector<std::string>{"tune", model,       "--on", "desk",      "--trials",
                                    "4",    "--threads", "1",    "--records", folder_ / records};
  };
  RunningAttune other(tune("other.db"), variables_, folder_ / "other.log");
  const Outcome tuned = Attune(tune("own.db"));
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_EQ(other.Await(), 0);
}

TEST_F(FleetCliTest, AnInvitationNeedBeNoArgument) {
  const std::string file = InvitationFile("client", "alice");
  const std::string to_type = folder_.Write("typed.txt", Invitation("client", "alice") + "\n");
  chmod(file.c_str(), 0644);
  const Outcome seen = Attune({"fleet", "join", "--invitation-file", file});
  EXPECT_EQ(seen.exit_code, 1);
  EXPECT_THAT(seen.err, HasSubstr(file));
  chmod(file.c_str(), 0600);
  const Outcome joined = Attune({"fleet", "join", "--invitation-file", file});
  EXPECT_EQ(joined.exit_code, 0) << joined.err;
  EXPECT_THAT(folder_.Files(), ::testing::Not(::testing::Contains("invitation")));
  const Outcome none = Attune({"fleet", "join", "--credentials", folder_ / "other"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("--invitation-file"));
  const Outcome both = Attune({"runner", "attune-invitation-1-abc", "--invitation-file", "-"});
  EXPECT_EQ(both.exit_code, 2);
  const Outcome typed =
      Attune({"fleet", "join", "--invitation-file", "-", "--credentials", folder_ / "typed"},
             {.standard_input = to_type});
  EXPECT_EQ(typed.exit_code, 0) << typed.err;
}

TEST_F(FleetCliTest, MistakesAreOneSentence) {
  const std::string model = folder_.Write("scores.onnx", ScoresModel());
  const Outcome unknown = Attune({"bench", model, "--on", "nowhere"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("no device has the key \"nowhere\""));
  EXPECT_EQ(Attune({"bench", model, "--on", "desk", "--cpu", "znver3"}).exit_code, 2);
  const Outcome damaged = Attune({"fleet", "join", "attune-invitation-1-abc"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("the invitation is damaged"));
  const std::string invitation = Invitation("client", "alice");
  EXPECT_EQ(Attune({"fleet", "join", invitation}).exit_code, 0);
  const Outcome again = Attune({"fleet", "join", invitation});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("holds credentials already"));
  const Outcome second = Attune({"fleet", "join", invitation, "--credentials", folder_ / "other"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("ask for a new one"));
  const Outcome forbidden = Attune({"fleet", "invite", "--owner", "mallory"});
  EXPECT_EQ(forbidden.exit_code, 1);
  EXPECT_THAT(forbidden.err, HasSubstr("may not do this"));
  const Outcome busy = Attune({"server", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(busy.exit_code, 1);
  EXPECT_THAT(busy.err, HasSubstr("another server has this folder"));
}

TEST_F(FleetCliTest, JobsThatAServerDoesNotTakeAreNotSent) {
  const std::string model = folder_.Write("scores.onnx", ScoresModel());
  ExpectRefused(Attune({"jobs", "submit", model, "--set", "output=nets/a.atn"}),
                "job \"scores\": output: \"nets/a.atn\" has a folder");
  ExpectRefused(Attune({"jobs", "submit", folder_ / "none.onnx"}), "none.onnx");
  const std::string yaml =
      "strategy: sequential\nbuilding: 1\njobs: [{kind: program, command: [ls], owner: eve}]";
  const Outcome noted = Attune({"jobs", "submit", folder_.Write("jobs.yaml", yaml)});
  EXPECT_EQ(noted.exit_code, 1);
  EXPECT_THAT(noted.err, AllOf(HasSubstr("the server decides about strategy, building, owner;"),
                               HasSubstr("job \"program\": command: is for jobs on this machine")));
}

TEST_F(FleetCliTest, WithoutAServerItSaysSo) {
  server_->End(SIGKILL);
  const Outcome listed = Attune({"fleet", "list"});
  EXPECT_EQ(listed.exit_code, 1);
  EXPECT_THAT(listed.err, HasSubstr("is attune server running there?"));
}

TEST_F(FleetCliTest, HealthIsOneLineAndAnExitStatus) {
  const Outcome silent = Attune({"health", "server", "--metrics", "127.0.0.1:1"});
  EXPECT_EQ(silent.exit_code, 1);
  EXPECT_THAT(silent.err, HasSubstr("127.0.0.1:1 does not answer; is attune server running with --metrics"));
  EXPECT_EQ(Attune({"health", "server", "--metrics", "nowhere"}).exit_code, 1);
  EXPECT_EQ(Attune({"health", "agent"}).exit_code, 1);
  StartAgent();
  const Outcome connected = Attune({"health", "agent"});
  EXPECT_EQ(connected.exit_code, 0) << connected.err;
  EXPECT_THAT(connected.out, HasSubstr(std::string(Device()["id"])));
  agent_->End(SIGTERM);
  testing::AwaitThat([&] { return Device().is_null(); });
  const Outcome gone = Attune({"health", "agent"});
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_THAT(gone.err, HasSubstr("is not connected to the fleet's server"));
}

TEST_F(FleetCliTest, ARevokedAgentEnds) {
  StartAgent();
  const std::string id = Device()["id"];
  EXPECT_EQ(Attune({"fleet", "revoke", id.substr(0, id.find('/'))}).exit_code, 0);
  testing::AwaitThat([&] { return Device().is_null(); });
  EXPECT_EQ(agent_->End(SIGCONT), 1);
  EXPECT_EQ(Attune({"fleet", "remove", id}).exit_code, 0);
  EXPECT_THAT(Attune({"fleet", "list"}).out, HasSubstr("no devices"));
}

TEST_F(FleetCliTest, TheAuthorityIsReplacedWhileADeviceIsThere) {
  StartAgent();
  EXPECT_THAT(Attune({"fleet", "authority", "show"}).out, HasSubstr("is not being replaced"));
  EXPECT_EQ(Attune({"fleet", "join", Invitation("client", "alice")}).exit_code, 0);
  const auto by_server = [&](std::vector<std::string> arguments) {
    Variables variables = variables_;
    std::erase_if(variables, [](const auto& variable) { return variable.first == "ATTUNE_FLEET"; });
    variables.emplace_back("ATTUNE_FLEET", folder_ / "nowhere");
    return RunAttune(arguments, {.environment = variables});
  };
  const Outcome replaced = by_server({"fleet", "authority", "replace"});
  ASSERT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_THAT(replaced.out, HasSubstr("is being replaced since"));
  const Outcome early = by_server({"fleet", "authority", "finish"});
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_THAT(early.err, HasSubstr("would be thrown out"));
  EXPECT_EQ(Attune({"fleet", "list"}).exit_code, 0);  // renews
  const auto behind = [&] {
    return json::parse(by_server({"fleet", "authority", "show", "--json", "-"}).out)["behind"];
  };
  testing::AwaitThat([&] { return behind().empty(); });
  const Outcome finished = by_server({"fleet", "authority", "finish"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("is not being replaced"));
  testing::AwaitThat([&] { return !Device().is_null(); });
}

TEST_F(FleetCliTest, ADrainedDeviceIsShownWithItsReason) {
  StartAgent();
  const std::string id = Device()["id"];
  EXPECT_EQ(Attune({"fleet", "drain", id, "--reason", "repairs"}).exit_code, 0);
  EXPECT_THAT(Attune({"fleet", "list"}).out, HasSubstr("drained: repairs"));
  EXPECT_THAT(Attune({"fleet", "show", id}).out,
              AllOf(HasSubstr("repairs"), HasSubstr("target"), HasSubstr("sensors")));
  EXPECT_EQ(Attune({"fleet", "resume", id}).exit_code, 0);
  EXPECT_THAT(Attune({"fleet", "list"}).out, Not(HasSubstr("repairs")));
}

TEST_F(FleetCliTest, ADeviceGoesToOthersByItsOwnersWordAndTheirs) {
  StartAgent("bob");
  const std::string id = Device()["id"], model = folder_.Write("scores.onnx", ScoresModel());
  EXPECT_THAT(Attune({"fleet", "share", id, "--with-all"}).err, HasSubstr("server has no device"));
  EXPECT_THAT(Attune({"bench", model, "--on", "desk"}).err,
              HasSubstr("no device has the key \"desk\" that is server's or shared with server"));
  const auto as_bob = [&](std::vector<std::string> arguments) {
    Variables variables = {{"ATTUNE_FLEET", folder_ / "bob"}};
    variables.insert(variables.end(), variables_.begin(), variables_.end());
    std::erase(variables, Variables::value_type("ATTUNE_FLEET", folder_ / "client"));
    return RunAttune(arguments, {.environment = variables});
  };
  const std::string invitation = Invitation("client", "bob");
  ASSERT_EQ(as_bob({"fleet", "join", invitation}).exit_code, 0);
  EXPECT_EQ(as_bob({"fleet", "share", id}).exit_code, 1);
  const Outcome shared = as_bob({"fleet", "share", id, "--with", "server"});
  EXPECT_EQ(shared.out, id + " is shared with server\n") << shared.err;
  EXPECT_THAT(Attune({"bench", model, "--on", "desk"}).err, HasSubstr("attune fleet trust bob allows it"));
  EXPECT_EQ(Attune({"fleet", "trust", "bob"}).out,
            "your models go to your own devices and to those that these owners share: bob\n");
  const Outcome benched = Attune({"bench", model, "--on", "desk", "--seconds", "0.1"});
  EXPECT_EQ(benched.exit_code, 0) << benched.err;
  EXPECT_EQ(Attune({"fleet", "distrust", "bob"}).out, "your models go to your own devices alone\n");
  EXPECT_EQ(as_bob({"fleet", "unshare", id, "--with", "server"}).out, id + " is its owner's alone\n");
  EXPECT_EQ(as_bob({"fleet", "trust"}).out,
            "your models go to your own devices and to those that these owners share: server\n");
}

TEST_F(FleetCliTest, OperatorsWatchAndCalibrate) {
  StartAgent();
  const std::string id = Device()["id"];
  const Outcome calibrated = Attune({"fleet", "calibrate", id});
  ASSERT_EQ(calibrated.exit_code, 0) << calibrated.err;
  EXPECT_THAT(calibrated.out, AllOf(HasSubstr("usual"), HasSubstr("memory"), HasSubstr("GB/s per core")));
  EXPECT_THAT(Attune({"fleet", "show", id}).out, HasSubstr("memory, GB/s"));
  const Outcome watched = Attune({"fleet", "top", "--count", "2", "--interval", "0.1"});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_THAT(watched.out, AllOf(HasSubstr("devices: 1 ("), HasSubstr("\n\ndevices: 1 ("), HasSubstr(id)));
  const Outcome lines = Attune({"fleet", "top", "--count", "2", "--interval", "0.1", "--json"});
  std::istringstream read(lines.out);
  int count = 0;
  for (std::string line; std::getline(read, line); ++count)
    EXPECT_EQ(json::parse(line)["devices"][0]["id"], id);
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace attune
