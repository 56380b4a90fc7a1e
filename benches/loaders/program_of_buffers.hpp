// Exported programs whose buffers are given by the caller: the values of the buffers, and the program that takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Device.h>
#include <caffe2/serialize/inline_container.h>
#include <nlohmann/json.hpp>

#include "benches/loaders/content.hpp"
#include "benches/loaders/program_facts.hpp"
#include "benches/loaders/written_buffers.hpp"
#include "pace/core/error.hpp"
#include "pace/core/folders.hpp"
#include "pace/core/parse_json.hpp"

namespace pace::benches::loaders {

/// The buffer `name` as the archive has it. Throws Unsupported for one that was pickled, and InputError where
/// it has none.
[[nodiscard]] inline at::Tensor read_buffer(const Content& content, const std::string& model, const std::string& name,
                                            c10::Device device) {
  for (const std::string kind : {"weights", "constants"}) {
    const std::string folder = "data/" + kind + '/', record = folder + model + '_' + kind + "_config.json";
    if (!content.has(record)) continue;
    const auto config = parse_json<nlohmann::json>(content.read(record)).at("config");
    const auto entry = config.find(name);
    if (entry == config.end()) continue;
    if (entry->value("use_pickle", false))
      throw Unsupported(content.path() + ": calls write to the buffer '" + name +
                        "', which was pickled; why: pace reads values of plain tensors alone, to give each side its "
                        "own; try: export the module with a plain tensor as this buffer");
    const auto& meta = entry->at("tensor_meta");
    const auto dtype = detail::exported_dtype(meta.at("dtype").get<int>());
    if (!dtype)
      throw Unsupported(content.path() + ": calls write to the buffer '" + name + "' of type " +
                        std::to_string(meta.at("dtype").get<int>()) +
                        ", which this pace does not know; why: each side is given its own; try: export the module "
                        "with a buffer of another type");
    const auto numbers = [](const nlohmann::json& all) {
      std::vector<std::int64_t> values;
      for (const auto& each : all) values.push_back(each.at("as_int").get<std::int64_t>());
      return values;
    };
    const auto sizes = numbers(meta.at("sizes")), strides = numbers(meta.at("strides"));
    const std::string bytes = content.read(folder + entry->at("path_name").get<std::string>());
    at::Tensor value = at::empty_strided(sizes, strides, at::TensorOptions().dtype(*dtype));
    const auto offset =
        static_cast<std::size_t>(meta.at("storage_offset").at("as_int").get<std::int64_t>()) * value.element_size();
    // require_whole() has compared the sizes before.
    if (value.numel() > 0) std::memcpy(value.mutable_data_ptr(), bytes.data() + offset, value.storage().nbytes());
    return value.to(device);
  }
  throw InputError({content.path()}, "calls write to the buffer '" + name +
                                         "', and the archive has no values of it; why: each side is given its own, "
                                         "which starts from these; try: export the module again");
}

/// A copy of the archive in which `buffers` are the last inputs of `model`. The destructor removes it.
class ProgramOfBuffers {
 public:
  ProgramOfBuffers(const Content& content, const std::string& model, const std::vector<std::string>& buffers)
      : folder_(pace::detail::make_folder_in(std::filesystem::temp_directory_path(), "pace-program-")) {
    const std::string changed = "models/" + model + ".json";
    auto program = parse_json<nlohmann::json>(content.read(changed));
    make_buffers_inputs(program, buffers);
    caffe2::serialize::PyTorchStreamWriter writer(path());
    for (const auto& record : content.records()) {
      // The writer makes these itself.
      if (record == "version" || record == ".data/version" || record == ".data/serialization_id") continue;
      const std::string bytes = record == changed ? program.dump() : content.read(record);
      writer.writeRecord(record, bytes.data(), bytes.size());
    }
    writer.writeEndOfFile();
  }
  ProgramOfBuffers(const ProgramOfBuffers&) = delete;
  ProgramOfBuffers& operator=(const ProgramOfBuffers&) = delete;
  ~ProgramOfBuffers() { pace::detail::remove_tree(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "program.pt2").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace pace::benches::loaders
