// Networks that were measured as a whole, and what was learned from all tuning jobs: in memory, so that a
// submission that is answered by what is known is answered at once.
//
// Problem: an answer must hold for a network tuned today. Idea: it counts as long as no later job has found a
// kernel for one of its tasks that is clearly faster, and only for the compiler that made it; the first job
// afterwards tunes the network again. Price: an answer may be dropped although it would meet the next
// agreement.
//
// An answer is native code, so it never leaves its tenant, and what others say never outdates it. Others are
// given records alone, while the tenant shares its answers: that is asked each time that something is looked
// for, so that it holds at once, for what was there before as well.
#ifndef ATTUNE_SERVICE_AGREEMENT_KNOWN_ANSWERS_H_
#define ATTUNE_SERVICE_AGREEMENT_KNOWN_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "service/agreement/agreement.h"
#include "service/agreement/agreement_store.h"
#include "service/agreement/latency_model.h"
#include "service/agreement/observation.h"

namespace attune {

// A later kernel counts as faster if it takes at most this share of the time.
inline constexpr double kClearlyFaster = 0.95;

// Returns the tenants that share their answers now.
using SharingTenants = std::function<absl::StatusOr<std::set<std::string>>()>;

struct AnswerQuery {
  std::string tenant = {};
  std::string network = {}, interface = {};
  std::string device = {};  // the fingerprint
  int threads = 1;
  std::string compiler = {};  // empty: any
};

// Whose observations count.
enum class Observers { kOwn, kOwnAndSharing };

// Thread safe. The store must outlive it.
class KnownAnswers {
 public:
  // Without `sharing`, no tenant shares anything.
  explicit KnownAnswers(AgreementStore& store, SharingTenants sharing = nullptr,
                        const Clock& clock = SystemClock())
      : store_(store), sharing_(std::move(sharing)), clock_(clock) {}

  // Keeps the observation, here and in the store.
  absl::Status Add(const Observation& observation);
  // Takes over what other servers have added. Cheap if that was done a moment ago.
  absl::Status Refresh();

  // Nothing of this tenant is known any more, here and in the store.
  absl::Status RemoveTenant(const std::string& tenant);

  // The tenant's own fastest one that counts and meets the agreement by the worse ends of its intervals; null
  // if there is none.
  std::shared_ptr<const Observation> Find(const AnswerQuery& query, const Agreement& agreement) const;
  // The fastest one of another tenant's whose records a job for the network may begin with, whatever its
  // inputs and outputs are called and the compiler was; null if there is none.
  std::shared_ptr<const Observation> FindShared(const AnswerQuery& query) const;
  // Returns the observations that the tenant may see, the latest last: its own, and with kOwnAndSharing those
  // that others share now.
  std::vector<std::shared_ptr<const Observation>> SeenBy(
      const std::string& tenant, Observers observers = Observers::kOwnAndSharing) const;
  // The jobs that were learned from.
  std::set<std::string> Jobs() const;
  std::shared_ptr<const LatencyModel> ModelFor(const std::string& tenant,
                                               Observers observers = Observers::kOwnAndSharing);
  // Returns the best peaks that the tenant's own jobs have measured on such a device with this number of
  // threads; zeros if there are none. They refuse impossible requests, which records of others must not do.
  Peaks PeaksOf(const std::string& tenant, const std::string& device, int threads) const;

 private:
  struct Answer {
    std::shared_ptr<const Observation> observation;
    bool is_outdated = false;
  };
  struct ModelOfTenant {
    int64_t version = 0;
    std::shared_ptr<const LatencyModel> model;
  };

  void Take(int64_t number, Observation observation);
  // Returns the fastest observation of the network that `fits`; null if there is none.
  std::shared_ptr<const Observation> Fastest(const std::string& network,
                                             const std::function<bool(const Answer&)>& fits) const;
  // Empty, if it cannot be found out.
  std::set<std::string> Sharing() const;
  std::set<std::string> Others(Observers observers) const;
  std::vector<std::shared_ptr<const Observation>> SeenBy(const std::string& tenant,
                                                         const std::set<std::string>& sharing) const;

  AgreementStore& store_;
  const SharingTenants sharing_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  int64_t last_ = 0;         // the number of the latest observation
  double refreshed_ = -1e9;  // the clock's time
  std::vector<std::shared_ptr<Answer>> all_;
  std::map<std::string, std::vector<std::shared_ptr<Answer>>> by_network_;  // by its digest
  std::map<std::string, std::vector<std::shared_ptr<Answer>>> by_task_;     // likewise
  // By the tenant and those who share.
  std::map<std::pair<std::string, std::set<std::string>>, ModelOfTenant> models_;
};

// The higher of both rates, one by one.
Peaks BetterOf(const Peaks& a, const Peaks& b);

// Whether the judged network meets what the agreement says about it; time and budget do not matter.
bool Meets(const Observation& observation, const Agreement& agreement);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_KNOWN_ANSWERS_H_
