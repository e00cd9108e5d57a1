// Runs compiled networks on their device (api/target_device.h): on this machine, or on one elsewhere through
// its measuring service.
#ifndef ATTUNE_API_NETWORK_ON_DEVICE_H_
#define ATTUNE_API_NETWORK_ON_DEVICE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "api/network.h"
#include "base/progress.h"
#include "measure/service.h"

namespace attune {

// The functions are as Network's with the same names; 0 threads: as many as the device has processors. On a
// device elsewhere, networks must be compiled for it, or loaded from an artifact for it with describe_only,
// at their first set of input shapes; functions also fail as the device's measurement does. Not thread safe;
// the service must outlive this object.
class NetworkOnDevice {
 public:
  // A null service means this machine. The control is for work elsewhere alone.
  explicit NetworkOnDevice(MeasuringService* service, const WorkControl& control = {})
      : service_(service), control_(control) {}

  absl::StatusOr<std::vector<NamedTensor>> Run(const Network& network, const std::vector<NamedTensor>& inputs,
                                               int threads = 0);
  absl::StatusOr<VerifyReport> Verify(const Network& network, const std::vector<NamedTensor>& inputs = {},
                                      uint64_t seed = 0, int threads = 0);
  absl::StatusOr<TimedRuns> Bench(const Network& network, int threads, double seconds,
                                  const std::vector<NamedTensor>& inputs = {}, uint64_t seed = 0);
  // A device elsewhere chooses the number of rounds itself.
  absl::StatusOr<ProfileReport> Profile(const Network& network, int threads, int rounds,
                                        const std::vector<NamedTensor>& inputs = {}, uint64_t seed = 0);

 private:
  int Threads(int threads) const;
  // Measures the network with these inputs, all of which are given.
  absl::StatusOr<Measurement> Measure(const Network& network, const std::vector<NamedTensor>& inputs,
                                      MeasureItem item);
  absl::StatusOr<Measurement> MeasureOne(const MeasureItem& item);

  MeasuringService* service_;
  const WorkControl control_;
};

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_ON_DEVICE_H_
