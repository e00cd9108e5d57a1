// Text on the terminal that is updated in place.
#ifndef ATTUNE_CLI_LIVE_TEXT_H_
#define ATTUNE_CLI_LIVE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace attune {

// Writes to stderr. The text is erased by the destructor.
class LiveText {
 public:
  LiveText();
  ~LiveText() { Erase(); }
  LiveText(const LiveText&) = delete;
  LiveText& operator=(const LiveText&) = delete;

  // Whether stderr is a terminal; if not, nothing is to be drawn.
  bool is_terminal() const { return is_terminal_; }
  // Whether the last text is old enough to be drawn anew.
  bool is_due() const;
  // The size of the terminal.
  size_t rows() const;
  size_t columns() const;

  // The first lines of the text that fit on the terminal, each cut.
  std::string Fitted(const std::string& text) const;
  // Replaces the text, whose lines end with newlines.
  void Draw(const std::string& text);
  void Erase();
  // Prints a line that stays.
  void Note(const std::string& line);

 private:
  const bool is_terminal_;
  int drawn_lines_ = 0;
  double last_drawn_ = 0;
};

// Cuts the line after `width` columns; each character counts as one column.
std::string Cut(std::string line, size_t width);

// "75 s", "12:05 min", "3:20 h".
std::string FormatDuration(double seconds);

// "2026-03-01 12:05:09", in the local time zone. `time_ms` is since 1970, UTC.
std::string FormatTime(int64_t time_ms);

}  // namespace attune

#endif  // ATTUNE_CLI_LIVE_TEXT_H_
