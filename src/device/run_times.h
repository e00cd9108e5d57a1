// Compares the time that runs of a network take with the time that their thread has a processor.
//
// Problem: on a busy machine, a run takes as long as other programs let it, and nothing in its latency says
// so. Idea: the thread that runs a network computes, or waits for a moment for threads that help it. If it
// had a processor for far less time than has passed, other programs had it meanwhile. Price: programs that
// use up caches or memory are not seen.
#ifndef ATTUNE_DEVICE_RUN_TIMES_H_
#define ATTUNE_DEVICE_RUN_TIMES_H_

#include <string>

namespace attune {

struct RunTimes {
  double wall_seconds = 0;
  double processor_seconds = 0;  // of the thread that calls

  // The share of the time in which the thread had no processor, 0 to 1.
  double waited_share() const;
};

// Adds up the times of runs. For one thread.
class RunWatch {
 public:
  // Around each run.
  void Begin();
  void End();

  const RunTimes& times() const { return times_; }

 private:
  static RunTimes Now();

  RunTimes begin_, times_;
};

// A sentence with numbers for people whose measurement is disturbed; empty if it is not (kDisturbedShare).
// Without times, as from a device elsewhere, the sentence has the share alone.
std::string DescribeDisturbance(double waited_share, const RunTimes& times);

}  // namespace attune

#endif  // ATTUNE_DEVICE_RUN_TIMES_H_
