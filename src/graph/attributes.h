// The static arguments of an operator: a small ordered map from name to value.
#ifndef ATTUNE_GRAPH_ATTRIBUTES_H_
#define ATTUNE_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/exact_number.h"
#include "graph/tensor.h"

namespace attune {

using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;
using Attribute = std::variant<int64_t, double, std::string, Ints, Floats, DType, Tensor, ExactNumber>;

// The order of Attribute's alternatives, for tables.
enum class AttributeKind { kInt, kFloat, kString, kInts, kFloats, kDType, kTensor, kNumber };
// "int", "float", …: as the operator table spells them.
std::string_view AttributeKindName(AttributeKind kind);

// The operator table (op.h) says which attributes an operator takes, of which kind, and what is assumed
// where one is absent. The getters abort on a missing or mistyped attribute without a default: a verified
// node has every required attribute, of its kind. All that works on the map is in the .cc: nearly every file
// of the compiler would compile it again.
class Attributes {
 public:
  Attributes();
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> items);
  Attributes(const Attributes&);
  Attributes(Attributes&&) noexcept;
  Attributes& operator=(const Attributes&);
  Attributes& operator=(Attributes&&) noexcept;
  ~Attributes();

  bool Has(std::string_view name) const;
  void Set(std::string name, Attribute value);
  void Remove(std::string_view name);

  int64_t Int(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t absent) const { return Has(name) ? Int(name) : absent; }
  bool Bool(std::string_view name) const { return Has(name) && Int(name) != 0; }
  double Float(std::string_view name) const;
  double Float(std::string_view name, double absent) const { return Has(name) ? Float(name) : absent; }
  const ExactNumber& Number(std::string_view name) const;
  ExactNumber Number(std::string_view name, const ExactNumber& absent) const {
    return Has(name) ? Number(name) : absent;
  }
  const std::string& String(std::string_view name) const;
  std::string String(std::string_view name, std::string_view absent) const {
    return Has(name) ? String(name) : std::string(absent);
  }
  const Ints& IntList(std::string_view name) const;
  Ints IntList(std::string_view name, Ints absent) const { return Has(name) ? IntList(name) : absent; }
  const Floats& FloatList(std::string_view name) const;
  DType Type(std::string_view name) const;
  const Tensor& TensorValue(std::string_view name) const;

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool empty() const { return items_.empty(); }

  // Same names and values; tensors by their bytes, floats by their bits.
  bool operator==(const Attributes& other) const;

 private:
  template <typename T>
  const T& Get(std::string_view name) const;

  std::map<std::string, Attribute, std::less<>> items_;
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_ATTRIBUTES_H_
