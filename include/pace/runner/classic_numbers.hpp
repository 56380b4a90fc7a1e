// Numbers as text have a decimal point and no separators of thousands, whatever the user's language is.
#pragma once

#include <clocale>
#include <locale>
#include <string>

namespace pace::runner {

/// Makes printf, strtod and the streams that are made from now on write and read numbers as the C locale does. A
/// program or a library of its may have asked for the user's language before (`std::locale::global`, `setlocale`): 1.5
/// would be `1,5` in messages, in names of expectations and in shapes of operands, which runs in another language would
/// not have. Everything else of the locale, such as its characters, stays.
inline void use_classic_numbers() {
  // A global locale of C++ that has a name replaces C's locale as a whole.
  const char* const given = std::setlocale(LC_ALL, nullptr);
  const std::string of_c = given == nullptr ? "C" : given;
  std::locale::global(std::locale(std::locale(), std::locale::classic(), std::locale::numeric));
  static_cast<void>(std::setlocale(LC_ALL, of_c.c_str()));
  static_cast<void>(std::setlocale(LC_NUMERIC, "C"));
}

}  // namespace pace::runner
