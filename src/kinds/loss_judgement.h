// Judges how much accuracy a quantized network loses, by samples that nothing else has seen.
//
// A share that was seen among a few samples says little about all others. So a loss counts as what is the
// most that it may be with a certainty of 95 %: the upper end of the interval of Clopper and Pearson (The use
// of confidence or fiducial limits, 1934). If one of several variants is chosen by the same samples, the
// interval of each holds with so much more certainty that all of them hold with 95 % (Bonferroni's
// correction).
#ifndef ATTUNE_KINDS_LOSS_JUDGEMENT_H_
#define ATTUNE_KINDS_LOSS_JUDGEMENT_H_

#include <cstdint>
#include <optional>

namespace attune {

// The upper end of the one-sided interval of a share of which `seen` of `samples` were seen; 1 without
// samples.
double UpperShare(double seen, double samples, double confidence = 0.95);

// Returns the most that a variant may lose that has lost `loss` of the samples, if it is chosen among
// `variants`. A sample that agrees in part counts as a partial error: that is no less than it is worth.
double UpperLoss(double loss, double samples, int variants);

// The least number of samples that can show a loss of at most `most`: that many without an error. Nothing if
// there is none.
std::optional<int64_t> SamplesToShow(double most, int variants);

// The most errors among so many samples that still show a loss of at most `most`; -1: not even none does.
int64_t MostErrors(double most, int64_t samples, int variants);

// The probability of at most `most` errors among the samples, each of which is one with probability `share`.
double ProbabilityOfErrors(int64_t most, int64_t samples, double share);

}  // namespace attune

#endif  // ATTUNE_KINDS_LOSS_JUDGEMENT_H_
