// Judgements in words: one verdict for several, one text for whatever is not fine, and warnings of what must not be
// overlooked although nothing failed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"

namespace pace::report {

/// How bad a verdict is, where one word stands for several: failed, invalid, undecided, passed.
[[nodiscard]] int badness(Verdict verdict);

/// The worst verdict of the implementation's judgements; empty if nothing was expected of it.
[[nodiscard]] std::optional<Verdict> worst_verdict(const ImplementationResult& result);

/// Whether the outputs are known to be right (true) or wrong (false); empty if they were never compared.
[[nodiscard]] std::optional<bool> is_correct(const ImplementationResult& result);

/// Why the outcome is not `measured`, then each judgement that did not pass; separated by "; ".
[[nodiscard]] std::string all_messages(const ImplementationResult& result);

/// A gate that is open although nothing was proven: one line. Empty for every other.
[[nodiscard]] std::string warning_of(const std::string& comparison, const ImplementationResult& row,
                                     const Judgement& judgement);

/// One line each.
[[nodiscard]] std::vector<std::string> warnings_of(const Result& result);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/judged-inl.hpp"
#endif
