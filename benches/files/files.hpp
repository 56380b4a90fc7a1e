// The door of this package for programs that open files: their kinds, their inputs, their state, and their compiled
// forms. Programs include no header of `loaders` and `kernels` themselves (tests/build/rooms_test.py).
#pragma once

#include "benches/files/loaders/call_inputs.hpp"
#include "benches/files/loaders/cases.hpp"
#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/exported.hpp"
#include "benches/files/loaders/exported_packages.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/loaders.hpp"
#include "benches/files/loaders/package.hpp"
#include "benches/files/loaders/same_state.hpp"
#include "benches/files/loaders/torchscript.hpp"
#include "benches/files/loaders/trust.hpp"
#include "benches/files/loaders/whole_weights.hpp"
