// Measures the devices' peak rates from time to time, and quarantines a device that is no longer as fast as
// it was.
//
// Problem: a device that has become slower still measures, and nothing tells that its times can no longer be
// compared with earlier ones. Idea: the server itself asks for each device as its least important client, so
// that it delays no work, measures the peak rates, and has calibration/drift.h judge them. A device that has
// drifted is drained, until an operator resumes it; it then begins anew. Price: a device that is never idle
// is never calibrated, unless an operator asks for it.
#ifndef ATTUNE_FLEET_SERVER_CALIBRATOR_H_
#define ATTUNE_FLEET_SERVER_CALIBRATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/mailbox.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/fleet.pb.h"
#include "measure/item.h"

namespace attune {

struct CalibratorOptions {
  double interval_seconds = 0;  // between two calibrations of a device; 0: only on request
  double retry_seconds = 300;   // after one that has failed
  double most_seconds = 300;    // that one may take once the device is leased; afterwards it has failed
};

// Thread safe. The dispatcher, the store and the clock must outlive it.
class Calibrator {
 public:
  Calibrator(Dispatcher& dispatcher, FleetStore& store, CalibratorOptions options,
             const Clock& clock = SystemClock())
      : dispatcher_(dispatcher), store_(store), options_(options), clock_(clock) {}
  // Gives up what is going on.
  ~Calibrator();
  Calibrator(const Calibrator&) = delete;
  Calibrator& operator=(const Calibrator&) = delete;

  // To be called several times a second: takes results, and begins what is due.
  void Tick();
  // Begins a calibration that goes before all other requests for the device. NotFound if there is no such
  // device, FailedPrecondition if it is away or drained.
  absl::Status Begin(const std::string& device);
  // The device is given out again. If it was quarantined, it has a new baseline.
  absl::Status OnResume(const std::string& device);
  // Fails if the store does.
  absl::StatusOr<fleet_proto::CalibrationState> StateOf(const std::string& device) const;

 private:
  // A request for a device, and its lease.
  struct Attempt {
    int64_t client = 0;  // its number at the dispatcher
    std::shared_ptr<Mailbox<fleet_proto::ToClient>> mailbox = {};
    bool is_asked_for = false;             // by an operator
    std::optional<double> leased_at = {};  // the clock's time
  };
  // The last attempt that has failed.
  struct Failure {
    std::string reason = {};
    double time = 0;  // the clock's
  };

  // For those who hold the mutex.
  void Ask(const std::string& device, bool is_asked_for);
  void End(const std::string& device);
  void Fail(const std::string& device, const std::string& reason);
  void BeginDue();
  bool IsDue(const fleet_proto::Device& device) const;
  // Handles what has come for the attempt. True once it is over.
  bool GoOn(const std::string& device, Attempt& attempt);
  void SendItem(const std::string& device, const Attempt& attempt);
  void Take(const std::string& device, const fleet_proto::Result& result);
  absl::Status Record(const std::string& device, const Peaks& peaks);
  absl::StatusOr<fleet_proto::Device> Find(const std::string& device) const;

  Dispatcher& dispatcher_;
  FleetStore& store_;
  const CalibratorOptions options_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  double looked_ = 0;                        // when BeginDue() was last called
  std::map<std::string, Attempt> attempts_;  // by device
  std::map<std::string, Failure> failures_;  // likewise
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_CALIBRATOR_H_
