// Later: what keeps a compiler from looking into a function before anybody calls it.
#pragma once

namespace pace {

namespace detail {
template <class T>
struct Same {
  using type = T;
};
}  // namespace detail

/// The same type as `T`, for the parameters of a `template <class T = ...>`: they accept whatever converts to the
/// default, as those of a plain function do.
///
/// Every test parses all of pace that it includes, and of a plain function a compiler looks into everything at once,
/// called or not: which overload each expression means, and every template that it uses. Of a template, only when it is
/// called. So what does the work of a comparison (checking, judging, what it says in words) is made of templates, and
/// costs what it costs where a comparison is run. Where no argument needs to be converted, `const auto&` does: `tensor`
/// is an at::Tensor then, `value` a c10::IValue, `row` an ImplementationResult, `demand` a Demand.
template <class T>
using Later = typename detail::Same<T>::type;

}  // namespace pace
