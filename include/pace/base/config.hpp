// Whether headers include their definitions or a library has compiled them.
//
// By default (PACE_HEADER_ONLY), x.hpp includes x-inl.hpp, whose functions are inline. If PACE_COMPILED is defined, as
// by Bazel's @pace//:pace, x.hpp holds declarations alone, and the library that defines PACE_COMPILED compiles
// x-inl.hpp once.
//
// PACE_NO_AUDIT leaves out the checks of Audit::standard and Audit::strict, for a shorter compilation. All files of a
// program must agree on it.
#pragma once

#if defined(PACE_COMPILED) && defined(PACE_HEADER_ONLY)
#error "PACE_COMPILED and PACE_HEADER_ONLY exclude each other"
#endif
#if defined(PACE_COMPILED) && defined(PACE_NO_AUDIT)
#error "PACE_NO_AUDIT is for PACE_HEADER_ONLY: a compiled pace has its audit"
#endif

#ifdef PACE_COMPILED
#define PACE_INLINE
#else
#ifndef PACE_HEADER_ONLY
#define PACE_HEADER_ONLY
#endif
#define PACE_INLINE inline
#endif
