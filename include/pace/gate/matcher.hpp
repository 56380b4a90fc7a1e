// Matcher: base of pace's matchers for Catch2's CHECK_THAT, combined by !, && and ||.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace pace {

/// Result of a matcher for one value. With too few measurements it is neither met nor refuted.
struct MatchResult {
  /// Whether the value is proven to be as expected.
  bool met = false;
  /// Whether the value is proven not to be as expected. The negation is then met.
  bool refuted = false;
  /// Expected and found, as the text after the value in a failure's message.
  std::string text = {};
};

/// Tag of pace's matchers; see Matcher.
struct MatcherTag {};

/// Base of pace's matchers. `Derived` has `MatchResult examine(const V&) const` for each type V that it matches. It
/// must depend on its arguments alone, change neither matcher nor value, and publish nothing. It marks the parts that
/// it looks at (Examined).
///
/// There is no toString(), which Catch2 would call without the value. pace/catch2.hpp has Catch2 print
/// MatchResult::text: include it where you use a matcher in CHECK_THAT.
template <class Derived>
struct Matcher : MatcherTag {  // NOLINT(bugprone-crtp-constructor-accessibility): matchers are aggregates
  /// Returns whether `value` is proven to be as expected.
  template <class V>
  [[nodiscard]] bool match(const V& value) const {
    return static_cast<const Derived&>(*this).examine(value).met;
  }
};

namespace gate {

/// A matcher of pace.
template <class M>
concept PaceMatcher = std::is_base_of_v<MatcherTag, std::remove_cvref_t<M>>;
/// A matcher of pace or of Catch2.
template <class M>
concept AnyMatcher = PaceMatcher<M> || requires(const M& matcher) {
  { matcher.toString() } -> std::convertible_to<std::string>;
};

/// Returns the result of a matcher of pace or Catch2 for `value`. Catch2's are either met or refuted.
template <AnyMatcher M, class V>
[[nodiscard]] MatchResult examine(const M& matcher, const V& value) {
  if constexpr (PaceMatcher<M>) {
    return matcher.examine(value);
  } else {
    const bool met = matcher.match(value);
    return {met, !met, matcher.toString()};
  }
}

/// Met where `M` is refuted, and refuted where `M` is met.
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

/// Met where both are met. Always evaluates both, so that the message has both texts.
template <class Left, class Right>
class AllOf : public Matcher<AllOf<Left, Right>> {
 public:
  /// Makes the conjunction of both matchers.
  AllOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  /// Returns the combined result for `value`; refuted if either is.
  template <class V>
  [[nodiscard]] MatchResult examine(const V& value) const {
    const MatchResult left = gate::examine(left_, value), right = gate::examine(right_, value);
    return {left.met && right.met, left.refuted || right.refuted, "( " + left.text + "\nand " + right.text + " )"};
  }

 private:
  Left left_;
  Right right_;
};

/// Met where at least one of the two is. Always evaluates both.
template <class Left, class Right>
class AnyOf : public Matcher<AnyOf<Left, Right>> {
 public:
  /// Makes the disjunction of both matchers.
  AnyOf(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) {}
  /// Returns the combined result for `value`; refuted if both are.
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

/// Returns a matcher that is met where `matcher` is refuted: by a verdict of `failed`, or by an implementation that ran
/// and is not correct. Undecided or unmeasured values meet neither a matcher nor its negation.
template <gate::PaceMatcher M>
[[nodiscard]] auto operator!(M&& matcher) {
  return gate::Not<std::remove_cvref_t<M>>(std::forward<M>(matcher));
}
/// Returns a matcher that is met where both are. One of them may be Catch2's.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
  requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator&&(Left&& left, Right&& right) {
  return gate::AllOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}
/// Returns a matcher that is met where at least one of the two is. One of them may be Catch2's.
template <gate::AnyMatcher Left, gate::AnyMatcher Right>
  requires gate::PaceMatcher<Left> || gate::PaceMatcher<Right>
[[nodiscard]] auto operator||(Left&& left, Right&& right) {
  return gate::AnyOf<std::remove_cvref_t<Left>, std::remove_cvref_t<Right>>(std::forward<Left>(left),
                                                                            std::forward<Right>(right));
}

}  // namespace pace
