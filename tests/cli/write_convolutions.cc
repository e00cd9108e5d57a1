// write_convolutions FILE: a small model, for scripts that tune one.
#include <fstream>
#include <iostream>

#include "models.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_convolutions FILE\n";
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << attune::ConvolutionsModel();
  return file.good() ? 0 : 1;
}
