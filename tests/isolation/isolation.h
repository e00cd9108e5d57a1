// Runs tasks each in a process of its own, so that a crash, or running too long, is a result as well.
#ifndef ATTUNE_TESTS_ISOLATION_ISOLATION_H_
#define ATTUNE_TESTS_ISOLATION_ISOLATION_H_

#include <functional>
#include <map>
#include <string>

namespace attune {

struct IsolatedResult {
  std::string text;   // what the task gave
  std::string crash;  // or why it gave nothing: "signal 11", "no result after 60 seconds"
};

// By name. A task may do what it likes to its process.
using IsolatedTasks = std::map<std::string, std::function<std::string()>>;
using IsolatedResults = std::map<std::string, IsolatedResult>;

// Up to `jobs` tasks at a time, each for at most `seconds` of processor time, and as many of waiting. A
// process that a busy machine leaves little time is not cut short, and neither is one that is stopped
// together with this one. Call it before the process has threads: each child is a copy of it.
IsolatedResults RunIsolated(const IsolatedTasks& tasks, int jobs, int seconds);

}  // namespace attune

#endif  // ATTUNE_TESTS_ISOLATION_ISOLATION_H_
