// Exported programs that get their buffers from the caller: the values of the buffers, and the program that takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/statvfs.h>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Device.h>
#include <caffe2/serialize/inline_container.h>
#include <nlohmann/json.hpp>

#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/program_facts.hpp"
#include "benches/files/loaders/written_buffers.hpp"
#include "pace/base/error.hpp"
#include "pace/os/folders.hpp"
#include "pace/os/parse_json.hpp"

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

/// A copy of the archive that has `buffers` as the last inputs of `model`. The destructor removes it.
class ProgramOfBuffers {
 public:
  /// Throws Unsupported where `parent` has no place for the copy.
  ProgramOfBuffers(const Content& content, const std::string& model, const std::vector<std::string>& buffers,
                   const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : folder_(with_space(content, parent)) {
    const std::string changed = "models/" + model + ".json";
    auto program = parse_json<nlohmann::json>(content.read(changed));
    make_buffers_inputs(program, buffers);
    std::ofstream file(path(), std::ios::binary);
    // The writer's destructor would throw for a file that cannot be written.
    caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, std::size_t size) {
      file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
      return size;
    });
    for (const auto& record : content.records()) {
      // The writer makes these itself.
      if (record == "version" || record == ".data/version" || record == ".data/serialization_id") continue;
      const std::string bytes = record == changed ? program.dump() : content.read(record);
      writer.writeRecord(record, bytes.data(), bytes.size());
      if (!file) break;
    }
    writer.writeEndOfFile();
    file.close();
    if (!file) throw Unsupported(problem(content, parent, "takes no more than a part of it"));
  }
  ProgramOfBuffers(const ProgramOfBuffers&) = delete;
  ProgramOfBuffers& operator=(const ProgramOfBuffers&) = delete;

  [[nodiscard]] std::string path() const { return (folder_.path / "program.pt2").string(); }

 private:
  /// Goes also when the constructor throws.
  struct Folder {
    explicit Folder(const std::filesystem::path& parent)
        : path(pace::detail::make_folder_in(parent, "pace-program-")) {}
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { pace::detail::remove_tree(path); }
    std::filesystem::path path;
  };

  /// Returns `parent`.
  [[nodiscard]] static const std::filesystem::path& with_space(const Content& content,
                                                               const std::filesystem::path& parent) {
    // Beside the archive itself: the program is longer by its new inputs, and each record begins at a boundary.
    const std::uintmax_t needed =
        std::filesystem::file_size(content.path()) + 64 * content.records().size() + (std::uintmax_t{1} << 20);
    // Not std::filesystem::space: libtorch.so exports functions of that namespace which call a null pointer.
    struct statvfs found{};
    if (::statvfs(parent.c_str(), &found) != 0) return parent;
    if (const auto free = static_cast<std::uintmax_t>(found.f_bavail) * found.f_frsize; free < needed)
      throw Unsupported(
          problem(content, parent, "has " + mebibytes(free) + " of free space, and it needs " + mebibytes(needed)));
    return parent;
  }
  [[nodiscard]] static std::string mebibytes(std::uintmax_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }
  [[nodiscard]] static std::string problem(const Content& content, const std::filesystem::path& parent,
                                           const std::string& what) {
    return content.path() + ": a copy of it does not fit: " + parent.string() + ' ' + what +
           "; why: calls write to its buffers, and NativeRT takes these from pace as inputs of a copy; try: TMPDIR "
           "with a folder that has more";
  }

  Folder folder_;
};

}  // namespace pace::benches::loaders
