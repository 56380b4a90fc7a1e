// UnseenKind: the kinds of unseen values, the order in which we try them, and their words.
#pragma once

#include <string>

namespace pace::detail {

/// A kind of unseen values: a family, which says how floating-point values change, and how much changes besides.
struct UnseenKind {
  /// From the fewest changes to the most.
  enum class Family {
    /// There is nothing to change, or no change shows in an output or a place.
    none,
    /// Every floating-point tensor keeps its values, but in other places. For code that does not depend on scale at
    /// all, such as a normalisation.
    rotate,
    /// As scale, but by another power of two for each tensor. For code that depends on ratios only.
    scale_each,
    /// All floating-point values are multiplied by one random factor in [1/2, 1). This keeps order, ties, symmetry,
    /// positive definiteness and ratios.
    scale,
    /// Every floating-point value is multiplied by a random factor of its own in [1/2, 1). Signs, zeros and ranges such
    /// as [0, 1] and [-1, 1] stay. A tensor with special values (ValueStructure::needs_common_factor()) is scaled as a
    /// whole instead.
    vary,
    /// As vary, but a tensor with special values gets others with the same structure (rearrange_values()). It is scaled
    /// as a whole only where there are none.
    rearrange,
    /// As rearrange, but one in eight floating-point whole numbers takes the value of another one. For code that does
    /// not depend on places, such as a sort.
    resample,
  };
  using enum Family;

  /// How integers and bools change. They may be indices, offsets or masks, and few others of those are valid.
  enum class Integers {
    stay,
    /// They roll along place_free_dim() by a random number of places.
    move,
    /// They move; then one in eight, floating-point whole numbers too, takes the value of another one, as replace_dim()
    /// allows. One in eight bools takes the other value. Counts, sums and sorted orders change as well.
    replace,
  };

  constexpr UnseenKind(Family of_values = none, bool of_signs = false, Integers of_integers = Integers::stay)
      : family(of_values), signs(of_signs), integers(of_integers) {}

  Family family;
  /// One value in eight of a real tensor gets the other sign, and complex values turn by random angles. Tensors with
  /// special values, or with one sign, stay as they are.
  bool signs;
  Integers integers;

  friend constexpr bool operator==(const UnseenKind&, const UnseenKind&) = default;

  /// Whether values without a structure get factors of their own.
  [[nodiscard]] constexpr bool varies() const { return family >= vary; }
  /// Whether values with a structure get others that have it.
  [[nodiscard]] constexpr bool rearranges() const { return family >= rearrange; }
  [[nodiscard]] constexpr bool moves_integers() const { return integers != Integers::stay; }
};

/// All kinds in the order in which we try them. The first one that the baseline takes, and that changes an output, is
/// used.
inline constexpr UnseenKind unseen_kinds[] = {
    {UnseenKind::rearrange, /*of_signs=*/true, UnseenKind::Integers::replace},
    {UnseenKind::rearrange, /*of_signs=*/false, UnseenKind::Integers::replace},
    {UnseenKind::rearrange, /*of_signs=*/true, UnseenKind::Integers::move},
    {UnseenKind::rearrange, /*of_signs=*/false, UnseenKind::Integers::move},
    {UnseenKind::rearrange, /*of_signs=*/true},
    {UnseenKind::rearrange},
    {UnseenKind::resample},
    {UnseenKind::vary, /*of_signs=*/true},
    {UnseenKind::vary},
    {UnseenKind::scale},
    {UnseenKind::scale_each},
    {UnseenKind::rotate},
};

[[nodiscard]] inline std::string to_string(UnseenKind kind) {
  switch (kind.family) {
    case UnseenKind::none:
      return "unchanged";
    case UnseenKind::rotate:
      return "in another order";
    case UnseenKind::scale_each:
      return "each scaled by a power of two";
    case UnseenKind::scale:
      return "scaled by a random factor";
    default:
      break;
  }
  std::string words = "varied at random";
  if (kind.rearranges()) words += " within their structure";
  if (kind.signs) words += ", signs too";
  if (kind.integers == UnseenKind::Integers::replace)
    words += ", some whole numbers replaced by others, and integers in other places";
  else if (kind.integers == UnseenKind::Integers::move)
    words += ", and integers in other places";
  else if (kind.family == UnseenKind::resample)
    words += ", and some whole numbers replaced by others";
  return words;
}

}  // namespace pace::detail
