// PlainStream: text on its way to a terminal, without what would control that terminal.
#pragma once

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "pace/report/text.hpp"

namespace pace::benches::models {

namespace detail {

/// Holds back the line that has no end yet, until it is flushed.
class PlainBuffer final : public std::streambuf {
 public:
  explicit PlainBuffer(std::ostream& to) : to_(to) {}
  PlainBuffer(const PlainBuffer&) = delete;
  PlainBuffer& operator=(const PlainBuffer&) = delete;
  ~PlainBuffer() override { write(held_.size()); }

 protected:
  int_type overflow(int_type c) override {
    const char character = traits_type::to_char_type(c);
    if (!traits_type::eq_int_type(c, traits_type::eof())) (void)xsputn(&character, 1);
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    held_.append(text, static_cast<std::size_t>(size));
    if (const auto end = held_.rfind('\n'); end != std::string::npos) write(end + 1);
    return size;
  }
  int sync() override {
    write(held_.size() - unfinished());
    to_ << std::flush;
    return to_ ? 0 : -1;
  }

 private:
  void write(std::size_t size) {
    to_ << report::printable_lines(std::string_view(held_).substr(0, size));
    held_.erase(0, size);
  }

  /// Bytes at the end that may begin a character of UTF-8 whose rest comes later.
  [[nodiscard]] std::size_t unfinished() const {
    for (std::size_t back = 1; back <= 3 && back <= held_.size(); ++back) {
      const auto byte = static_cast<unsigned char>(held_[held_.size() - back]);
      if ((byte & 0xC0U) == 0x80U) continue;
      const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
      return length > back ? back : 0;
    }
    return 0;
  }

  std::ostream& to_;
  std::string held_;
};

}  // namespace detail

/// Control characters of names, values and messages come out spelt: `\x1b`. Line ends stay.
class PlainStream final : public std::ostream {
 public:
  /// `to` must outlive it.
  explicit PlainStream(std::ostream& to) : std::ostream(nullptr), buffer_(to) { rdbuf(&buffer_); }

 private:
  detail::PlainBuffer buffer_;
};

}  // namespace pace::benches::models
