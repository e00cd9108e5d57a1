// Student's distribution, for confidence intervals of means.
#ifndef ATTUNE_SWEEP_STUDENT_T_H_
#define ATTUNE_SWEEP_STUDENT_T_H_

namespace attune {

// P(|T| <= t) with this number of degrees of freedom, at least 1, for t >= 0. By the finite sums of
// Abramowitz and Stegun, Handbook of mathematical functions, 26.7.3 for odd degrees and 26.7.4 for even ones.
double StudentProbability(double t, int degrees);

// The t for which a value lies between -t and t with this probability, 0 < confidence < 1.
double StudentQuantile(double confidence, int degrees);

}  // namespace attune

#endif  // ATTUNE_SWEEP_STUDENT_T_H_
