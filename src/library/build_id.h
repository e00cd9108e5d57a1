// Tells builds of the library and of its worker program apart.
#ifndef ATTUNE_LIBRARY_BUILD_ID_H_
#define ATTUNE_LIBRARY_BUILD_ID_H_

namespace attune {

// 32 hexadecimal digits of a digest of all code in both.
extern const char* const kBuildId;

}  // namespace attune

#endif  // ATTUNE_LIBRARY_BUILD_ID_H_
