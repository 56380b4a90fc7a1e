// do_not_optimize: makes the compiler believe that a value is used, without storing it anywhere.
#pragma once

namespace pace {

template <class T>
inline void do_not_optimize(const T& value) {
  // The address escapes into an empty instruction that may read all memory: nothing that leads to `value` can go.
  asm volatile("" : : "g"(&value) : "memory");
}

/// Makes the compiler assume that all memory was read and written here.
inline void clobber_memory() { asm volatile("" : : : "memory"); }

}  // namespace pace
