#include "work/driver/stage_attempt.h"

#include <utility>

namespace attune {

void StageAttempt::Ask(NextStage next, const SecondsPrediction& own, double now) {
  next_ = std::move(next);
  own_ = own;
  asked_ = now;
}

void StageAttempt::Start(const Holding& holding, const std::string& host, double now) {
  holding_ = holding;
  place_ = host;
  start_ = now;
}

StageRecord StageAttempt::End(StageOutcome outcome, double now) {
  StageRecord stage;
  stage.stage = next_.stage;
  stage.asked = asked_;
  stage.start = start_;
  stage.end = now;
  stage.processors = holding_->granted;
  stage.held = holding_->processors;
  stage.outcome = outcome;
  stage.own = own_;
  stage.place = place_;
  holding_.reset();
  return stage;
}

}  // namespace attune
