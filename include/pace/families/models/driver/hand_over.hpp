// A file in which the process of one model hands its rows to the one that started it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/families/models/driver/json_record.hpp"
#include "pace/families/models/driver/locked_file.hpp"
#include "pace/families/models/row.hpp"

namespace pace::families::models {

struct HandedOver {
  std::vector<Row> rows;
  /// Of an InputError: no model can be run like that.
  std::optional<std::string> bad_input;
};

/// Each row at once, so that it stays if the next one ends the process. Throws Error if it cannot be written.
inline void hand_over(const std::string& path, const std::string& line) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) throw Error("cannot hand over a row in '" + path + "': " + std::strerror(errno));
  try {
    detail::append_whole(descriptor, path, line);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
}

inline void hand_over(const std::string& path, const Row& row) { hand_over(path, to_line(row)); }

inline void hand_over_bad_input(const std::string& path, const std::string& message) {
  hand_over(path, detail::dump({{"bad_input", message}}) + '\n');
}

/// What is there; the beginning of a line that the process did not end is left out.
[[nodiscard]] inline HandedOver read_handed_over(const std::string& path) {
  HandedOver found;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    constexpr const char* bad_input = "{\"bad_input\":";
    if (line.starts_with(bad_input)) found.bad_input = Json::parse(line).at("bad_input").get<std::string>();
    else found.rows.push_back(row_from(line));
  }
  return found;
}

}  // namespace pace::families::models
