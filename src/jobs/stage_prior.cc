#include "jobs/stage_prior.h"

namespace attune {
namespace {

struct PriorRow {
  std::string_view kind, stage;
  SecondsPrediction seconds;
};

// The quantiles of 10, 50 and 90 percent over some schedules, by tools/stage_prior.py.
constexpr PriorRow kRows[] = {
    {"tuning", "", {120, 240, 600}},           {"tuning", "open", {0.4, 1.2, 5}},
    {"tuning", "prepare", {0.5, 1.5, 6}},      {"tuning", "write", {0.3, 1, 4}},
    {"quantization", "", {10, 40, 200}},       {"quantization", "open", {0.05, 0.2, 1}},
    {"quantization", "prepare", {1, 4, 20}},   {"quantization", "calibrate", {1, 6, 40}},
    {"quantization", "build", {0.5, 2, 10}},   {"quantization", "measure", {2, 4, 10}},
    {"quantization", "judge", {0.01, 0.1, 1}}, {"program", "open", {0.02, 0.05, 0.5}},
    {"mock", "open", {0.005, 0.02, 0.1}},
};

}  // namespace

SecondsPrediction StagePrior(std::string_view kind, std::string_view stage) {
  for (const PriorRow& row : kRows)
    if (row.kind == kind && row.stage == stage) return row.seconds;
  return {};
}

SecondsPrediction OwnOrPrior(std::string_view kind, std::string_view stage, const SecondsPrediction& own) {
  return own.high > 0 ? own : StagePrior(kind, stage);
}

}  // namespace attune
