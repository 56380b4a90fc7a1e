// Options of a comparison and of its check, from Python's values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include <pybind11/pybind11.h>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/check/check_options.hpp"
#include "pace/options.hpp"

namespace pace::python {

namespace py = pybind11;

[[nodiscard]] inline Nanoseconds from_seconds(double seconds) { return Nanoseconds(seconds * 1e9); }

/// Returns the value of the enumeration whose to_string() is `name`. Throws Error, with all names, for another one.
template <class Enum>
[[nodiscard]] Enum named(const std::string& option, const std::string& name, std::initializer_list<Enum> all) {
  std::string expected;
  for (const Enum each : all) {
    if (name == to_string(each)) return each;
    expected += (expected.empty() ? "'" : ", '") + std::string(to_string(each)) + '\'';
  }
  throw Error(option + "='" + name + "'; expected one of " + expected);
}

/// The values of an option in words.
template <class Value>
[[nodiscard]] constexpr const char* kind_of() {
  if (std::is_same_v<Value, bool>) return "True or False";
  if (std::is_same_v<Value, std::string>) return "a text in quotes";
  if (std::is_same_v<Value, std::vector<std::string>>) return "a list of names";
  if (std::is_floating_point_v<Value>) return "a number";
  return std::is_signed_v<Value> ? "a whole number" : "a whole number from 0 on";
}

/// Returns the value of an option. Throws Error for one of another type or out of range.
template <class Value>
[[nodiscard]] Value value_of(const std::string& option, const py::object& value) {
  try {
    // pybind11 would take numbers for bools, and the other way round.
    if (std::is_same_v<Value, bool> == (PyBool_Check(value.ptr()) != 0)) return value.cast<Value>();
  } catch (const py::cast_error&) {
  }
  throw Error(option + '=' + std::string(py::repr(value)) + "; expected " + kind_of<Value>());
}

/// Sets an option by its name; times in seconds. Throws Error for an unknown name.
inline void set_option(Options& options, const std::string& name, const py::object& value) {
  const auto seconds = [&] { return from_seconds(value_of<double>(name, value)); };
  if (name == "budget") {
    options.budget = seconds();
    options.hard_limit = std::max(options.hard_limit, options.budget);
  } else if (name == "hard_limit") {
    options.hard_limit = seconds();
  } else if (name == "least_duration") {
    options.least_duration = seconds();
  } else if (name == "warm_up") {
    options.warm_up = seconds();
  } else if (name == "min_sample") {
    options.min_sample = seconds();
  } else if (name == "max_rounds") {
    options.max_rounds = value_of<std::size_t>(name, value);
  } else if (name == "max_iterations") {
    options.max_iterations = value_of<std::int64_t>(name, value);
  } else if (name == "confidence") {
    options.confidence = value_of<double>(name, value);
  } else if (name == "alpha") {
    options.alpha = value_of<double>(name, value);
  } else if (name == "beta") {
    options.beta = value_of<double>(name, value);
  } else if (name == "seed") {
    options.seed = value_of<std::uint64_t>(name, value);
  } else if (name == "check_seed") {
    options.check_seed = value_of<std::uint64_t>(name, value);
  } else if (name == "max_interference") {
    options.max_interference = value_of<double>(name, value);
  } else if (name == "controls") {
    options.controls = value_of<bool>(name, value);
  } else if (name == "energy") {
    options.energy = value_of<bool>(name, value);
  } else if (name == "counters") {
    options.counters = value_of<std::vector<std::string>>(name, value);
  } else if (name == "audit") {
    options.audit = named(name, value_of<std::string>(name, value), {Audit::off, Audit::standard, Audit::strict});
  } else if (name == "stop") {
    options.stop = named(name, value_of<std::string>(name, value), {StopPolicy::decided, StopPolicy::budget});
  } else if (name == "operands") {
    options.operands = named(name, value_of<std::string>(name, value),
                             {OperandPolicy::crossover, OperandPolicy::fixed, OperandPolicy::shared});
  } else if (name == "clock") {
    options.clock = named(name, value_of<std::string>(name, value),
                          {ClockChoice::automatic, ClockChoice::cold, ClockChoice::hot, ClockChoice::graph,
                           ClockChoice::host, ClockChoice::wall});
  } else if (name == "isolate") {
    options.isolate = named(name, value_of<std::string>(name, value), {Isolate::none, Isolate::sides});
  } else if (name == "processes") {
    throw Error(
        "options(processes=...): several processes judge a whole program, and this is a part of yours; try: "
        "//benches/files with --processes, which compares functions of Python files");
  } else {
    throw Error("there is no option '" + name +
                "'; expected one of budget, hard_limit, least_duration, warm_up, min_sample, max_rounds, "
                "max_iterations, confidence, alpha, beta, seed, check_seed, max_interference, controls, counters, "
                "energy, audit, stop, operands, clock, isolate");
  }
}

/// Sets an option of the check by its name. Throws Error for an unknown name.
inline void set_check(check::CheckOptions& options, const std::string& name, const py::object& value) {
  using Method = check::CheckOptions::Method;
  if (name == "rtol") {
    options.rtol = value_of<double>(name, value);
  } else if (name == "atol") {
    options.atol = value_of<double>(name, value);
  } else if (name == "reduction_length") {
    options.reduction_length = value_of<std::int64_t>(name, value);
  } else if (name == "equal_nan") {
    options.equal_nan = value_of<bool>(name, value);
  } else if (name == "edge_values") {
    options.edge_values = value_of<bool>(name, value);
  } else if (name == "autograd") {
    options.check_autograd = value_of<bool>(name, value);
  } else if (name == "unseen_values") {
    using Unseen = check::CheckOptions::UnseenValues;
    const auto of = value_of<std::string>(name, value);
    if (of != "varied" && of != "scaled" && of != "none")
      throw Error("unseen_values='" + of + "'; expected one of 'varied', 'scaled', 'none'");
    options.unseen_values = of == "varied" ? Unseen::varied : of == "scaled" ? Unseen::scaled : Unseen::none;
  } else if (name == "method") {
    const auto of = value_of<std::string>(name, value);
    if (of == "allclose")
      options.method = Method::allclose;
    else if (of == "cosine")
      options.method = Method::cosine;
    else if (of == "bitwise")
      options.method = Method::bitwise;
    else if (of == "none")
      options.method = Method::none;
    else
      throw Error("method='" + of +
                  "'; expected one of 'allclose', 'cosine', 'bitwise', 'none', or order_free() and its like");
  } else {
    throw Error("there is no option '" + name +
                "' of check(); expected one of method, rtol, atol, reduction_length, equal_nan, edge_values, autograd, "
                "unseen_values");
  }
}

}  // namespace pace::python
