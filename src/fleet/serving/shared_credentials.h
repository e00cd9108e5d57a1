// Notices that an agent's credentials are used in two places.
//
// Problem: an agent's folder is copied, and both agents connect in turn, since the server closes an agent's
// old connection when a new one comes. An agent that was cut off comes back in the same way. Idea: an agent
// that was cut off comes back once, and two that drive each other out come again and again.
#ifndef ATTUNE_FLEET_SERVING_SHARED_CREDENTIALS_H_
#define ATTUNE_FLEET_SERVING_SHARED_CREDENTIALS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace attune {

// Times are seconds of one monotonic clock. Not thread safe.
class SharedCredentials {
 public:
  // This many replaced connections within this many seconds are no accident.
  static constexpr int kReplaced = 4;
  static constexpr double kWithinSeconds = 60;
  // It is remembered for this long after the last time.
  static constexpr double kRememberedSeconds = 600;

  // The member has connected while a connection of the member was there. Returns whether that shows, for the
  // first time or again after it was forgotten, that the credentials are used in two places.
  bool NoteReplaced(const std::string& member, double now);
  bool IsShared(const std::string& member, double now) const;
  // How many members' credentials are.
  int64_t NumShared(double now) const;

 private:
  struct Member {
    std::deque<double> replaced = {};  // the latest times, at most kReplaced
    double shared_until = 0;
  };

  std::map<std::string, Member> members_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_SHARED_CREDENTIALS_H_
