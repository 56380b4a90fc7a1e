// Recorded operators: a recorder for code that runs, a reader of recorded files, and a generator of inputs.
//
//   pace::inputs::Recorder recorder;
//   step();
//   recorder.write_as({.directory = "recorded", .model = "my_model", .training = true});
#pragma once

#include "pace/corpus/corpus.hpp"
#include "pace/inputs/generate.hpp"
#include "pace/inputs/record.hpp"
