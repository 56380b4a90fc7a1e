// FileDescriptor: owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace pace {

/// Owns a file descriptor and closes it in its destructor.
class FileDescriptor {
 public:
  /// Takes ownership of the descriptor `number`; below 0: none.
  explicit FileDescriptor(int number = -1) noexcept : number_(number) {}
  /// Takes ownership of the descriptor of `other`, which then has none.
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  /// Swaps the descriptors of both objects.
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() { static_cast<void>(close()); }

  /// Returns the descriptor; below 0: none.
  [[nodiscard]] int get() const noexcept { return number_; }
  /// Returns whether the object owns a descriptor.
  explicit operator bool() const noexcept { return number_ >= 0; }
  /// Closes the descriptor if there is one. Returns false on an error, with errno set; gives the descriptor up in any
  /// case.
  bool close() noexcept {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

}  // namespace pace
