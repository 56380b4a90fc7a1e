// Sizes of an exported program as sympy writes them: formulas of one symbol, such as 2*s77+1.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace pace::benches::loaders::detail {

/// `times` * symbol + `plus`.
struct LinearFormula {
  std::string symbol = {};
  std::int64_t times = 0, plus = 0;

  /// As `s77`, `2*s77` or `2*s77-1`.
  [[nodiscard]] std::string to_string() const {
    std::string text = (times == 1 ? "" : std::to_string(times) + '*') + symbol;
    if (plus != 0) text += (plus < 0 ? "" : "+") + std::to_string(plus);
    return text;
  }
};

/// A formula as sympy prints it, in plain notation: `Pow(s77, 2)` for
/// `Pow(Symbol('s77', positive=True, integer=True), Integer(2))`.
[[nodiscard]] inline std::string plain_formula(std::string_view text) {
  std::string plain;
  const auto copy_until = [&](char end) {
    while (!text.empty() && text.front() != end) {
      plain += text.front();
      text.remove_prefix(1);
    }
  };
  while (!text.empty()) {
    constexpr std::string_view symbol = "Symbol('", integer = "Integer(";
    const bool is_symbol = text.starts_with(symbol);
    if (!is_symbol && !text.starts_with(integer)) {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(is_symbol ? symbol.size() : integer.size());
    copy_until(is_symbol ? '\'' : ')');
    text.remove_prefix(std::min(text.find(')'), text.size() - 1) + 1);
  }
  return plain;
}

/// Reads a formula of one symbol as sympy prints it, such as
/// `Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(-1))`.
class LinearFormulaReader {
 public:
  explicit LinearFormulaReader(std::string_view text) : rest_(text) {}

  /// Nothing for a formula of another kind.
  [[nodiscard]] std::optional<LinearFormula> read() {
    auto formula = term(most_depth);
    if (!formula || !rest_.empty() || formula->symbol.empty() || formula->times == 0) return std::nullopt;
    return formula;
  }

 private:
  static constexpr int most_depth = 16;
  static constexpr std::int64_t most = 1 << 30;  // sums and products of two stay exact

  [[nodiscard]] bool accept(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  [[nodiscard]] std::optional<LinearFormula> term(int depth) {
    if (depth == 0) return std::nullopt;
    if (accept("Integer(")) {
      LinearFormula number;
      const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number.plus);
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      return problem == std::errc() && accept(")") ? bounded(number) : std::nullopt;
    }
    if (accept("Symbol('")) {
      const auto quote = rest_.find('\''), end = rest_.find(')');
      if (quote == std::string_view::npos || end == std::string_view::npos || end < quote) return std::nullopt;
      LinearFormula symbol{.symbol = std::string(rest_.substr(0, quote)), .times = 1};
      rest_.remove_prefix(end + 1);
      return symbol;
    }
    const bool is_sum = accept("Add(");
    if (!is_sum && !accept("Mul(")) return std::nullopt;
    auto all = term(depth - 1);
    while (all && !accept(")")) {
      if (!accept(", ")) return std::nullopt;
      const auto next = term(depth - 1);
      if (!next) return std::nullopt;
      all = is_sum ? sum(*all, *next) : product(*all, *next);
    }
    return all;
  }

  [[nodiscard]] static std::optional<LinearFormula> bounded(const LinearFormula& formula) {
    const auto fits = [](std::int64_t number) { return number >= -most && number <= most; };
    return fits(formula.times) && fits(formula.plus) ? std::optional(formula) : std::nullopt;
  }
  [[nodiscard]] static std::optional<LinearFormula> sum(const LinearFormula& a, const LinearFormula& b) {
    if (!a.symbol.empty() && !b.symbol.empty() && a.symbol != b.symbol) return std::nullopt;
    return bounded({a.symbol.empty() ? b.symbol : a.symbol, a.times + b.times, a.plus + b.plus});
  }
  [[nodiscard]] static std::optional<LinearFormula> product(const LinearFormula& a, const LinearFormula& b) {
    if (!a.symbol.empty() && !b.symbol.empty()) return std::nullopt;
    const auto& [symbol, times, plus] = a.symbol.empty() ? b : a;
    const std::int64_t factor = a.symbol.empty() ? a.plus : b.plus;
    return bounded({symbol, times * factor, plus * factor});
  }

  std::string_view rest_;
};

[[nodiscard]] inline std::optional<LinearFormula> linear_formula(std::string_view text) {
  return LinearFormulaReader(text).read();
}

}  // namespace pace::benches::loaders::detail
