// The text form of loop nests, read.
//
//   kernel     := 'kernel' '@' NAME '(' [param {',' param}] ')' '{' {'root' block} '}'
//   param      := ('in' | 'out' | 'workspace' | 'dims') buffer
//   buffer     := NAME ':' TYPE '[' [INTEGER {',' INTEGER}] ']' SPACE
//   block      := '{' {statement} '}'
//   statement  := NAME '[' list ']' '=' expression
//               | ('for' | 'unroll' | 'vector' | 'parallel' | 'bind.' HARDWARE_INDEX) '%' NAME 'in'
//               expression
//                 ',' expression block
//               | 'if' expression block ['else' block]
//               | 'let' '%' NAME ':' TYPE '=' expression block
//               | 'allocate' buffer block
//               | 'while' expression block
//               | 'prefetch' NAME '[' list ']'
//   expression := INTEGER | TYPE NUMBER | '%' NAME | OP '(' list ')' | ('cast.' | 'bitcast.') TYPE '(' list
//   ')'
//               | NAME '[' list ']'
//
// A name stands for one variable or one buffer in all of the kernel: where it is declared again, the
// declaration must be the same. VerifyLoopNest checks what a well-formed text may mean.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/text/lexer.h"
#include "tensor/affine.h"
#include "tensor/spelling.h"
#include "tensor/stmt.h"

namespace attune {
namespace {

// The depth of statements and expressions together. A kernel's fused formula is the deepest there is.
constexpr int kMaxDepth = 400;

std::optional<MathOp> ParseMathOp(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(MathOp::kIsNan); ++i) {
    if (MathOpName(static_cast<MathOp>(i)) == name) return static_cast<MathOp>(i);
  }
  return std::nullopt;
}

// Removes `prefix` from the front of `text`. False where it is not there.
bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

class NestParser {
 public:
  explicit NestParser(std::string_view text) : lexer_(text, /*quote=*/'\'') {}

  absl::StatusOr<LoopNest> Kernel() {
    LoopNest nest;
    RETURN_IF_ERROR(lexer_.Expect("kernel"));
    RETURN_IF_ERROR(lexer_.Expect("@"));
    ASSIGN_OR_RETURN(nest.name, Name("a kernel"));
    RETURN_IF_ERROR(lexer_.Expect("("));
    while (!lexer_.Take(")")) {
      if (!nest.sizes.empty() || !nest.params.empty() || nest.dims_buffer)
        RETURN_IF_ERROR(lexer_.Expect(","));
      RETURN_IF_ERROR(Param(nest));
    }
    RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Take("}")) {
      RETURN_IF_ERROR(lexer_.Expect("root"));
      ASSIGN_OR_RETURN(Stmt root, Block());
      nest.roots.push_back(std::move(root));
    }
    if (!lexer_.AtEnd()) return lexer_.Error("expected the end");
    return nest;
  }

 private:
  // The sizes come first and the dims buffer last, where they are printed.
  absl::Status Param(LoopNest& nest) {
    if (nest.dims_buffer) return lexer_.Error("expected ')'");
    if (nest.params.empty() && lexer_.Take("size")) return Size(nest);
    if (lexer_.Take("dims")) {
      ASSIGN_OR_RETURN(nest.dims_buffer, Declaration());
      return absl::OkStatus();
    }
    for (size_t i = 0; i < kBufferRoleNames.size(); ++i) {
      if (!lexer_.Take(kBufferRoleNames[i])) continue;
      ASSIGN_OR_RETURN(Buffer buffer, Declaration());
      nest.params.push_back({std::move(buffer), static_cast<BufferRole>(i)});
      return absl::OkStatus();
    }
    return lexer_.Error("expected in, out, workspace or dims");
  }

  absl::Status Size(LoopNest& nest) {
    SizeParam size;
    ASSIGN_OR_RETURN(size.var, Binding(/*typed=*/false));
    RETURN_IF_ERROR(lexer_.Expect("in"));
    ASSIGN_OR_RETURN(size.min, lexer_.TakeInteger());
    RETURN_IF_ERROR(lexer_.Expect(","));
    ASSIGN_OR_RETURN(size.max, lexer_.TakeInteger());
    sizes_.Set(size.var, {size.min, size.max});
    nest.sizes.push_back(std::move(size));
    return absl::OkStatus();
  }

  // Passes the name at hand and returns it. `what` says in the error what it names: "a kernel".
  absl::StatusOr<std::string> Name(std::string_view what) {
    if (!lexer_.AtName()) return lexer_.Error(absl::StrCat("expected the name of ", what));
    std::string name(lexer_.token().text);
    lexer_.Next();
    return name;
  }

  absl::StatusOr<DType> Type() {
    const std::optional<DType> dtype = ParseDType(lexer_.token().text);
    if (!dtype) return lexer_.Error("expected an element type");
    lexer_.Next();
    return *dtype;
  }

  absl::StatusOr<Buffer> Declaration() {
    const size_t offset = lexer_.token().offset;
    ASSIGN_OR_RETURN(const std::string name, Name("a buffer"));
    RETURN_IF_ERROR(lexer_.Expect(":"));
    ASSIGN_OR_RETURN(const DType dtype, Type());
    RETURN_IF_ERROR(lexer_.Expect("["));
    std::vector<Extent> extents;
    while (!lexer_.Take("]")) {
      if (!extents.empty()) RETURN_IF_ERROR(lexer_.Expect(","));
      ASSIGN_OR_RETURN(const Expr extent, Expression());
      extents.push_back(IsIntConst(extent) ? Extent(extent->int_value)
                                           : Extent(extent, sizes_.Range(extent).max));
    }
    const auto space = std::find(kMemorySpaceNames.begin(), kMemorySpaceNames.end(), lexer_.token().text);
    if (space == kMemorySpaceNames.end()) return lexer_.Error("expected a memory space");
    lexer_.Next();

    const Buffer declared =
        MakeOpenBuffer(name, dtype, extents, static_cast<MemorySpace>(space - kMemorySpaceNames.begin()));
    if (!IsBufferSizeValid(*declared))
      return lexer_.ErrorAt(offset, absl::StrCat("buffer ", name, " has an impossible size"));
    Buffer& known = buffers_[name];
    if (!known) known = declared;
    if (!IsSameDeclaration(*known, *declared))
      return lexer_.ErrorAt(offset, absl::StrCat("buffer ", name, " is declared differently above"));
    return known;
  }

  static bool IsSameDeclaration(const BufferNode& a, const BufferNode& b) {
    return a.dtype == b.dtype && a.space == b.space &&
           std::ranges::equal(a.extents(), b.extents(),
                              [](const Extent& x, const Extent& y) { return SameExpr(x.expr(), y.expr()); });
  }

  absl::StatusOr<Var> Binding(bool typed) {
    RETURN_IF_ERROR(lexer_.Expect("%"));
    const size_t offset = lexer_.token().offset;
    ASSIGN_OR_RETURN(const std::string name, Name("a variable"));
    DType dtype = DType::kI64;
    if (typed) {
      RETURN_IF_ERROR(lexer_.Expect(":"));
      ASSIGN_OR_RETURN(dtype, Type());
    }
    Var& known = vars_[name];
    if (!known) known = MakeVar(name, dtype);
    if (known->dtype != dtype)
      return lexer_.ErrorAt(offset, absl::StrCat("%", name, " has another type above"));
    return known;
  }

  absl::Status Enter() {
    if (depth_ == kMaxDepth) return lexer_.Error(absl::StrCat("nested deeper than ", kMaxDepth));
    ++depth_;
    return absl::OkStatus();
  }

  absl::StatusOr<Stmt> Block() {
    RETURN_IF_ERROR(lexer_.Expect("{"));
    RETURN_IF_ERROR(Enter());
    std::vector<Stmt> statements;
    while (!lexer_.Take("}")) {
      ASSIGN_OR_RETURN(Stmt statement, Statement());
      statements.push_back(std::move(statement));
    }
    --depth_;
    return MakeSequence(std::move(statements));
  }

  absl::StatusOr<Stmt> Statement() {
    if (lexer_.IsFollowedBy('[')) return Store();
    if (lexer_.Take("if")) return If();
    if (lexer_.Take("let")) return Let();
    if (lexer_.Take("allocate")) {
      ASSIGN_OR_RETURN(const Buffer buffer, Declaration());
      ASSIGN_OR_RETURN(Stmt body, Block());
      return MakeAllocate(buffer, std::move(body));
    }
    if (lexer_.Take("while")) {
      ASSIGN_OR_RETURN(Expr condition, Expression());
      ASSIGN_OR_RETURN(Stmt body, Block());
      return MakeWhile(std::move(condition), std::move(body));
    }
    if (lexer_.Take("prefetch")) {
      ASSIGN_OR_RETURN(auto element, Element());
      return MakePrefetch(element.first, std::move(element.second));
    }
    return For();
  }

  absl::StatusOr<Stmt> Store() {
    ASSIGN_OR_RETURN(auto element, Element());
    RETURN_IF_ERROR(lexer_.Expect("="));
    ASSIGN_OR_RETURN(Expr value, Expression());
    return MakeStore(element.first, std::move(element.second), std::move(value));
  }

  absl::StatusOr<Stmt> If() {
    ASSIGN_OR_RETURN(Expr condition, Expression());
    ASSIGN_OR_RETURN(Stmt body, Block());
    Stmt else_body;
    if (lexer_.Take("else")) {
      ASSIGN_OR_RETURN(else_body, Block());
    }
    return MakeIf(std::move(condition), std::move(body), std::move(else_body));
  }

  absl::StatusOr<Stmt> Let() {
    ASSIGN_OR_RETURN(const Var var, Binding(/*typed=*/true));
    RETURN_IF_ERROR(lexer_.Expect("="));
    ASSIGN_OR_RETURN(Expr value, Expression());
    ASSIGN_OR_RETURN(Stmt body, Block());
    return MakeLet(var, std::move(value), std::move(body));
  }

  absl::StatusOr<Stmt> For() {
    std::string_view word = lexer_.token().text;
    std::string binding;
    if (ConsumePrefix(word, "bind.")) {
      binding = word;
      word = LoopKindName(LoopKind::kBound);
    }
    int kind = 0;
    while (kind <= static_cast<int>(LoopKind::kBound) && LoopKindName(static_cast<LoopKind>(kind)) != word) {
      ++kind;
    }
    if (kind > static_cast<int>(LoopKind::kBound)) return lexer_.Error("expected a statement");
    lexer_.Next();
    ASSIGN_OR_RETURN(const Var var, Binding(/*typed=*/false));
    RETURN_IF_ERROR(lexer_.Expect("in"));
    ASSIGN_OR_RETURN(Expr min, Expression());
    RETURN_IF_ERROR(lexer_.Expect(","));
    ASSIGN_OR_RETURN(Expr extent, Expression());
    ASSIGN_OR_RETURN(Stmt body, Block());
    const Stmt loop =
        MakeFor(var, std::move(min), std::move(extent), static_cast<LoopKind>(kind), std::move(body));
    StmtNode bound = *loop;
    bound.binding = std::move(binding);
    return std::make_shared<const StmtNode>(std::move(bound));
  }

  // NAME '[' list ']'
  absl::StatusOr<std::pair<Buffer, std::vector<Expr>>> Element() {
    const size_t offset = lexer_.token().offset;
    ASSIGN_OR_RETURN(const std::string name, Name("a buffer"));
    const auto it = buffers_.find(name);
    if (it == buffers_.end()) return lexer_.ErrorAt(offset, absl::StrCat("no buffer ", name));
    RETURN_IF_ERROR(lexer_.Expect("["));
    ASSIGN_OR_RETURN(std::vector<Expr> indices, List("]"));
    return std::make_pair(it->second, std::move(indices));
  }

  absl::StatusOr<std::vector<Expr>> List(std::string_view close) {
    std::vector<Expr> list;
    while (!lexer_.Take(close)) {
      if (!list.empty()) RETURN_IF_ERROR(lexer_.Expect(","));
      ASSIGN_OR_RETURN(Expr e, Expression());
      list.push_back(std::move(e));
    }
    return list;
  }

  absl::StatusOr<Expr> Expression() {
    RETURN_IF_ERROR(Enter());
    absl::StatusOr<Expr> e = ExpressionWithin();
    --depth_;
    return e;
  }

  absl::StatusOr<Expr> ExpressionWithin() {
    const size_t offset = lexer_.token().offset;
    if (lexer_.Take("%")) {
      ASSIGN_OR_RETURN(const std::string name, Name("a variable"));
      const auto it = vars_.find(name);
      if (it == vars_.end()) return lexer_.ErrorAt(offset, absl::StrCat("no variable %", name));
      return Expr(it->second);
    }
    if (lexer_.AtWord() && lexer_.IsFollowedBy('[')) {
      ASSIGN_OR_RETURN(auto element, Element());
      return Load(element.first, std::move(element.second));
    }
    if (lexer_.AtWord() && lexer_.IsFollowedBy('(')) return Application();
    if (const std::optional<DType> dtype = ParseDType(lexer_.token().text)) {
      lexer_.Next();
      return Constant(*dtype);
    }
    ASSIGN_OR_RETURN(const int64_t value, lexer_.TakeInteger());
    return Expr(value);
  }

  // OP '(' list ')', and casts.
  absl::StatusOr<Expr> Application() {
    const size_t offset = lexer_.token().offset;
    std::string_view word = lexer_.token().text;
    lexer_.Next();
    RETURN_IF_ERROR(lexer_.Expect("("));
    ASSIGN_OR_RETURN(std::vector<Expr> args, List(")"));
    const std::optional<MathOp> op = ParseMathOp(word);
    const size_t arity = op ? static_cast<size_t>(MathOpArity(*op)) : 1;
    const bool cast = ConsumePrefix(word, "cast."), bitcast = ConsumePrefix(word, "bitcast.");
    const std::optional<DType> dtype = cast || bitcast ? ParseDType(word) : std::nullopt;
    if (!op && !dtype) return lexer_.ErrorAt(offset, "no such operation");
    if (args.size() != arity) return lexer_.ErrorAt(offset, "wrong number of operands");
    if (op) return MakeOp(*op, std::move(args));
    return cast ? CastTo(*dtype, std::move(args[0])) : BitcastTo(*dtype, std::move(args[0]));
  }

  absl::StatusOr<Expr> Constant(DType dtype) {
    if (!IsFloat(dtype)) {
      ASSIGN_OR_RETURN(const int64_t value, lexer_.TakeInteger());
      return IntConst(value, dtype);
    }
    const std::string_view text = lexer_.token().text;
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size())
      return lexer_.Error("expected a number");
    lexer_.Next();
    return FloatConst(value, dtype);
  }

  Lexer lexer_;
  std::map<std::string, Var> vars_;
  std::map<std::string, Buffer> buffers_;
  Bounds sizes_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<LoopNest> ParseLoopNest(std::string_view text) { return NestParser(text).Kernel(); }

}  // namespace attune
