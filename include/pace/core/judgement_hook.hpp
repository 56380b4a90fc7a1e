// JudgementHook: where judgements go that are made outside of a comparison, as a matcher makes them.
#pragma once

#include <cstddef>

#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"

namespace pace {

/// A plain pointer, since <functional> would be a sixth of what the gate costs to compile. Set by RunContext.
struct JudgementHook {
  void (*tell)(const void* who, const ImplementationResult&, const Judgement&) = nullptr;
  const void* who = nullptr;
};

/// The hook of this process.
inline JudgementHook& judgement_hook() {
  static JudgementHook hook;
  return hook;
}

/// How often a matcher has not been met on account of judgements that are published, and of nothing else.
inline std::size_t& gates_found_closed() {
  static std::size_t count = 0;
  return count;
}

}  // namespace pace
