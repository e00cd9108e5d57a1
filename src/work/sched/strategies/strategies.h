// The scheduling strategies, a file each.
#ifndef ATTUNE_WORK_SCHED_STRATEGIES_STRATEGIES_H_
#define ATTUNE_WORK_SCHED_STRATEGIES_STRATEGIES_H_

#include "work/sched/strategy.h"

namespace attune {

// One job after another. sequential.cc
double SequentialKey(const StageRequest&, const JobFacts&);
bool SequentialMayStart(const StageRequest&, const ScheduleState&);
inline constexpr SchedulingStrategy kSequential = {
    .name = "sequential", .key = SequentialKey, .may_start = SequentialMayStart};

// Each job on a host of its own. dedicated.cc
double DedicatedKey(const StageRequest&, const JobFacts&);
inline constexpr SchedulingStrategy kDedicated = {
    .name = "dedicated", .key = DedicatedKey, .dedicates_hosts = true};

// All at once, whatever they need. uncoordinated.cc
double UncoordinatedKey(const StageRequest&, const JobFacts&);
inline constexpr SchedulingStrategy kUncoordinated = {
    .name = "uncoordinated", .key = UncoordinatedKey, .is_coordinated = false};

// All jobs' stages in rounds. lockstep.cc
double LockstepKey(const StageRequest&, const JobFacts&);
bool LockstepMayStart(const StageRequest&, const ScheduleState&);
inline constexpr SchedulingStrategy kLockstep = {
    .name = "lockstep", .key = LockstepKey, .may_start = LockstepMayStart};

// The request that waits longest first. first_come.cc
double FirstComeKey(const StageRequest&, const JobFacts&);
inline constexpr SchedulingStrategy kFirstCome = {.name = "first_come", .key = FirstComeKey};

// The job with the longest way to go first, or the least slack to its deadline. predictive.cc
double PredictiveKey(const StageRequest&, const JobFacts&);
inline constexpr SchedulingStrategy kPredictive = {
    .name = "predictive", .key = PredictiveKey, .lets_none_starve = false};

// The same, and a continuing job goes first. back_to_back.cc
double BackToBackKey(const StageRequest&, const JobFacts&);
inline constexpr SchedulingStrategy kBackToBack = {
    .name = "back_to_back", .key = BackToBackKey, .lets_none_starve = false};

// By priority, which grows while a request waits. priority.cc
double PriorityKey(const StageRequest&, const JobFacts&);
inline constexpr SchedulingStrategy kPriority = {.name = "priority", .key = PriorityKey};

// The same for each owner. fair_share.cc
double FairShareKey(const StageRequest&, const JobFacts&);
inline constexpr SchedulingStrategy kFairShare = {
    .name = "fair_share", .key = FairShareKey, .is_fair_to_owners = true};

}  // namespace attune

#endif  // ATTUNE_WORK_SCHED_STRATEGIES_STRATEGIES_H_
