// The batches of a device host that wait for their turn.
#ifndef ATTUNE_FLEET_HOST_BATCH_QUEUE_H_
#define ATTUNE_FLEET_HOST_BATCH_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/process/message.h"
#include "fleet/host/host_messages.h"

namespace attune {

// Gives batches in the order in which they came, to one thread. Thread safe.
class BatchQueue {
 public:
  void Add(RunBatch batch);
  // Cancels the batch, whether it waits or is the current one. Does nothing if it is over.
  void Cancel(int64_t number);
  // Cancels the current batch and drops those that wait; none is given from now on.
  void Close();
  bool is_closed() const;

  // The next batch, which is the current one until the next call. Nothing if none has come by the deadline,
  // or if the queue is closed. A cancelled batch has its turn, too, since its caller waits for its results.
  std::optional<RunBatch> Take(Deadline deadline);
  // Whether the current batch is cancelled.
  bool IsCancelled() const;
  // Waits until the current batch is cancelled or until the deadline, and returns whether it is.
  bool AwaitCancellation(Deadline deadline);

 private:
  struct Entry {
    RunBatch batch;
    bool is_cancelled = false;
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  std::optional<int64_t> current_;  // the current batch's number
  bool is_cancelled_ = false;       // the current batch
  bool is_closed_ = false;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_BATCH_QUEUE_H_
