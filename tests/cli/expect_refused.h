// The form of every refusal.
#ifndef ATTUNE_TESTS_CLI_EXPECT_REFUSED_H_
#define ATTUNE_TESTS_CLI_EXPECT_REFUSED_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "run_attune.h"

namespace attune {

inline int64_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// Expects exit code 1 and one line on stderr, "attune: …", that contains `part`.
inline void ExpectRefused(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, ::testing::AllOf(::testing::StartsWith("attune: "), ::testing::HasSubstr(part)));
  EXPECT_EQ(Lines(outcome.err), 1) << outcome.err;
}

}  // namespace attune

#endif  // ATTUNE_TESTS_CLI_EXPECT_REFUSED_H_
