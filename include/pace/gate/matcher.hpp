// Matcher: base of pace's matchers for Catch2's CHECK_THAT, and their combination by !, && and ||.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace pace {

/// Result of a matcher for one value. It is neither met nor refuted if there are too few measurements.
struct MatchResult {
  /// Whether the value is proven to be as expected.
  bool met = false;
  /// Whether the value is proven not to be as expected, which meets the negation.
  bool refuted = false;
  /// Expected and found, as text that follows the value in the message of a failure.
  std::string text = {};
};

/// Tag of pace's matchers; see Matcher.
struct MatcherTag {};

/// Base of pace's matchers. `Derived` has `MatchResult examine(const V&) const` for each type V of values that it
/// matches: a function of its arguments alone, which changes neither the matcher nor the value and publishes nothing.
/// It marks what it has looked at (Examined).
///
/// There is no toString(), which Catch2 would call without the value: pace/catch2.hpp has Catch2 print
/// MatchResult::text. A file that uses a matcher in CHECK_THAT includes that header.
template <class Derived>
struct Matcher : MatcherTag {  // NOLINT(bugprone-crtp-constructor-accessibility): matchers are aggregates
  /// Returns whether `value` is proven to be as expected.
  template <class V>
  [[nodiscard]] bool match(const V& value) const {
    return static_cast<const Derived&>(*this).examine(value).met;
  }
};

namespace gate {

/// One of pace's matchers.
template <class M>
concept PaceMatcher = std::is_base_of_v<MatcherTag, std::remove_cvref_t<M>>;
/// One of pace's matchers, or of Catch2's.
template <class M>
concept AnyMatcher = PaceMatcher<M> || requires(const M& matcher) {
  { matcher.toString() } -> std::convertible_to<std::string>;
};

/// Returns the result of a matcher of pace or Catch2 for `value`. A matcher of Catch2 is either met or refuted.
template <AnyMatcher M, class V>
[[nodiscard]] MatchResult examine(const M& matcher, const V& value) {
  if constexpr (PaceMatcher<M>) {
    return matcher.examine(value);
  } else {
    const bool met = matcher.match(value);
    return {met, !met, matcher.toString()};
  }
}

/// Matcher that is met where `M` is refuted, and refuted where `M` is met.
template <class M>
class Not : public Matcher<Not<M>> {
 public:
  /// Makes the negation of `matcher`.
  explicit Not(M matcher) : matcher_(std::move(matcher)) {}
  /// Returns the negated result for `value`.
  template <class V>
  [[nodiscard]] MatchResult examine(const V& value) const {
    MatchResult inner = gate::examine(matcher_, value);
    return {inner.refuted, inner.met, "not ( " + inner.text + " )"};
  }

 private:
  M matcher_;
};

/// Matcher that is met where both are met. Both are always evaluated, so that the message has the texts of both.
template <class Left, class Right>
class AllOf : public Matcher<AllOf<Left, Right>> {
 public:
  /// Makes the conjunction of both matchers.
  AllOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  /// Returns the combined result for `value`; refuted if one of the matchers is.
  template <class V>
  [[nodiscard]] MatchResult examine(const V& value) const {
    const MatchResult left = gate::examine(left_, value), right = gate::examine(right_, value);
    return {left.met && right.met, left.refuted || right.refuted, "( " + left.text + "\nand " + right.text + " )"};
  }

 private:
  Left left_;
  Right right_;
};

/// Matcher that is met where at least one of the two is met. Both are always evaluated.
template <class Left, class Right>
class AnyOf : public Matcher<AnyOf<Left, Right>> {
 public:
  /// Makes the disjunction of both matchers.
  AnyOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  /// Returns the combined result for `value`; refuted if both matchers are.
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

/// Returns a matcher that is met where `matcher` is refuted: by a verdict of `failed`, or an implementation that ran
/// and is not correct. Values that are undecided or were not measured meet neither a matcher nor its negation.
template <gate::PaceMatcher M>
[[nodiscard]] auto operator!(M&& matcher) {
  return gate::Not<std::remove_cvref_t<M>>(std::forward<M>(matcher));
}
/// Returns a matcher that is met where both are met. One of them may be a matcher of Catch2.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
  requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator&&(Left&& left, Right&& right) {
  return gate::AllOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}
/// Returns a matcher that is met where at least one of the two is met. One of them may be a matcher of Catch2.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
  requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator||(Left&& left, Right&& right) {
  return gate::AnyOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}

}  // namespace pace
