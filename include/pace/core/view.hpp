// View: consecutive values with another owner, to read.
#pragma once

#include <cstddef>

namespace pace {

/// What pace needs of std::span<const T>. A span checks its concepts anew for every type that is turned into one, which
/// took a sixth of what all of pace's headers cost to compile.
template <class T>
class View {
 public:
  constexpr View() = default;
  constexpr View(const T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t count>
  constexpr View(const T (&values)[count]) : View(values, count) {}
  /// A view of a vector, an array, a span. The owner must outlive the view.
  template <class Owner>
    requires requires(const Owner& owner) { View(owner.data(), owner.size()); }
  constexpr View(const Owner& owner) : View(owner.data(), owner.size()) {}

  [[nodiscard]] constexpr const T* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr const T* begin() const { return data_; }
  [[nodiscard]] constexpr const T* end() const { return data_ + size_; }
  [[nodiscard]] constexpr const T& operator[](std::size_t index) const { return data_[index]; }
  [[nodiscard]] constexpr const T& front() const { return data_[0]; }
  [[nodiscard]] constexpr const T& back() const { return data_[size_ - 1]; }

  /// `count` values from `first` on; there must be as many.
  [[nodiscard]] constexpr View subview(std::size_t first, std::size_t count) const { return {data_ + first, count}; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pace
