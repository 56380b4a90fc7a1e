// Records one training step (forward, loss, backward, SGD) of each model into a directory: how pace_train/ was made.
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include <torch/torch.h>

#include "pace/inputs/record.hpp"
#include "pace/report/program_output.hpp"

#include "models.hpp"

namespace {

template <typename Model>
void record_training_step(const std::string& name, const std::filesystem::path& directory) {
  Model model;
  model->train();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01));
  pace::inputs::Recorder recorder;
  model->loss().backward();
  optimizer.step();
  const bool written = recorder.write_as({.directory = directory, .model = name, .training = true});
  for (const auto& [op, reason] : recorder.skipped()) std::cout << op << " is left out: " << reason << '\n';
  std::cout << (written ? "wrote " : "left alone, since it exists: ")
            << (directory / pace::inputs::log_file_name(name, true)).string() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  pace::report::ProgramOutput output;
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY\nRecords the shipped models into files of that directory.\n";
    return 2;
  }
  try {
    const std::filesystem::path directory = argv[1];
    record_training_step<corpus_models::ResidualBlock>("residual_block", directory);
    record_training_step<corpus_models::TransformerBlock>("transformer_block", directory);
    record_training_step<corpus_models::Lstm>("lstm", directory);
    record_training_step<corpus_models::ImageSegmentation>("image_segmentation", directory);
    record_training_step<corpus_models::SentenceClassifier>("sentence_classifier", directory);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return output.exit_code(0, "record");
}
