// Errors: what went wrong, where, and what was expected instead.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace pace {

/// A place in a user's input. Lines and columns count from 1; 0 means "not known".
struct Location {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;

  /// `file:line:column`, leaving out what is not known; empty without a file.
  [[nodiscard]] std::string to_string() const {
    std::string text = file;
    if (line != 0) {
      text += ':' + std::to_string(line);
      if (column != 0) text += ':' + std::to_string(column);
    }
    return text;
  }
};

/// Base of every error that pace throws on purpose. The message says what is wrong and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user's input is wrong at `where`: a file that cannot be read, a malformed line, an unknown option.
class InputError : public Error {
 public:
  InputError(Location where, const std::string& message)
      : Error(where.file.empty() ? message : where.to_string() + ": " + message), where_(std::move(where)) {}

  [[nodiscard]] const Location& where() const noexcept { return where_; }

 private:
  Location where_;
};

/// The input is well-formed, but cannot be run here: no memory for it, no kernel on this device, not implemented.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// A device that was asked for is not there, or not usable: a fault of the machine alone.
class DeviceMissing : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// A device cannot be used any more by this process: a kernel did something illegal, or never ends.
class DeviceLost : public Error {
 public:
  using Error::Error;
};

}  // namespace pace
