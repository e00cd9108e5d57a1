// The text form of loop nests, written.
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tensor/spelling.h"
#include "tensor/stmt.h"

namespace attune {
namespace {

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return std::string(buffer, end);
}

// Schedules make unique names, but may copy a variable or buffer; a repeated name gets a number.
class Printer {
 public:
  std::string Kernel(const LoopNest& nest) {
    std::vector<std::string> params;
    for (const SizeParam& size : nest.sizes)
      params.push_back(absl::StrCat("size %", VarName(size.var), " in ", size.min, ", ", size.max));
    for (const LoopNest::Param& param : nest.params)
      params.push_back(absl::StrCat(BufferRoleName(param.role), " ", Declaration(param.buffer)));
    if (nest.dims_buffer) params.push_back(absl::StrCat("dims ", Declaration(nest.dims_buffer)));
    std::string out = absl::StrCat("kernel @", nest.name, "(", absl::StrJoin(params, ", "), ") {\n");
    for (const Stmt& root : nest.roots) {
      out += "  root {\n";
      Statement(root, 4, out);
      out += "  }\n";
    }
    return out + "}\n";
  }

  std::string Expression(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kInt:
        return e->dtype == DType::kI64 ? absl::StrCat(e->int_value)
                                       : absl::StrCat(DTypeName(e->dtype), " ", e->int_value);
      case ExprKind::kFloat:
        return absl::StrCat(DTypeName(e->dtype), " ", FloatText(e->float_value));
      case ExprKind::kVar:
        return absl::StrCat("%", VarName(e->var));
      case ExprKind::kOp:
        return absl::StrCat(MathOpName(e->op), "(", List(e->args), ")");
      case ExprKind::kCast:
        return absl::StrCat("cast.", DTypeName(e->dtype), "(", List(e->args), ")");
      case ExprKind::kBitcast:
        return absl::StrCat("bitcast.", DTypeName(e->dtype), "(", List(e->args), ")");
      case ExprKind::kLoad:
        return absl::StrCat(BufferName(e->buffer), "[", List(e->args), "]");
    }
    return "";
  }

 private:
  template <typename Map, typename Node>
  std::string Unique(Map& names, const Node& node) {
    const auto it = names.find(node.get());
    if (it != names.end()) return it->second;
    std::string name = node->name;
    for (int i = 1; !taken_.insert(name).second; ++i) name = absl::StrCat(node->name, "_", i);
    return names[node.get()] = name;
  }
  std::string VarName(const Var& v) { return Unique(vars_, v); }
  std::string BufferName(const Buffer& b) { return Unique(buffers_, b); }

  std::string Declaration(const Buffer& b) {
    std::vector<std::string> extents;
    for (const Extent& extent : b->extents()) extents.push_back(Expression(extent.expr()));
    return absl::StrCat(BufferName(b), ": ", DTypeName(b->dtype), "[", absl::StrJoin(extents, ","), "] ",
                        MemorySpaceName(b->space));
  }

  std::string List(const std::vector<Expr>& args) {
    std::string out;
    for (const Expr& arg : args) absl::StrAppend(&out, out.empty() ? "" : ", ", Expression(arg));
    return out;
  }

  void Block(const Stmt& s, int indent, std::string& out) {
    out += " {\n";
    Statement(s, indent + 2, out);
    absl::StrAppend(&out, std::string(static_cast<size_t>(indent), ' '), "}");
  }

  void Statement(const Stmt& s, int indent, std::string& out) {
    if (s->kind == StmtKind::kSequence) {
      for (const Stmt& child : s->children) Statement(child, indent, out);
      return;
    }
    out.append(static_cast<size_t>(indent), ' ');
    switch (s->kind) {
      case StmtKind::kStore:
        absl::StrAppend(&out, BufferName(s->buffer), "[", List(s->indices), "] = ", Expression(s->value));
        break;
      case StmtKind::kFor:
        absl::StrAppend(&out, LoopKindName(s->loop), s->binding.empty() ? "" : ".", s->binding, " %",
                        VarName(s->var), " in ", Expression(s->min), ", ", Expression(s->extent));
        Block(s->body, indent, out);
        break;
      case StmtKind::kIf:
        absl::StrAppend(&out, "if ", Expression(s->condition));
        Block(s->body, indent, out);
        if (s->else_body) {
          out += " else";
          Block(s->else_body, indent, out);
        }
        break;
      case StmtKind::kLet:
        absl::StrAppend(&out, "let %", VarName(s->var), ": ", DTypeName(s->var->dtype), " = ",
                        Expression(s->value));
        Block(s->body, indent, out);
        break;
      case StmtKind::kAllocate:
        absl::StrAppend(&out, "allocate ", Declaration(s->buffer));
        Block(s->body, indent, out);
        break;
      case StmtKind::kWhile:
        absl::StrAppend(&out, "while ", Expression(s->condition));
        Block(s->body, indent, out);
        break;
      case StmtKind::kPrefetch:
        absl::StrAppend(&out, "prefetch ", BufferName(s->buffer), "[", List(s->indices), "]");
        break;
      case StmtKind::kSequence:
        break;
    }
    out += "\n";
  }

  std::map<const VarNode*, std::string> vars_;
  std::map<const BufferNode*, std::string> buffers_;
  std::set<std::string> taken_;
};

}  // namespace

std::string Print(const LoopNest& nest) { return Printer().Kernel(nest); }
std::string Print(const Expr& e) { return Printer().Expression(e); }

}  // namespace attune
