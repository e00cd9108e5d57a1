// The canonical text of a task: its key, and a short description for people.
#ifndef ATTUNE_TUNE_TASK_TASK_TEXT_H_
#define ATTUNE_TUNE_TASK_TASK_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace attune {

// The key of a task: the SHA-256 of its text, in hexadecimal.
std::string TaskDigest(std::string_view task);

// Describes a task in a table: for a printed graph, "conv+bias+relu f32[1,64,56,56] f32[64,64,3,3] ->
// f32[1,64,56,56]"; for other texts, the first line. One line without control characters, at most
// `max_bytes` long.
std::string DescribeTask(std::string_view task, size_t max_bytes);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_TASK_TEXT_H_
