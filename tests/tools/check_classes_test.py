"""tools/check_classes.py: how functions and data of a class are counted."""
import unittest

import check_classes


def counts(text):
    return {name: (functions, members) for name, _, functions, members in check_classes.classes_of(text)}


def members(declarations):
    """(member functions, data members) of a class with these declarations."""
    return counts("class C {\n" + declarations + "\n};")["C"]


class Classes(unittest.TestCase):
    def test_functions_count_whether_public_or_private(self):
        self.assertEqual(members("""
 public:
  explicit C(int a, std::map<int, int> b = {}) : a_{a}, b_(std::move(b)) {}
  C(const C&) = delete;
  ~C() override = default;
  int a() const { return a_; }
  template <typename T, typename = std::enable_if_t<(sizeof(T) > 1)>>
  T Cast() const;
  bool operator<(const C& other) const { return a_ < other.a_; }
  static std::unique_ptr<C> Create(std::function<void(int)> done = [](int) { return; });
 private:
  auto Find(std::string_view name) const -> const int*;
  std::pair<int, int> Both();"""), (8, 0))

    def test_data_counts_by_name(self):
        self.assertEqual(members("""
  const std::function<absl::Status(const std::string& name)> done_;
  int begin_ = 0, end_ = 1 << 20;
  std::map<std::string, std::pair<int, int>> by_name_ = {}, others_{{"a", {1, 2}}};
  double (*key)(const Request& request, double now) = nullptr;
  std::vector<int> left_ GUARDED_BY(mutex_);
  mutable std::mutex mutex_;
  [[maybe_unused]] int64_t million_ = 1'000'000;
  static constexpr char kNames[] = "of no object; static";"""), (0, 9))

    def test_other_declarations_do_not_count(self):
        self.assertEqual(members("""
  using Key = std::pair<int, int>;
  friend class Other;
  enum class State : uint8_t { kOne, kTwo };
  struct Forward;
  static_assert(sizeof(int) == 4);
  // int commented_(); int out_;
  /* int also_; */"""), (0, 0))

    def test_nested_classes_are_counted_apart(self):
        self.assertEqual(counts("""
namespace attune {
namespace {
class Outer final : public Base<int>, private Other {
  struct Inner {
    int a = 0, b = 0;
    int Sum() const { return a + b; }
  };
  Inner inner_;
};
}  // namespace
}  // namespace attune
namespace attune::onnx {
#define SOME_MACRO(x) \\
  class x {
template <typename T>
struct Pair {
  T first, second;
} one;
class Outer::Impl { void F(); };
}  // namespace attune::onnx
"""), {"Outer": (0, 1), "Outer::Inner": (1, 2), "onnx::Pair": (0, 2), "onnx::Outer::Impl": (1, 0)})

    def test_functions_are_no_classes(self):
        self.assertEqual(counts("""
struct tm Now() { struct tm now = {}; return now; }
int main() { class Local { int a; }; }
const char* kText = R"(class Quoted { int a; };)";
"""), {})

    def test_lines_are_those_of_the_file(self):
        self.assertEqual([line for _, line, *_ in check_classes.classes_of("/* one\ntwo */\n\nstruct A {\n};\n")], [4])


class Tree(unittest.TestCase):
    def test_exempt_classes_exist(self):
        names = {name for name, *_ in check_classes.all_classes()}
        self.assertEqual(check_classes.EXEMPT.keys() - names, set())


if __name__ == "__main__":
    unittest.main()
