#include "tensor/replace_buffers.h"

#include <memory>
#include <utility>

namespace attune {
namespace {

class BufferReplacement {
 public:
  explicit BufferReplacement(const std::map<Buffer, Buffer>& replaced) : replaced_(replaced) {
    rewriter_.load = [this](const Buffer& buffer, const std::vector<Expr>& indices) {
      const auto found = replaced_.find(buffer);
      return found == replaced_.end() ? Expr() : CastTo(buffer->dtype, Load(found->second, indices));
    };
  }

  Buffer In(const Buffer& buffer) const {
    const auto found = replaced_.find(buffer);
    return found == replaced_.end() ? buffer : found->second;
  }

  Stmt In(const Stmt& s) const {
    if (s == nullptr) return s;
    StmtNode copy = *s;
    copy.buffer = In(s->buffer);
    for (Expr* e : {&copy.value, &copy.condition, &copy.min, &copy.extent}) {
      if (*e) *e = Rewrite(*e, rewriter_);
    }
    if (copy.kind == StmtKind::kStore) copy.value = CastTo(copy.buffer->dtype, copy.value);
    for (Expr& index : copy.indices) index = Rewrite(index, rewriter_);
    for (Stmt& child : copy.children) child = In(child);
    copy.body = In(copy.body);
    copy.else_body = In(copy.else_body);
    return std::make_shared<const StmtNode>(std::move(copy));
  }

 private:
  const std::map<Buffer, Buffer>& replaced_;
  ExprRewriter rewriter_;
};

}  // namespace

LoopNest ReplaceBuffers(LoopNest nest, const std::map<Buffer, Buffer>& replaced) {
  const BufferReplacement replacement(replaced);
  for (LoopNest::Param& param : nest.params) param.buffer = replacement.In(param.buffer);
  for (Stmt& root : nest.roots) root = replacement.In(root);
  return nest;
}

}  // namespace attune
