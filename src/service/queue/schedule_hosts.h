// Brings the hosts and devices of a schedule up to date: the machines that are connected, and the devices of
// the fleet. Says what a job waits for that none of them can serve.
#ifndef ATTUNE_SERVICE_QUEUE_SCHEDULE_HOSTS_H_
#define ATTUNE_SERVICE_QUEUE_SCHEDULE_HOSTS_H_

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/clock.h"
#include "fleet/serving/device_directory.h"
#include "fleet/store/fleet_store.h"
#include "service/queue/runner_hub.h"
#include "work/driver/job_manager.h"
#include "work/driver/schedule_driver.h"
#include "work/job/job_spec.h"

namespace attune {

// The key by which the schedule's jobs ask for a device: the same word means other devices to other owners.
std::string DeviceKeyOf(const JobSpec& job);

// Why no machine that is connected runs an owner's jobs.
struct MachineLack {
  std::string waits_for = {};  // what they wait for, for people; empty: one runs them
  bool is_away = false;        // there is one, which is not connected
};

// For the thread that schedules. The arguments must outlive it.
class ScheduleHosts {
 public:
  ScheduleHosts(RunnerHub& hub, const DeviceDirectory& devices, FleetStore& store, ScheduleDriver& driver)
      : hub_(hub), directory_(devices), store_(store), driver_(driver) {}

  absl::Status UpdateMachines();
  void UpdateDevices();
  // The driver gets this job. Whether UpdateDevices() has something to do for it.
  void Expect(const JobSpec& job);
  bool is_out_of_date() const { return is_out_of_date_; }

  int64_t num_machines() const { return std::ssize(hosts_); }
  // The resource that a job waits for and that the driver cannot give now, for people: "waits for …".
  std::string WhatFor(const JobManager& job);
  MachineLack LackOf(const std::string& owner);

 private:
  struct Device {
    int number = 0;  // with the driver
    std::set<std::string> keys;
  };
  // Who asks for a device, and by which key.
  using Asked = std::pair<std::string, std::string>;

  std::string DeviceWaitedFor(const JobSpec& job) const;
  void LearnEnrolled();

  RunnerHub& hub_;
  const DeviceDirectory& directory_;
  FleetStore& store_;
  ScheduleDriver& driver_;
  std::map<int64_t, int> hosts_;                 // by connection
  std::map<int64_t, RunnerMachine> machines_;    // by connection
  std::map<std::string, std::string> enrolled_;  // the owners of runners that were admitted, by id
  std::map<std::string, Device> devices_;        // by id
  std::map<Asked, JobSpec> asked_;
  bool is_out_of_date_ = false;
  Stopwatch since_learned_;  // those that were admitted
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_SCHEDULE_HOSTS_H_
