#include "library/texts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "library/result.h"

namespace attune::library {
namespace {

// The bytes of an artifact are many: they are not copied.
struct Bytes : attune_bytes {
  std::string content;
};

}  // namespace

char* NewText(const std::string& text) {
  auto* const copy = new char[text.size() + 1];
  *std::ranges::copy(text, copy).out = '\0';
  return copy;
}

const attune_texts* NewTexts(const std::vector<std::string>& texts) {
  auto result = std::make_unique<Result<attune_texts>>();
  result->count = texts.size();
  result->items = result->memory.Texts(texts);
  return result.release();
}

const attune_bytes* NewBytes(std::string bytes) {
  auto result = std::make_unique<Bytes>();
  result->content = std::move(bytes);
  result->count = result->content.size();
  result->data = result->content.data();
  return result.release();
}

}  // namespace attune::library

void attune_text_free(char* text) { delete[] text; }
void attune_texts_free(const attune_texts* texts) { attune::library::FreeResult(texts); }
void attune_bytes_free(const attune_bytes* bytes) {
  delete static_cast<const attune::library::Bytes*>(bytes);
}
