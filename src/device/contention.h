// How much other programs use the processors that are measured on.
//
// Problem: a time that was taken while another program had the processor says nothing about the network, and
// the load of the machine says nothing about the processors of one device, nor of this second. Idea: during a
// measurement, the system knows for each thread how long it could have run and did not. Without one, whatever
// runs there is another program. Price: programs on other processors that use up caches or memory are not
// seen.
#ifndef ATTUNE_DEVICE_CONTENTION_H_
#define ATTUNE_DEVICE_CONTENTION_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace attune {

// From this share of the time on, what is measured is disturbed.
inline constexpr double kDisturbedShare = 0.1;

// How long the processes that `root` has started, and theirs, wait for processors. Each wake-up of a thread
// waits for a moment by itself: that is left out. `proc` is the folder of the system's numbers; without them,
// the result is 0. Not thread safe.
class ProcessWaits {
 public:
  explicit ProcessWaits(pid_t root, std::string proc = "/proc");

  // Looks at the time up to now. The time of a thread between the last look and its end is lost, so call it
  // several times a second.
  void Look();
  // The seconds that all threads together have waited between the looks since this was called last.
  double Take();

 private:
  struct Thread {
    int64_t waited = 0, slices = 0;  // nanoseconds, and times that it got a processor
  };

  void LookAt(const std::string& thread, std::map<std::string, Thread>& seen);

  const pid_t root_;
  const std::string proc_;
  std::map<std::string, Thread> threads_;  // by folder
  double seconds_ = 0;
};

// How much of the time of some processors was used, by whatever. Not thread safe.
class ProcessorUse {
 public:
  explicit ProcessorUse(std::span<const int> processors, std::string stat = "/proc/stat");

  // The share since the last call; nothing at the first one, and if the system does not tell.
  std::optional<double> Take();
  // The next call is a first one.
  void Forget() { before_.reset(); }

 private:
  struct Ticks {
    int64_t used, all;
  };
  std::optional<Ticks> Read() const;

  const std::set<std::string> names_;  // of its lines
  const std::string stat_;
  std::optional<Ticks> before_;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_CONTENTION_H_
