// Back ends, and implementations of single operators, that source files of a program register.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/functor.hpp"

namespace pace::benches::operators {

namespace detail {

using Registration = std::function<void(FunctorBackend&)>;

/// Filled before main() begins. It is a type of its own because GCC and Clang name the static variables of a function
/// differently if its type has std::string in it. A program with objects of both compilers would have two of them.
struct Registrations {
  std::vector<std::function<std::unique_ptr<Backend>(const BackendOptions&)>> backends;
  /// By the back end's name.
  std::map<std::string, std::vector<Registration>> by_backend;
};

[[nodiscard]] inline Registrations& registrations() {
  static Registrations all;
  return all;
}

}  // namespace detail

/// Registers a back end, in any source file of a program that has `//benches/operators:program` among its deps:
///
///     const RegisteredBackend mine([](const BackendOptions&) { return std::make_unique<MyBackend>(); });
///
/// and `--backends eager,NAME` compares it, by the name that it has. `static_runtime.cc` is one of pace's own,
/// `examples/own_operator/my_backend.cc` a user's.
struct RegisteredBackend {
  explicit RegisteredBackend(std::function<std::unique_ptr<Backend>(const BackendOptions&)> make) {
    detail::registrations().backends.push_back(std::move(make));
  }
};

/// Makes `function` the implementation of an operator in the back end of that name, which every registry then has. Its
/// parameters and results: see FunctorBackend. Returns true, so that it can stand outside of functions.
template <class F>
bool register_implementation(const std::string& backend, const std::string& op, F function) {
  detail::registrations().by_backend[backend].push_back(
      [op, function = std::move(function)](FunctorBackend& added) { added.implement(op, function); });
  return true;
}

/// Whole back ends sorted by name, since the linker chooses the order of registration. Then back ends of single
/// operators. Throws InputError where a name is taken.
inline void add_registered(BackendRegistry& registry, const BackendOptions& options) {
  std::vector<std::unique_ptr<Backend>> whole;
  for (const auto& make : detail::registrations().backends) whole.push_back(make(options));
  std::ranges::sort(whole, {}, [](const auto& backend) { return backend->name(); });
  for (auto& backend : whole) registry.add(std::move(backend));
  for (const auto& [name, functions] : detail::registrations().by_backend) {
    auto backend = std::make_unique<FunctorBackend>(name);
    for (const auto& add : functions) add(*backend);
    registry.add(std::move(backend));
  }
}

}  // namespace pace::benches::operators

#define PACE_DETAIL_JOIN(a, b) a##b
#define PACE_DETAIL_UNIQUE(name, line) PACE_DETAIL_JOIN(name, line)

/// In any source file of a program that replays operators:
///
///     PACE_OPERATOR("mine", "aten.add.Tensor", [](const at::Tensor& a, const at::Tensor& b) { return my_add(a, b); });
///
/// and `--backends eager,mine` compares it.
#define PACE_OPERATOR(backend, op, ...)                                               \
  [[maybe_unused]] static const bool PACE_DETAIL_UNIQUE(pace_registered_, __LINE__) = \
      ::pace::benches::operators::register_implementation(backend, op, __VA_ARGS__)
