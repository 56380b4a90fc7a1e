// Checks an archive's records: they must be undamaged, and as long as their tensors.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/core/qualified_name.h>
#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/storage_context.h>
#include <torch/csrc/jit/serialization/unpickler.h>
#include <nlohmann/json.hpp>

#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/program_facts.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/os/parse_json.hpp"

namespace pace::benches::loaders {

namespace detail {

/// The storage bytes that a tensor needs, by torch.export's description (TensorMeta of its schema). 0 if a size is no
/// number, or the type is unknown here. Throws as nlohmann's library does for another format, and Error for sizes that
/// no tensor has.
[[nodiscard]] inline std::uint64_t bytes_needed(const nlohmann::json& meta) {
  const auto dtype = exported_dtype(meta.at("dtype").get<int>());
  const auto &sizes = meta.at("sizes"), &strides = meta.at("strides"), &offset = meta.at("storage_offset");
  if (!dtype || !offset.contains("as_int")) return 0;
  constexpr const char* too_many = "describes a tensor of more elements than can be counted";
  std::uint64_t elements = 0;
  const auto add = [&](std::uint64_t count, std::uint64_t each) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(count, each, &product) || __builtin_add_overflow(elements, product, &elements))
      throw Error(too_many);
  };
  const auto number = [](const nlohmann::json& value) {
    const auto found = value.at("as_int").get<std::int64_t>();
    if (found < 0) throw Error("describes a tensor with the size, stride or offset " + std::to_string(found));
    return static_cast<std::uint64_t>(found);
  };
  if (sizes.size() != strides.size()) throw Error("describes a tensor with other numbers of sizes and strides");
  add(number(offset), 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].contains("as_int") || !strides[i].contains("as_int")) return 0;
    const std::uint64_t size = number(sizes[i]);
    if (size == 0) return 0;
    add(size - 1, number(strides[i]));
  }
  add(1, 1);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, c10::elementSize(*dtype), &bytes)) throw Error(too_many);
  return bytes;
}

/// Throws InputError for a record of the folder that is shorter than the storage of the tensors that are made of it:
/// LibTorch takes the size that the pickle says.
inline void require_whole_storages(const Content& content, const std::string& folder,
                                   torch::jit::DeserializationStorageContext& storages) {
  for (const auto& record : content.records()) {
    if (!record.starts_with(folder)) continue;
    const std::string key = record.substr(folder.size());
    if (!storages.hasStorage(key)) continue;
    const std::size_t expected = storages.getStorage(key).nbytes(), found = content.reader().getRecordSize(record);
    if (found < expected)
      throw InputError({content.path()}, "the record " + record + " is too short: its tensors need " +
                                             std::to_string(expected) + " bytes, found " + std::to_string(found));
  }
}

/// Throws InputError for a tensor among `values`, which `record` describes, that reaches beyond the end of its storage.
inline void require_within_storages(const Content& content, const std::string& record, const c10::IValue& values) {
  const std::function<void(const at::Tensor&)> require_within = [&](const at::Tensor& tensor) {
    if (tensor.is_sparse()) {
      require_within(tensor._indices());
      require_within(tensor._values());
      return;
    }
    // Several of these elements share a byte.
    const bool packed = tensor.scalar_type() == at::kQUInt4x2 || tensor.scalar_type() == at::kQUInt2x4;
    if (tensor.layout() != at::kStrided || !tensor.has_storage() || packed) return;
    const std::size_t expected = at::detail::computeStorageNbytes(
        tensor.sizes(), tensor.strides(), tensor.dtype().itemsize(), static_cast<std::size_t>(tensor.storage_offset()));
    if (const std::size_t found = tensor.storage().nbytes(); found < expected)
      throw InputError({content.path()}, "the record " + record + " describes a tensor that needs " +
                                             std::to_string(expected) +
                                             " bytes, and the storage that it is made of has " + std::to_string(found));
  };
  check::for_each_tensor(values, require_within);
}

/// Throws InputError if a storage or a tensor of a TorchScript archive (`data` or `constants`) is larger than its
/// bytes. Reads the pickle as LibTorch does, but with empty objects for the file's classes, so that no code of the file
/// runs. A pickle that cannot be read like that is left to the loader.
inline void require_whole_script(const Content& content, const std::string& archive) {
  const std::string record = archive + ".pkl";
  const auto storages = std::make_shared<torch::jit::DeserializationStorageContext>();
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  // Containers have their types beside them. Their elements may be of the file's classes.
  const auto type_of = [&](const c10::QualifiedName& name) -> c10::StrongTypePtr {
    if (name.qualifiedName().starts_with("Dict["))
      return {unit, c10::DictType::create(c10::AnyType::get(), c10::AnyType::get())};
    if (name.qualifiedName().starts_with("List[")) return {unit, c10::ListType::create(c10::AnyType::get())};
    return {unit, c10::ClassType::create(name, unit)};
  };
  const auto object_of = [&](const c10::StrongTypePtr& type, const c10::IValue& state) {
    require_within_storages(content, record, state);
    return c10::ivalue::Object::create(type, 0);
  };
  try {
    const auto values =
        torch::jit::readArchiveAndTensors(archive, "", "", type_of, object_of, at::Device(at::kCPU), content.reader(),
                                          torch::jit::Unpickler::defaultTypeParser, storages);
    require_within_storages(content, record, values);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {
  }
  require_whole_storages(content, archive + '/', *storages);
}

}  // namespace detail

/// Throws InputError for the first record with a wrong checksum. Also throws it if the record of a weight or a constant
/// is shorter than its tensor, in TorchScript and in exported programs. LibTorch reads as many bytes as the program
/// says.
inline void require_whole(const Content& content) {
  content.require_intact();
  if (content.has("constants.pkl"))
    for (const std::string archive : {"data", "constants"})
      if (content.has(archive + ".pkl")) detail::require_whole_script(content, archive);
  for (const std::string folder : {"data/weights/", "data/constants/"})
    for (const auto& record : content.records()) {
      if (!record.starts_with(folder) || !record.ends_with("_config.json")) continue;
      try {
        const auto described = parse_json<nlohmann::json>(content.read(record));
        for (const auto& [name, entry] : described.at("config").items()) {
          // A pickled tensor has its sizes in the pickle, and no reader of weights takes them from here.
          if (entry.value("use_pickle", false) || !entry.contains("tensor_meta") || entry.at("tensor_meta").is_null())
            continue;
          const std::string weight = folder + entry.at("path_name").get<std::string>();
          const std::uint64_t expected = detail::bytes_needed(entry.at("tensor_meta"));
          if (!content.has(weight))
            throw InputError({content.path()}, "there is no record " + weight + ", and '" + name + "' is made of it");
          if (const std::uint64_t found = content.reader().getRecordSize(weight); found < expected)
            throw InputError({content.path()}, "the record " + weight + " is too short: '" + name + "' needs " +
                                                   std::to_string(expected) + " bytes, found " + std::to_string(found));
        }
      } catch (const InputError&) {
        throw;
      } catch (const std::exception& error) {
        throw InputError({content.path()}, "the record " + record + " " + first_line(error));
      }
    }
}

}  // namespace pace::benches::loaders
