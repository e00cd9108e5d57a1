# cmake -DFILES=… -DOUTPUT=… -P write_build_id.cmake
#
# Writes a source with the digest of the content of all these files.
set(digests "")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 32 digest)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"library/build_id.h\"

namespace attune {
const char* const kBuildId = \"${digest}\";
}  // namespace attune
")
