#include "base/crash_report.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "base/sanitized.h"

namespace attune {

// Not in an unnamed namespace, so that they have symbols.
int CrashForTest();
int CallCrashForTest();
int* volatile nowhere_for_test = nullptr;
[[gnu::noinline]] int CrashForTest() { return *nowhere_for_test + 1; }
[[gnu::noinline]] int CallCrashForTest() { return CrashForTest() + 1; }

namespace {

class CrashReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "the sanitizer reports crashes";
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

TEST_F(CrashReportTest, SaysWhichCallsHaveLedThere) {
  EXPECT_EXIT(
      {
        ReportCrashes();
        std::exit(CallCrashForTest());
      },
      ::testing::KilledBySignal(SIGSEGV),
      "attune: 20[0-9-]+T[0-9:]+.00:00 error: crash signal=11 address=0x0 thread=[0-9]+"
      "[^$]*#0 attune::CrashForTest.. .0x[0-9a-f]+[^$]*#1 attune::CallCrashForTest.. .0x");
}

TEST_F(CrashReportTest, AnAbortIsOne) {
  EXPECT_EXIT(
      {
        ReportCrashes();
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "error: crash signal=6");
}

}  // namespace
}  // namespace attune
