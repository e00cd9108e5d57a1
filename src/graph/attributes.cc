#include "graph/attributes.h"

#include <algorithm>
#include <bit>

#include "base/fatal.h"

namespace attune {
namespace {

bool SameBits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

bool Same(const ExactNumber& a, const ExactNumber& b) {
  return a == b || (!a.is_integer() && !b.is_integer() && SameBits(a.ToDouble(), b.ToDouble()));
}

bool Same(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) return SameBits(*x, std::get<double>(b));
  if (const auto* x = std::get_if<Floats>(&a)) return std::ranges::equal(*x, std::get<Floats>(b), SameBits);
  if (const auto* x = std::get_if<Tensor>(&a)) return x->Identical(std::get<Tensor>(b));
  if (const auto* x = std::get_if<int64_t>(&a)) return *x == std::get<int64_t>(b);
  if (const auto* x = std::get_if<ExactNumber>(&a)) return Same(*x, std::get<ExactNumber>(b));
  if (const auto* x = std::get_if<std::string>(&a)) return *x == std::get<std::string>(b);
  if (const auto* x = std::get_if<Ints>(&a)) return *x == std::get<Ints>(b);
  return std::get<DType>(a) == std::get<DType>(b);
}

}  // namespace

std::string_view AttributeKindName(AttributeKind kind) {
  constexpr std::string_view kNames[] = {"int",    "float", "string", "ints",
                                         "floats", "dtype", "tensor", "number"};
  return kNames[static_cast<size_t>(kind)];
}

Attributes::Attributes() = default;
Attributes::Attributes(std::initializer_list<std::pair<const std::string, Attribute>> items)
    : items_(items) {}
Attributes::Attributes(const Attributes&) = default;
Attributes::Attributes(Attributes&&) noexcept = default;
Attributes& Attributes::operator=(const Attributes&) = default;
Attributes& Attributes::operator=(Attributes&&) noexcept = default;
Attributes::~Attributes() = default;

template <typename T>
const T& Attributes::Get(std::string_view name) const {
  const auto it = items_.find(name);
  const T* value = it == items_.end() ? nullptr : std::get_if<T>(&it->second);
  if (value == nullptr) Fatal("attribute '", name, "' is missing or not of the kind that is asked for");
  return *value;
}

int64_t Attributes::Int(std::string_view name) const { return Get<int64_t>(name); }
double Attributes::Float(std::string_view name) const { return Get<double>(name); }
const ExactNumber& Attributes::Number(std::string_view name) const { return Get<ExactNumber>(name); }
const std::string& Attributes::String(std::string_view name) const { return Get<std::string>(name); }
const Ints& Attributes::IntList(std::string_view name) const { return Get<Ints>(name); }
const Floats& Attributes::FloatList(std::string_view name) const { return Get<Floats>(name); }
DType Attributes::Type(std::string_view name) const { return Get<DType>(name); }
const Tensor& Attributes::TensorValue(std::string_view name) const { return Get<Tensor>(name); }

bool Attributes::Has(std::string_view name) const { return items_.find(name) != items_.end(); }

void Attributes::Set(std::string name, Attribute value) {
  items_.insert_or_assign(std::move(name), std::move(value));
}

void Attributes::Remove(std::string_view name) {
  if (const auto it = items_.find(name); it != items_.end()) items_.erase(it);
}

bool Attributes::operator==(const Attributes& other) const {
  return std::ranges::equal(items_, other.items_, [](const auto& a, const auto& b) {
    return a.first == b.first && Same(a.second, b.second);
  });
}

}  // namespace attune
