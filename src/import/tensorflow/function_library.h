// The functions of a model, by name.
#ifndef ATTUNE_IMPORT_TENSORFLOW_FUNCTION_LIBRARY_H_
#define ATTUNE_IMPORT_TENSORFLOW_FUNCTION_LIBRARY_H_

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/tensorflow/body.h"
#include "import/tensorflow/vocabulary.h"

namespace attune::tensorflow {

// The maximum nesting of function calls, and of loops, which are expanded like these.
inline constexpr int kMaxCallDepth = 64;

// Refers to the functions that it is made from. Members throw ImportFailure.
class FunctionLibrary {
 public:
  explicit FunctionLibrary(const FunctionDefLibrary& library);

  // Returns null if there is no function of this name.
  const FunctionDef* Find(std::string_view name) const;
  // Returns the nodes of one of these functions. They are ordered at the first call.
  const Body& BodyOf(const FunctionDef& function);
  // Returns for each result of a function whether it is the argument with the same index. Empty if there is
  // no such function.
  std::vector<bool> HandedThrough(std::string_view name);

 private:
  std::unordered_map<std::string_view, const FunctionDef*> functions_;
  std::unordered_map<const FunctionDef*, std::unique_ptr<Body>> bodies_;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_FUNCTION_LIBRARY_H_
