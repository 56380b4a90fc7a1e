// Outputs in files, for a comparison bit by bit with another run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <ATen/core/ivalue.h>
#include <c10/util/Exception.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include "benches/models/run/whole_file.hpp"
#include "pace/base/error.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/os/read_file.hpp"

namespace pace::benches::models {

/// The file of a model's outputs in a folder: `NAME_BACKEND_inference.pt`.
[[nodiscard]] inline std::filesystem::path outputs_path(const std::string& folder, const std::string& model,
                                                        const std::string& backend, bool training) {
  return std::filesystem::path(folder) / (model + '_' + backend + (training ? "_training.pt" : "_inference.pt"));
}

/// As torch.save has it: PyTorch loads it, too. The folder is made if need be. Throws Error naming the file, or the
/// folder.
inline void save_outputs(const c10::IValue& outputs, const std::filesystem::path& path) {
  const std::vector<char> bytes = torch::jit::pickle_save(outputs);
  const NewFolders folders(path.parent_path());
  write_whole(path, {bytes.data(), bytes.size()});
}

/// Throws InputError naming the file where there is none, or it holds something else.
[[nodiscard]] inline c10::IValue load_outputs(const std::filesystem::path& path) {
  const std::string text = read_file(path.string(), "outputs that an earlier run has saved");
  const std::vector<char> bytes(text.begin(), text.end());
  try {
    return torch::jit::pickle_load(bytes);
  } catch (const std::exception&) {
    throw InputError({path.string()}, "expected outputs that an earlier run has saved, found something else");
  }
}

}  // namespace pace::benches::models
