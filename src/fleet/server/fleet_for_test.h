// A fleet within one process, for tests: a server on the loopback, agents with mock devices, clients.
#ifndef ATTUNE_FLEET_SERVER_FLEET_FOR_TEST_H_
#define ATTUNE_FLEET_SERVER_FLEET_FOR_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/testing/await_that.h"
#include "base/testing/temporary_folder.h"
#include "fleet/agent/fleet_agent.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/remote_service.h"
#include "fleet/host/mock_device_host.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/member_folders.h"
#include "fleet/leases/device_owners.h"
#include "fleet/server/fleet_server.h"
#include "target/target.h"

namespace attune {

inline DeviceInfo DeviceOfTest() {
  return {.fingerprint = "board",
          .target = *TargetByName("x86-64-v3"),
          .usable = {0},
          .processors = {{.number = 0, .core = 0, .cache = 0}}};
}

// An agent that runs until it is destroyed.
class AgentOfTest {
 public:
  AgentOfTest(const std::string& folder, MockDeviceHost::Answer answer, double idle_seconds) {
    FleetAgentOptions options;
    options.folder = folder;
    options.keys = {"desk"};
    options.sensors = {"frequency"};
    options.idle_seconds = idle_seconds;
    auto created = FleetAgent::Create(options);
    EXPECT_TRUE(created.ok()) << created.status();
    agent_ = *std::move(created);
    auto host = MockDeviceHost::Start(DeviceOfTest(), std::move(answer),
                                      [this](const HostEvent& event) { agent_->OnHostEvent("mock", event); });
    EXPECT_TRUE(agent_->AddDevice("mock", *std::move(host)).ok());
    thread_ = std::thread([this] { ended_ = agent_->Run(); });
  }
  ~AgentOfTest() {
    agent_->Stop();
    if (thread_.joinable()) thread_.join();
  }

  // Waits until it ends by itself.
  absl::Status AwaitEnd() {
    thread_.join();
    return ended_;
  }

 private:
  std::unique_ptr<FleetAgent> agent_;
  absl::Status ended_;
  std::thread thread_;
};

// A service beside the fleet's.
class ServiceOfTest {
 public:
  virtual ~ServiceOfTest() = default;
  virtual ServiceForMembers ForMembers() = 0;
  virtual absl::Status Begin() = 0;
  virtual void Stop() = 0;
};

class FleetOfTest {
 public:
  // Makes a service for a server whose state is in this folder.
  using MakeService =
      std::function<std::unique_ptr<ServiceOfTest>(const std::string& folder, const FleetParts& parts)>;

  // `lease_seconds`: until a member that shows no life has lost its leases, and until a server that starts
  // again grants new ones.
  explicit FleetOfTest(MakeService make_service = nullptr, double lease_seconds = 1)
      : make_service_(std::move(make_service)), lease_seconds_(lease_seconds) {
    StartServer();
  }
  ~FleetOfTest() { StopServer(); }

  void StartServer() {
    FleetServerOptions options;
    options.folder = folder_.path() + "/server";
    options.listen = address_.empty() ? "127.0.0.1:0" : address_;
    options.enrolment = "127.0.0.1:0";
    options.dispatcher = {.lease_seconds = lease_seconds_, .heartbeat_seconds = 0.2};
    auto opened = FleetServer::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    server_ = *std::move(opened);
    if (make_service_) service_ = make_service_(options.folder, server_->parts());
    const absl::Status listens =
        server_->Listen(service_ == nullptr ? ServiceForMembers() : service_->ForMembers());
    ASSERT_TRUE(listens.ok()) << listens;
    if (service_ != nullptr) ASSERT_TRUE(service_->Begin().ok());
    ASSERT_TRUE(server_->Begin().ok());
    address_ = server_->address();
  }
  const std::string& address() const { return address_; }
  // The next StartServer() has the same address and state.
  void StopServer() {
    if (server_ == nullptr) return;
    server_->StopHousekeeping();
    if (service_ != nullptr) service_->Stop();
    server_->Shutdown();
    service_.reset();
    server_.reset();
  }

  std::shared_ptr<FleetClient> Operator() {
    const auto credentials = LoadCredentials(OperatorFolder(folder_.path() + "/server"));
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    return std::make_shared<FleetClient>(*credentials);
  }
  FleetCredentials Enrol(const std::string& role, const std::string& owner) {
    const auto text = Operator()->Invite(role, owner);
    EXPECT_TRUE(text.ok()) << text.status();
    const auto credentials = EnrolInFleet(*Invitation::Parse(*text));
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    return *credentials;
  }
  std::shared_ptr<FleetClient> Client(const std::string& owner) {
    return std::make_shared<FleetClient>(Enrol("client", owner));
  }
  // `idle_seconds`: it ends after this long without work; 0: never. `server`: the address by which it reaches
  // the server, if it is another than the server's own.
  std::unique_ptr<AgentOfTest> Agent(MockDeviceHost::Answer answer, const std::string& server = "",
                                     double idle_seconds = 0) {
    const std::string folder = folder_.path() + "/agent" + std::to_string(++num_agents_);
    FleetCredentials credentials = Enrol("agent", kServersOwner);
    if (!server.empty()) credentials.server = server;
    EXPECT_TRUE(SaveCredentials(folder, credentials).ok());
    return std::make_unique<AgentOfTest>(folder, std::move(answer), idle_seconds);
  }
  // Waits until there are `count` devices.
  void AwaitDevices(std::ptrdiff_t count) {
    const auto fleet = Operator();
    testing::AwaitThat([&] {
      const auto devices = fleet->Devices("desk");
      EXPECT_TRUE(devices.ok()) << devices.status();
      const auto is_there = [](const auto& device) { return device.is_there(); };
      return !devices.ok() || std::ranges::count_if(*devices, is_there) == count;
    });
  }

  const testing::TemporaryFolder& folder() const { return folder_; }

 private:
  const MakeService make_service_;
  const double lease_seconds_;
  testing::TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<FleetServer> server_;
  std::unique_ptr<ServiceOfTest> service_;  // null: there is none
  int num_agents_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_FOR_TEST_H_
