// Says what a photo shows, with libattune_runtime.so alone.
//
//     attune compile mobilenet_v1.tflite -o mobilenet.atn
//     classify_photo mobilenet.atn names.txt cat.ppm
//
// The network takes f32[1,height,width,3] from -1 to 1, and gives a score for each class. The photo is a
// binary PPM of any size (P6, as `convert cat.jpg cat.ppm` makes it); names.txt has the name of a class on
// each line.
#include <algorithm>
#include <attune/attune.hpp>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Writes the photo into `pixels`, which are height x width x 3: each is the photo's nearest one.
void ReadPhoto(const char* path, size_t height, size_t width, std::span<float> pixels) {
  std::ifstream file(path, std::ios::binary);
  std::string kind;
  size_t photo_width = 0, photo_height = 0, largest = 0;
  file >> kind >> photo_width >> photo_height >> largest;
  if (kind != "P6" || largest != 255 || photo_width > 10000 || photo_height > 10000) {
    throw std::runtime_error(std::string(path) + ": is not a binary PPM with samples of one byte");
  }
  std::vector<unsigned char> photo(photo_width * photo_height * 3);
  file.ignore(1).read(reinterpret_cast<char*>(photo.data()), static_cast<std::streamsize>(photo.size()));
  if (!file || photo.empty()) throw std::runtime_error(std::string(path) + ": is cut short");
  for (size_t i = 0; i < pixels.size(); ++i) {
    const size_t y = i / 3 / width * photo_height / height, x = i / 3 % width * photo_width / width;
    pixels[i] = static_cast<float>(photo[(y * photo_width + x) * 3 + i % 3]) / 127.5f - 1;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("usage: classify_photo NETWORK.atn NAMES PHOTO.ppm");
  const attune::runtime::Model model(argv[1]);
  attune::runtime::Session session(model);
  const std::span<const int64_t> shape = model.input(0).shape;
  if (shape.size() != 4 || shape[3] != 3) throw std::runtime_error("the network does not take a photo");
  ReadPhoto(argv[3], static_cast<size_t>(shape[1]), static_cast<size_t>(shape[2]), session.input<float>(0));
  session.run();

  std::vector<std::string> names;
  std::ifstream file(argv[2]);
  for (std::string name; std::getline(file, name);) names.push_back(name);
  const std::span<const float> scores = session.output(0).as<float>();
  const auto best = static_cast<size_t>(std::ranges::max_element(scores) - scores.begin());
  std::printf("%s (%.2f)\n", best < names.size() ? names[best].c_str() : "a class without a name",
              scores[best]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
