// FunctionRef: a callable that is passed down without being copied, as C++26's std::function_ref.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace pace {

template <class Signature>
class FunctionRef;

/// Refers to a callable that outlives the call it is passed to. Takes no memory of its own, so that what is timed is the
/// callable and one indirect call.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Arguments...>)
  FunctionRef(F&& function)  // NOLINT(google-explicit-constructor): a lambda is passed as it is
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return static_cast<Result>((*static_cast<std::add_pointer_t<std::remove_reference_t<F>>>(object))(
              std::forward<Arguments>(arguments)...));
        }) {}

  Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace pace
