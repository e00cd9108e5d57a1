#include "service/agreement/jobs_ahead.h"

#include <algorithm>
#include <set>

#include "absl/status/statusor.h"
#include "service/agreement/promises_of_job.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

// The job's own forecast counts from its first stage on; before that, the prediction for it.
double RemainingOf(const proto::Job& job) {
  constexpr double kUnknown = 30;
  const double usual = job.remaining_seconds() > 0 ? job.remaining_seconds() : kUnknown;
  const absl::StatusOr<KeptAgreement> kept = KeptAgreement::FromText(job.agreement());
  return kept.ok() && kept->finish_seconds > 0 ? std::min(usual, kept->finish_seconds) : usual;
}

}  // namespace

std::vector<JobAhead> JobsAheadOf(const std::string& tenant, const std::string& key,
                                  std::span<const proto::Job> unfinished, const DeviceDirectory& devices) {
  const std::set<std::string> asked = devices.Meant(tenant, key);
  std::vector<JobAhead> ahead;
  for (const proto::Job& job : unfinished)
    if (!job.on().empty() && devices.Meant(job.owner(), job.on()) == asked)
      ahead.push_back({RemainingOf(job)});
  return ahead;
}

}  // namespace attune
