// do_not_optimize: makes the compiler assume that a value is used, without storing it.
#pragma once

namespace pace {

/// Makes the compiler assume that `value` is used here, so that its computation stays.
template <class T>
inline void do_not_optimize(const T& value) {
  // An empty instruction takes the address and may read all memory, so `value` must have been computed.
  asm volatile("" : : "g"(&value) : "memory");
}

/// Makes the compiler assume that all memory was read and written here.
inline void clobber_memory() { asm volatile("" : : : "memory"); }

}  // namespace pace
