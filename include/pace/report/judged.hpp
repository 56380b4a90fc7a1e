// Judgements in words: one verdict for several, one text for all messages, and warnings of gates that are open without
// a proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace::report {

/// Returns the rank of a verdict where one word stands for several; from the highest: failed, invalid, undecided,
/// passed.
[[nodiscard]] int badness(Verdict verdict);

/// Returns the worst verdict of the implementation's judgements; none if it has no judgements.
[[nodiscard]] std::optional<Verdict> worst_verdict(const ImplementationResult& result);

/// Returns whether the outputs are right (true) or wrong (false); none if they were never compared.
[[nodiscard]] std::optional<bool> is_correct(const ImplementationResult& result);

/// Returns the message of an outcome that is not `measured`, then the messages of judgements that did not pass, with ";
/// " between them.
[[nodiscard]] std::string all_messages(const ImplementationResult& result);

/// Returns one line for a gate that is open although nothing was proven; empty for every other gate.
[[nodiscard]] std::string warning_of(const std::string& comparison, const ImplementationResult& row,
                                     const Judgement& judgement);

/// Returns one line for each gate of the result that is open although nothing was proven.
[[nodiscard]] std::vector<std::string> warnings_of(const Result& result);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/judged-inl.hpp"
#endif
