// Matcher: what pace's matchers for Catch2's CHECK_THAT have in common, and how !, && and || combine them.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace pace {

/// What a matcher found out about one value. Where too little was measured to say, it is neither met nor refuted.
struct MatchResult {
  /// The value was shown to be what is expected.
  bool met = false;
  /// The value was shown not to be, which is what meets the negation.
  bool refuted = false;
  /// What was expected and what was found, to follow the value in a failure's message.
  std::string text = {};
};

/// Tag of pace's matchers; see Matcher.
struct MatcherTag {};

/// Base of pace's matchers. `Derived` has `MatchResult examine(const V&) const` for each type V of values that it matches:
/// a function of its arguments alone, which changes neither the matcher nor the value and publishes nothing.
///
/// There is no toString(), which Catch2 would call without the value: pace/catch2.hpp has Catch2 print
/// MatchResult::text. A file that uses a matcher in CHECK_THAT includes that header.
template <class Derived>
struct Matcher : MatcherTag {
  /// Whether `value` was shown to be what is expected.
  template <class V>
  [[nodiscard]] bool match(const V& value) const {
    return static_cast<const Derived&>(*this).examine(value).met;
  }
};

namespace gate {

template <class M>
concept PaceMatcher = std::is_base_of_v<MatcherTag, std::remove_cvref_t<M>>;
/// One of pace's matchers, or of Catch2's.
template <class M>
concept AnyMatcher = PaceMatcher<M> || requires(const M& matcher) {
  { matcher.toString() } -> std::convertible_to<std::string>;
};

/// The same of matchers of either kind. Catch2's leave nothing open.
template <AnyMatcher M, class V>
[[nodiscard]] MatchResult examine(const M& matcher, const V& value) {
  if constexpr (PaceMatcher<M>) {
    return matcher.examine(value);
  } else {
    const bool met = matcher.match(value);
    return {met, !met, matcher.toString()};
  }
}

template <class M>
class Not : public Matcher<Not<M>> {
 public:
  explicit Not(M matcher) : matcher_(std::move(matcher)) {}
  template <class V>
  [[nodiscard]] MatchResult examine(const V& value) const {
    MatchResult inner = gate::examine(matcher_, value);
    return {inner.refuted, inner.met, "not ( " + inner.text + " )"};
  }

 private:
  M matcher_;
};

/// Both are always asked, so that a message has what each of them says.
template <class Left, class Right>
class AllOf : public Matcher<AllOf<Left, Right>> {
 public:
  AllOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  template <class V>
  [[nodiscard]] MatchResult examine(const V& value) const {
    const MatchResult left = gate::examine(left_, value), right = gate::examine(right_, value);
    return {left.met && right.met, left.refuted || right.refuted, "( " + left.text + "\nand " + right.text + " )"};
  }

 private:
  Left left_;
  Right right_;
};

template <class Left, class Right>
class AnyOf : public Matcher<AnyOf<Left, Right>> {
 public:
  AnyOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  template <class V>
  [[nodiscard]] MatchResult examine(const V& value) const {
    const MatchResult left = gate::examine(left_, value), right = gate::examine(right_, value);
    return {left.met || right.met, left.refuted && right.refuted, "( " + left.text + "\nor " + right.text + " )"};
  }

 private:
  Left left_;
  Right right_;
};

}  // namespace gate

/// Met by what was shown not to meet `matcher`: a verdict of `failed`, or an implementation that ran and is not correct.
/// What is undecided, or was not measured, meets neither a matcher nor its negation.
template <gate::PaceMatcher M>
[[nodiscard]] auto operator!(M&& matcher) {
  return gate::Not<std::remove_cvref_t<M>>(std::forward<M>(matcher));
}
/// Met by what meets both. One of them may be a matcher of Catch2's.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
  requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator&&(Left&& left, Right&& right) {
  return gate::AllOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}
/// Met by what meets one of them, or both. One of them may be a matcher of Catch2's.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
  requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator||(Left&& left, Right&& right) {
  return gate::AnyOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}

}  // namespace pace
