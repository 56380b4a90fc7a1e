// ProgramOutput: the standard streams of a program, safe to show, and failing with errors rather than signals.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <iostream>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "pace/os/same_file.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/report/text.hpp"

namespace pace::report {

/// Where the text of the standard streams stands on the terminal, or in the file, of the standard error, for a display
/// there. Text of a standard stream that goes elsewhere does not enter.
struct OutputPlace {
  /// Held by all that read or change the others, and by a display while it writes. Text that is printed while a display
  /// clears itself enters twice.
  std::recursive_mutex mutex = {};
  /// Called before text is printed; empty: there is no display.
  std::function<void()> before_text = {};
  /// Columns of the last line, if its end was not printed yet; 0: the next text begins a line.
  std::size_t column = 0;
};

/// Returns the place of all standard streams of this process.
[[nodiscard]] inline OutputPlace& output_place() {
  static OutputPlace place;
  return place;
}

/// Sets the function to call before text is printed; null: none.
inline void clear_before_text(std::function<void()> clear) {
  auto& place = output_place();
  const std::lock_guard lock(place.mutex);
  place.before_text = std::move(clear);
}

namespace detail {

/// Passes on text that is safe on a terminal: UTF-8 without control characters except line ends, tabs, and the colours
/// that pace and Catch2 set. Everything else is spelt out as by printable(). A name, a file or a compiler's message may
/// hold sequences that clear the screen or hide text. Several threads may print at once, as with the streams
/// themselves.
class SafeBuffer final : public std::streambuf {
 public:
  /// `beside_display`: whether the text goes to where a display is, which must be cleared before.
  explicit SafeBuffer(std::streambuf* out, bool beside_display = true) : out_(out), beside_display_(beside_display) {}

  /// Whether any text that was passed on could not be written.
  [[nodiscard]] bool lost() const { return lost_; }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::lock_guard lock(mutex_);
    waiting_.append(text, static_cast<std::size_t>(size));
    return hand_on(/*all=*/false) ? size : 0;
  }
  int sync() override {
    const std::lock_guard lock(mutex_);
    if (!hand_on(/*all=*/true)) return -1;
    if (out_->pubsync() == 0) return 0;
    lost_ = true;
    return -1;
  }

 private:
  /// Passes on the text that waits. Without `all`, a character or a sequence at its end that is incomplete goes on
  /// waiting.
  bool hand_on(bool all) {
    std::string safe;
    std::string_view rest = waiting_;
    while (!rest.empty()) {
      if (const std::size_t length = colour_at(rest); length > 0) {
        safe += rest.substr(0, length);
        rest.remove_prefix(length);
        continue;
      }
      if (!all && is_begun(rest)) break;
      const std::size_t length = std::max<std::size_t>(first_character(rest).length, 1);
      const bool kept = rest[0] == '\n' || rest[0] == '\t';
      safe += kept ? std::string(rest.substr(0, length)) : printable(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    waiting_ = std::string(rest);
    if (safe.empty()) return true;
    if (beside_display_) enter_place(safe);
    const auto size = static_cast<std::streamsize>(safe.size());
    if (out_->sputn(safe.data(), size) == size) return true;
    lost_ = true;
    return false;
  }

  /// Clears what a display shows, and notes where the text will end.
  static void enter_place(std::string_view text) {
    auto& place = output_place();
    const std::lock_guard lock(place.mutex);
    if (place.before_text) place.before_text();
    if (const auto end = text.rfind('\n'); end != std::string_view::npos) {
      place.column = 0;
      text.remove_prefix(end + 1);
    }
    while (!text.empty()) {
      const std::size_t colour = colour_at(text);
      if (colour == 0 && !continues_character(text[0])) ++place.column;
      text.remove_prefix(std::max<std::size_t>(colour, 1));
    }
  }

  static constexpr std::string_view begin_colour = "\033[", digits = "0123456789;";

  /// Length of the sequence for a colour, or the end of one, at the start of `text`; 0: there is none.
  [[nodiscard]] static std::size_t colour_at(std::string_view text) {
    if (!text.starts_with(begin_colour)) return 0;
    const auto end = text.find_first_not_of(digits, begin_colour.size());
    if (end == std::string_view::npos || text[end] != 'm') return 0;
    const auto numbers = text.substr(begin_colour.size(), end - begin_colour.size());
    for (std::size_t at = 0; at < numbers.size();) {
      const auto stop = std::min(numbers.find(';', at), numbers.size());
      const auto number = numbers.substr(at, stop - at);
      // Reset, bold, dim; colours, and bright ones. Others hide text, or let it blink.
      const bool colour = number.size() == 2 && (number[0] == '3' || number[0] == '9') && number[1] <= '7';
      if (number != "0" && number != "1" && number != "2" && !colour) return 0;
      at = stop + 1;
    }
    return end + 1;
  }

  /// Whether only further text shows what `text` begins with.
  [[nodiscard]] static bool is_begun(std::string_view text) {
    constexpr std::size_t longest_colour = 16;
    if (text[0] == '\033') {
      if (text.size() == 1) return true;
      return text.size() < longest_colour && text.starts_with(begin_colour) &&
             text.find_first_not_of(digits, begin_colour.size()) == std::string_view::npos;
    }
    return begins_character(text);
  }

  std::streambuf* out_;
  bool beside_display_;
  std::mutex mutex_;
  std::string waiting_;
  bool lost_ = false;
};

/// A stream that has another buffer for as long as this lives.
class Filtered {
 public:
  /// See SafeBuffer.
  Filtered(std::ostream& stream, bool beside_display)
      : stream_(stream), own_(stream.rdbuf()), safe_(own_, beside_display) {
    stream.rdbuf(&safe_);
  }
  Filtered(const Filtered&) = delete;
  Filtered& operator=(const Filtered&) = delete;
  ~Filtered() {
    stream_.flush();
    stream_.rdbuf(own_);
  }
  [[nodiscard]] bool lost() const { return safe_.lost(); }

 private:
  std::ostream& stream_;
  std::streambuf* own_;
  SafeBuffer safe_;
};

/// Returns whether the standard output goes to where the standard error does: to one file or pipe, or both to a
/// terminal, which may have two names.
[[nodiscard]] inline bool stdout_is_beside_stderr() {
  struct stat out{}, error{};
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(STDERR_FILENO, &error) != 0) return false;
  return same_file(out, error) || (::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1);
}

/// Opens /dev/null for reading in the place of each standard stream that is closed, so that writing to it fails.
/// Otherwise the first file that the program opens would get the stream's number, and printed text would go into that
/// file.
inline void occupy_closed_streams() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(standard, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/dev/null", O_RDONLY));
}

}  // namespace detail

/// Guards the standard streams; for the main function of a program. While the object lives, std::cout, std::cerr and
/// std::clog pass on no control characters. Once it is made, a write to a pipe without a reader, and one beyond the
/// limit on the size of files, fails with an error: the signals for them would end the process in the middle of a
/// result file. Programs that pace::detail::spawn starts get these signals as this process inherited them. A standard
/// stream that is closed behaves as one that is full. A signal that ends the program removes files and folders without
/// a result; see take_back_when_ended().
class ProgramOutput {
 public:
  ProgramOutput() {
    detail::occupy_closed_streams();
    for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
    take_back_when_ended();
  }

  /// Returns `code`, or `failure` instead of 0 if text for the standard output could not be written. In that case a
  /// message with the name of the `program` goes to the standard error.
  [[nodiscard]] int exit_code(int code, const char* program, int failure = 1) {
    std::cout.flush();
    if (!out_.lost()) return code;
    std::cerr << program << ": not all that was printed could be written: the standard output is closed or full\n";
    return code == 0 ? failure : code;
  }

 private:
  detail::Filtered out_{std::cout, detail::stdout_is_beside_stderr()}, err_{std::cerr, true}, log_{std::clog, true};
};

}  // namespace pace::report
