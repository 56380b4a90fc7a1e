// Records one training step (forward, loss, backward, SGD) of each model into a directory: how pace_train/ was made.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <torch/torch.h>

#include "pace/corpus/record.hpp"

#include "models.hpp"

namespace {

template <typename Model>
void record_training_step(const std::string& name, const std::filesystem::path& directory) {
  Model model;
  model->train();
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01));
  pace::corpus::Recorder recorder;
  model->loss().backward();
  optimizer.step();
  const bool written = recorder.write_as(directory, name, /*training=*/true);
  for (const auto& [op, reason] : recorder.skipped()) std::printf("%s is left out: %s\n", op.c_str(), reason.c_str());
  std::printf("%s %s\n", written ? "wrote" : "left alone, since it exists:", (directory / pace::corpus::log_file_name(name, true)).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\nRecords the shipped models into files of that directory.\n", argv[0]);
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
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
