// Texts and bytes as results of the C interface.
#ifndef ATTUNE_LIBRARY_TEXTS_H_
#define ATTUNE_LIBRARY_TEXTS_H_

#include <string>
#include <vector>

#include "attune/tensor.h"

namespace attune::library {

char* NewText(const std::string& text);
const attune_texts* NewTexts(const std::vector<std::string>& texts);
const attune_bytes* NewBytes(std::string bytes);

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_TEXTS_H_
