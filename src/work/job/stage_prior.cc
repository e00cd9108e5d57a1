#include "work/job/stage_prior.h"

namespace attune {
namespace {

struct PriorRow {
  std::string_view kind, stage;
  SecondsPrediction seconds;
};

// The quantiles of 10, 50 and 90 percent over some schedules of networks for images, by
// tools/generators/stage_prior.py. A program may be anything, so that nothing is known of it but how it
// starts.
constexpr PriorRow kRows[] = {
    {"program", "open", {0.048, 0.097, 0.19}},
    {"quantization", "", {27, 55, 110}},
    {"quantization", "build", {0.39, 0.78, 1.6}},
    {"quantization", "calibrate", {5.5, 11, 22}},
    {"quantization", "judge", {0.00096, 0.0019, 0.0051}},
    {"quantization", "measure", {6.4, 13, 25}},
    {"quantization", "open", {0.0019, 0.0037, 0.0074}},
    {"quantization", "prepare", {0.49, 0.98, 2}},
    {"tuning", "", {46, 92, 180}},
    {"tuning", "judge", {4, 5, 8}},
    {"tuning", "open", {0.094, 0.19, 0.39}},
    {"tuning", "write", {0.5, 1, 2}},
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
