// Measures on this machine, in separate processes: a subject that crashes only spoils its own measurement.
#ifndef ATTUNE_MEASURE_LOCAL_SERVICE_H_
#define ATTUNE_MEASURE_LOCAL_SERVICE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/process/worker_pool.h"
#include "measure/service.h"

namespace attune {

struct LocalServiceOptions {
  int checkers = 1;                 // processes that check kernels in parallel
  std::string worker_program = {};  // empty: FindWorkerProgram()
  double start_seconds_limit = 30;  // until a new process is ready
  // The size of the blobs that are kept; the least recently used are evicted first. Blobs of a batch are
  // kept until it is over.
  int64_t blob_bytes = int64_t{4} << 30;
};

// A worker that is killed from outside is replaced, and its item measured again. A kernel is timed by the
// worker that has checked it, while that worker lives, since it has the prepacked constants.
class LocalMeasuringService final : public MeasuringService {
 public:
  // `device`: this machine.
  LocalMeasuringService(DeviceInfo device, LocalServiceOptions options);
  ~LocalMeasuringService() override;

  const DeviceInfo& device() const override { return device_; }
  bool Has(const std::string& digest) const override;
  absl::Status Put(const Blob& blob) override;
  // Frees the blob's memory, once no batch uses it any more.
  void Forget(const std::string& digest);
  std::unique_ptr<MeasureBatch> Submit(std::vector<MeasureItem> items) override;

  // The process ids of the current workers; for tests.
  std::vector<pid_t> WorkerPids() { return pool_.Pids(); }

 private:
  class Batch;

  // The blobs of the items that the service still has, by digest; marks each as used.
  std::map<std::string, Blob> Use(const std::vector<MeasureItem>& items);
  // Sends an item. First sends the blobs that the worker lacks, and tells it which blobs to forget.
  absl::Status Send(WorkerProcess& worker, const MeasureItem& item, const std::map<std::string, Blob>& blobs);
  // The id of the worker that has checked a kernel; -1 if that is no longer known.
  int64_t CheckerOf(const std::string& digest) const;
  void NoteChecker(const std::string& digest, int64_t worker);
  void Evict(std::list<Blob>::iterator blob);

  const DeviceInfo device_;
  const LocalServiceOptions options_;
  WorkerPool pool_;

  mutable std::mutex mutex_;
  // Ordered by last use, oldest first.
  std::list<Blob> blobs_;
  std::map<std::string, std::list<Blob>::iterator> by_digest_;
  int64_t bytes_ = 0;
  std::map<int64_t, std::set<std::string>> sent_;  // digests, by the worker's id
  std::map<std::string, int64_t> checked_;         // the worker that has checked a kernel
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_LOCAL_SERVICE_H_
