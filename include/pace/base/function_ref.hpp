// FunctionRef: a reference to a callable, as C++26's std::function_ref.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace pace {

/// A reference to a callable of the given signature; the specialisation below holds its members.
template <class Signature>
class FunctionRef;

/// A reference to a callable, for a parameter: the callable must outlive the reference. It allocates no memory, so that
/// timed code is the callable and one indirect call.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  /// Refers to `function`, which may be a temporary that lives until the end of the full expression.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Arguments...>)
  FunctionRef(F&& function)  // NOLINT(google-explicit-constructor): a lambda is passed as it is
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return static_cast<Result>((*static_cast<std::add_pointer_t<std::remove_reference_t<F>>>(object))(
              std::forward<Arguments>(arguments)...));
        }) {}

  /// Calls the callable.
  Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace pace
