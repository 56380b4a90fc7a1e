// The door to recorded operators: a recorder of what a piece of code runs, recorded files read back, and inputs made of
// them again.
//
//   pace::inputs::Recorder recorder;
//   step();
//   recorder.write_as({.directory = "recorded", .model = "my_model", .training = true});
#pragma once

#include "pace/corpus/corpus.hpp"
#include "pace/inputs/generate.hpp"
#include "pace/inputs/record.hpp"
