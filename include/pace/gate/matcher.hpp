// Matcher: what pace's matchers for Catch2's CHECK_THAT have in common, and how !, && and || combine them.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

namespace pace {

/// Base of pace's matchers. A matcher M of values V has, beside `match` and `toString`, which Catch2 asks for:
/// `bool holds(const V&) const`: whether V meets it. `bool fails(const V&) const`: whether V was shown not to meet it,
/// which is what meets !M. Neither changes V.
///
/// Where too little was measured to say, `fails` is false. `holds` is false, too, of a claim: such a value meets neither M
/// nor !M. A guard lets it through, so that it meets M; then the program's exit code says so, whatever M is a part of:
/// `void publish_unresolved(const V&) const` publishes what the last call of `holds` or `fails` on V left unresolved.
/// Matchers that leave nothing so have no such function.
struct Matcher {};

namespace gate {

template <class M>
concept PaceMatcher = std::is_base_of_v<Matcher, std::remove_cvref_t<M>>;
/// One of pace's matchers, or of Catch2's.
template <class M>
concept AnyMatcher = PaceMatcher<M> || requires(const M& matcher) {
  std::string(matcher.toString());
};

template <class M, class V>
[[nodiscard]] bool is_met(const M& matcher, const V& value) {
  if constexpr (PaceMatcher<M>)
    return matcher.holds(value);
  else
    return matcher.match(value);
}
template <class M, class V>
[[nodiscard]] bool is_refuted(const M& matcher, const V& value) {
  if constexpr (PaceMatcher<M>)
    return matcher.fails(value);
  else
    return !matcher.match(value);
}

template <class M, class V>
void publish_unresolved(const M& matcher, const V& value) {
  if constexpr (requires { matcher.publish_unresolved(value); }) matcher.publish_unresolved(value);
}

/// Base of the combinations. Of the judgements that they rest on, those that are unresolved are published: a guard that
/// is let through undecided is one in a combination, too, even where another part alone decides.
template <class Derived>
class Combination : public Matcher {
 public:
  template <class V>
  bool match(const V& value) const {
    const auto& self = static_cast<const Derived&>(*this);
    const bool met = self.holds(value);
    self.publish_unresolved(value);
    return met;
  }
};

template <class M>
class Not : public Combination<Not<M>> {
 public:
  explicit Not(M matcher) : matcher_(std::move(matcher)) {}
  template <class V>
  [[nodiscard]] bool holds(const V& value) const {
    return is_refuted(matcher_, value);
  }
  template <class V>
  [[nodiscard]] bool fails(const V& value) const {
    return is_met(matcher_, value);
  }
  template <class V>
  void publish_unresolved(const V& value) const {
    gate::publish_unresolved(matcher_, value);
  }
  [[nodiscard]] std::string toString() const { return "not ( " + matcher_.toString() + " )"; }

 private:
  M matcher_;
};

/// Both are always asked, so that a message has what each of them says.
template <class Left, class Right>
class AllOf : public Combination<AllOf<Left, Right>> {
 public:
  AllOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  template <class V>
  [[nodiscard]] bool holds(const V& value) const {
    const bool left = is_met(left_, value), right = is_met(right_, value);
    return left && right;
  }
  template <class V>
  [[nodiscard]] bool fails(const V& value) const {
    const bool left = is_refuted(left_, value), right = is_refuted(right_, value);
    return left || right;
  }
  template <class V>
  void publish_unresolved(const V& value) const {
    gate::publish_unresolved(left_, value);
    gate::publish_unresolved(right_, value);
  }
  [[nodiscard]] std::string toString() const { return "( " + left_.toString() + "\nand " + right_.toString() + " )"; }

 private:
  Left left_;
  Right right_;
};

template <class Left, class Right>
class AnyOf : public Combination<AnyOf<Left, Right>> {
 public:
  AnyOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  template <class V>
  [[nodiscard]] bool holds(const V& value) const {
    const bool left = is_met(left_, value), right = is_met(right_, value);
    return left || right;
  }
  template <class V>
  [[nodiscard]] bool fails(const V& value) const {
    const bool left = is_refuted(left_, value), right = is_refuted(right_, value);
    return left && right;
  }
  template <class V>
  void publish_unresolved(const V& value) const {
    gate::publish_unresolved(left_, value);
    gate::publish_unresolved(right_, value);
  }
  [[nodiscard]] std::string toString() const { return "( " + left_.toString() + "\nor " + right_.toString() + " )"; }

 private:
  Left left_;
  Right right_;
};

}  // namespace gate

/// Met by what was shown not to meet `matcher`: a verdict of `failed`, or an implementation that ran and is not correct.
/// What is undecided, or was not measured, does not meet it, be it a claim's or a guard's. Of the judgements that it
/// rests on, only those are published that leave a guard unresolved.
template <gate::PaceMatcher M>
[[nodiscard]] auto operator!(M&& matcher) {
  return gate::Not<std::remove_cvref_t<M>>(std::forward<M>(matcher));
}
/// Met by what meets both. One of them may be a matcher of Catch2's. Publishes as `!` does.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator&&(Left&& left, Right&& right) {
  return gate::AllOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}
/// Met by what meets one of them, or both. Otherwise as `&&`.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator||(Left&& left, Right&& right) {
  return gate::AnyOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}

}  // namespace pace
