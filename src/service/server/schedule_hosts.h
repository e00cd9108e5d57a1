// Brings the hosts and devices of a schedule up to date: the machines that are connected, and the devices of
// the fleet.
#ifndef ATTUNE_SERVICE_SERVER_SCHEDULE_HOSTS_H_
#define ATTUNE_SERVICE_SERVER_SCHEDULE_HOSTS_H_

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "fleet/server/dispatcher.h"
#include "jobs/schedule_driver.h"
#include "service/server/runner_hub.h"

namespace attune {

// For the thread that schedules. The arguments must outlive it.
class ScheduleHosts {
 public:
  ScheduleHosts(RunnerHub& hub, const Dispatcher& dispatcher, ScheduleDriver& driver)
      : hub_(hub), dispatcher_(dispatcher), driver_(driver) {}

  absl::Status UpdateMachines();
  void UpdateDevices();
  int64_t num_machines() const { return std::ssize(hosts_); }

 private:
  struct Device {
    int number = 0;  // with the driver
    std::set<std::string> keys;
  };

  RunnerHub& hub_;
  const Dispatcher& dispatcher_;
  ScheduleDriver& driver_;
  std::map<int64_t, int> hosts_;           // by connection
  std::map<std::string, Device> devices_;  // by id
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_SERVER_SCHEDULE_HOSTS_H_
