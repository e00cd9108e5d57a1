// The operators of a model that Attune lacks, found without the shapes of its inputs.
#ifndef ATTUNE_IMPORT_TENSORFLOW_UNKNOWN_OPERATORS_H_
#define ATTUNE_IMPORT_TENSORFLOW_UNKNOWN_OPERATORS_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/dtype.h"
#include "import/common/emitter.h"
#include "import/common/not_supported.h"
#include "import/tensorflow/function_library.h"
#include "import/tensorflow/model.h"

namespace attune::tensorflow {

// Returns the type of an input of the model; reports one that Attune lacks.
std::optional<DType> TypeOf(const Endpoint& input, importing::NotSupportedList& reports);

// Reports the unknown operators that every import meets, whatever the inputs are: those of the nodes that the
// outputs need, and of the functions that these nodes call. An import takes no dead branch, and may run a
// loop for no step; so what is behind a Merge, in a branch or in the body of a loop is left to it.
class UnknownOperators {
 public:
  // All of them must outlive this. Each node spends some of `budget`.
  UnknownOperators(FunctionLibrary* functions, importing::Budget* budget,
                   importing::NotSupportedList* reports)
      : functions_(functions), budget_(budget), reports_(reports) {}

  // Reports those of a model's graph, and the types of its inputs that Attune lacks. Throws ImportFailure if
  // it is damaged.
  void Report(const Body& body, const Endpoints& endpoints);

 private:
  // The nodes of a graph or of one call of a function: whether what they need was looked at, too.
  using Seen = std::unordered_map<std::string_view, bool>;

  void LookAt(std::string_view name, const Body& body, const std::string& prefix, Seen& seen);
  void LookAtNode(const NodeDef& node, const std::string& name);
  void LookAtFunction(std::string_view function, const std::string& caller);

  FunctionLibrary* functions_;
  importing::Budget* budget_;
  importing::NotSupportedList* reports_;
  int depth_ = 0;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_UNKNOWN_OPERATORS_H_
