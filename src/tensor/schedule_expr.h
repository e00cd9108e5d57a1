// What the parts of the scheduler ask of expressions.
#ifndef ATTUNE_TENSOR_SCHEDULE_EXPR_H_
#define ATTUNE_TENSOR_SCHEDULE_EXPR_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensor/compute.h"

namespace attune {

std::set<const VarNode*> Variables(const Expr& e);
bool Mentions(const Expr& e, const Var& var);
bool MentionsAny(const Expr& e, const std::set<const VarNode*>& vars);

// Appends the parts of a && b && c to `out`.
void Conjuncts(const Expr& e, std::vector<Expr>& out);

// `e`, which may be null, with some variables replaced.
Expr ReplaceVars(const Expr& e, const std::map<const VarNode*, Expr>& values);

// The buffer of that name that the stage's value reads, or null.
Buffer FindRead(const Stage& stage, const std::string& name);

// Adds every buffer that a statement (or null) reads or writes.
void CollectBuffers(const Stmt& s, std::set<const BufferNode*>& used);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_EXPR_H_
