#include "work/sched/priority_class.h"

#include <algorithm>

namespace attune {
namespace {

constexpr PriorityClass kClasses[] = {
    {.name = "low", .priority = -1, .weight = 1, .most_parts = 2},
    {.name = "standard", .priority = 0, .weight = 2, .most_parts = 4},
    {.name = "high", .priority = 1, .weight = 4, .most_parts = 16},
};

}  // namespace

std::span<const PriorityClass> AllPriorityClasses() { return kClasses; }

const PriorityClass* FindPriorityClass(std::string_view name) {
  const auto found = std::ranges::find(kClasses, name, &PriorityClass::name);
  return found == std::end(kClasses) ? nullptr : &*found;
}

const PriorityClass& ClassOfPriority(int priority) {
  const int side = std::clamp(priority, -1, 1);
  return *std::ranges::find(kClasses, side, &PriorityClass::priority);
}

}  // namespace attune
