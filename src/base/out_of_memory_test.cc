#include "base/out_of_memory.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

namespace attune {
namespace {

constexpr char kSentence[] = "^program: out of memory: .*raise its limit\n$";

TEST(OutOfMemoryDeathTest, IsOneSentenceInEveryThread) {
  const auto run_out = [] {
    ExplainOutOfMemory("program");
    std::thread([] { throw std::bad_alloc(); }).join();
  };
  EXPECT_EXIT(run_out(), ::testing::ExitedWithCode(1), kSentence);
}

TEST(OutOfMemoryDeathTest, IsOneSentenceWhereNothingMayBeThrown) {
  const auto run_out = []() noexcept {
    ExplainOutOfMemory("program");
    std::get_new_handler()();
  };
  EXPECT_EXIT(run_out(), ::testing::ExitedWithCode(1), kSentence);
}

TEST(OutOfMemoryDeathTest, OtherFaultsEndAsBefore) {
  const auto fail = [] {
    ExplainOutOfMemory("program");
    std::thread([] { throw std::runtime_error("other"); }).join();
  };
  EXPECT_EXIT(fail(), ::testing::KilledBySignal(SIGABRT), "other");
}

}  // namespace
}  // namespace attune
