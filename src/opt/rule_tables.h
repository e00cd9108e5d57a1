// The rules of each pass that is made of rules alone, for the passes and for the test that tries every
// rule against the reference.
#ifndef ATTUNE_OPT_RULE_TABLES_H_
#define ATTUNE_OPT_RULE_TABLES_H_

#include <span>

#include "opt/rule.h"

namespace attune {

std::span<const Rule> AlgebraRules();        // algebra.cc
std::span<const Rule> ActivationRules();     // recognize_activations.cc
std::span<const Rule> NormalizationRules();  // recognize_normalizations.cc
std::span<const Rule> AttentionRules();      // recognize_attention.cc

}  // namespace attune

#endif  // ATTUNE_OPT_RULE_TABLES_H_
