// An operator of a format's table, for lists that people read.
#ifndef ATTUNE_IMPORT_COMMON_LISTED_OPERATOR_H_
#define ATTUNE_IMPORT_COMMON_LISTED_OPERATOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attune {

struct ListedOperator {
  std::string name;                   // as files of the format spell it
  std::string domain = {};            // of ONNX, besides the default one
  std::optional<int64_t> until = {};  // the last opset that contains it; nullopt: the newest one that is read
  std::string refused = {};           // why it is not supported; empty: it is
};

namespace importing {

// Why all uses of an operator are refused: for its lowering and for lists.
inline constexpr std::string_view kMakesRandomNumbers = "it makes random numbers";
inline constexpr std::string_view kSizeDependsOnData = "how much it makes depends on the data";

}  // namespace importing
}  // namespace attune

#endif  // ATTUNE_IMPORT_COMMON_LISTED_OPERATOR_H_
