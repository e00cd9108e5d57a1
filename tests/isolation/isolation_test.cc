#include "isolation/isolation.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

namespace attune {
namespace {

TEST(Isolation, EveryTaskHasAResult) {
  const IsolatedResults results = RunIsolated({{"ends", [] { return std::string("text\n"); }},
                                               {"says nothing", [] { return std::string(); }},
                                               {"exits",
                                                [] {
                                                  _exit(0);
                                                  return std::string();
                                                }},
                                               {"crashes",
                                                [] {
                                                  signal(SIGABRT, SIG_DFL);
                                                  std::abort();
                                                  return std::string();
                                                }}},
                                              2, 60);
  EXPECT_EQ(results.at("ends").text, "text\n");
  EXPECT_EQ(results.at("says nothing").crash, "");
  EXPECT_EQ(results.at("exits").crash, "it ended without a result");
  EXPECT_EQ(results.at("crashes").crash, "signal 6");
}

TEST(Isolation, TimeIsLimitedOfWorkAndOfWaiting) {
  const IsolatedResults results = RunIsolated({{"works",
                                                [] {
                                                  for (volatile int64_t i = 0;; i = i + 1) {
                                                  }
                                                  return std::string();
                                                }},
                                               {"waits",
                                                [] {
                                                  while (true) usleep(100000);
                                                  return std::string();
                                                }}},
                                              2, 1);
  EXPECT_EQ(results.at("works").crash, "no result after 1 seconds");
  EXPECT_EQ(results.at("waits").crash, "no result after 1 seconds");
}

}  // namespace
}  // namespace attune
