// demangled: names of C++ symbols and types as in source code.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace pace {

/// Returns the demangled name of a symbol or of a type; a name that is not mangled unchanged.
[[nodiscard]] inline std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

}  // namespace pace
