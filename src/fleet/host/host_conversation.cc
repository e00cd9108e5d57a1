#include "fleet/host/host_conversation.h"

#include <variant>

#include "base/overloaded.h"

namespace attune {
namespace {

absl::Status NobodyHasAsked() { return absl::DataLossError("a report that was not asked for"); }

}  // namespace

void HostConversation::Ask(const RunBatch& batch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Asked& asked = batches_[batch.number];
  for (const HostItem& item : batch.items) asked.open.insert(item.index);
}

absl::Status HostConversation::Take(const HostReport& report) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::visit(Overloaded{[](const HostAlive&) { return absl::OkStatus(); },
                               [](const HostReady&) { return NobodyHasAsked(); },
                               [&](const auto& of_batch) { return Take(of_batch); }},
                    report);
}

absl::Status HostConversation::Take(const HostLeased& leased) {
  const auto batch = batches_.find(leased.number);
  if (batch == batches_.end() || batch->second.is_leased) return NobodyHasAsked();
  batch->second.is_leased = true;
  return absl::OkStatus();
}

absl::Status HostConversation::Take(const HostResult& result) {
  const auto batch = batches_.find(result.number);
  if (batch == batches_.end() || batch->second.open.erase(result.index) == 0) return NobodyHasAsked();
  return absl::OkStatus();
}

absl::Status HostConversation::Take(const HostBatchOver& over) {
  const auto batch = batches_.find(over.number);
  if (batch == batches_.end() || !batch->second.open.empty()) return NobodyHasAsked();
  batches_.erase(batch);
  return absl::OkStatus();
}

}  // namespace attune
