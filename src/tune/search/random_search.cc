// Random candidates: for comparison, and hard to beat if there are many good ones.
#include "tune/search/search_base.h"

namespace attune {
namespace {

class RandomSearch : public SearchBase {
 public:
  using SearchBase::SearchBase;

 protected:
  void Extend(const SearchState&) override { AddRandom(missing()); }
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeRandomSearch(const SearchOptions& options) {
  return std::make_unique<RandomSearch>(options);
}

}  // namespace attune
