// Classes of priority: how much a job gets beside others of its owner.
#ifndef ATTUNE_WORK_SCHED_PRIORITY_CLASS_H_
#define ATTUNE_WORK_SCHED_PRIORITY_CLASS_H_

#include <span>
#include <string_view>

namespace attune {

// A job's priority is between this and its negative.
inline constexpr int kMostJobPriority = 1'000'000;

struct PriorityClass {
  std::string_view name;
  int priority = 0;    // JobFacts::priority of its jobs; another number belongs to the class on its side of 0
  int weight = 1;      // devices at a time, relative to other classes
  int most_parts = 1;  // that a job may be split into
};

// From the lowest to the highest.
std::span<const PriorityClass> AllPriorityClasses();
// Null if there is none with this name.
const PriorityClass* FindPriorityClass(std::string_view name);
const PriorityClass& ClassOfPriority(int priority);

}  // namespace attune

#endif  // ATTUNE_WORK_SCHED_PRIORITY_CLASS_H_
