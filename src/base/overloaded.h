#ifndef ATTUNE_BASE_OVERLOADED_H_
#define ATTUNE_BASE_OVERLOADED_H_

namespace attune {

// One function object of several, such as one for each alternative of a variant: std::visit(Overloaded{...},
// v).
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace attune

#endif  // ATTUNE_BASE_OVERLOADED_H_
