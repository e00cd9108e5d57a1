// How messages write what their reader should give. The same error reaches people on the command line and
// programs in C++ and Python, and each of them names an option in another way.
#ifndef ATTUNE_BASE_FACE_H_
#define ATTUNE_BASE_FACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {

// The interface by which this process is used.
enum class Face : uint8_t { kCommandLine, kCpp, kPython };

// Sets the face of the process; kCommandLine before that. A program sets it before it makes any other call.
void SetFace(Face face);
Face CurrentFace();

// The name of an option: "--records", or in a program "records".
std::string NameAsGiven(std::string_view flag, std::string_view name);

// The sizes of an input, as texts, by its name.
using WrittenShape = std::pair<std::string, std::vector<std::string>>;

// "--shape a=1x64 --shape b=1x64", or as a program gives them to load().
std::string ShapesAsGiven(std::span<const WrittenShape> shapes);

// "--input a=FILE", or as a program gives the value of an input to load().
std::string ValueAsGiven(std::string_view input);

}  // namespace attune

#endif  // ATTUNE_BASE_FACE_H_
