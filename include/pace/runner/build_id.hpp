// An identifier of the running build, since another build may have the same file name.
#pragma once

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/digest.hpp"

namespace pace::runner {

namespace detail {

/// Returns the build ID that the linker wrote into a program or library; empty if there is none.
[[nodiscard]] inline std::string_view build_id_note(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives an address as a number.
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr);
    const char* const end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* const name = at + sizeof note;
      const char* const content = name + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && std::string_view(name, note.n_namesz) == std::string_view("GNU\0", 4))
        return {content, note.n_descsz};
      at = content + padded(note.n_descsz);
    }
  }
  return {};
}

/// The program, or a library that it has loaded.
struct LoadedObject {
  std::string file;     ///< its path
  std::string_view id;  ///< the linker's build ID; empty: there is none
  [[nodiscard]] bool is_of_system() const {
    return file.starts_with("/usr/") || file.starts_with("/lib/") || file.starts_with("/lib64/");
  }
};

inline int add_object(dl_phdr_info* object, std::size_t, void* objects) {
  const std::string name = object->dlpi_name;
  // One without a path is the kernel's own, which has no file.
  if (name.empty() || name.find('/') != std::string::npos)
    static_cast<std::vector<LoadedObject>*>(objects)->push_back(
        {name.empty() ? "/proc/self/exe" : name, build_id_note(*object)});
  return 0;
}

/// Returns the program and the libraries that are loaded, in the loader's order.
[[nodiscard]] inline std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  ::dl_iterate_phdr(&add_object, &objects);
  return objects;
}

}  // namespace detail

/// Returns a digest of the program and of the libraries that are loaded, by the linker's build IDs, or for a file
/// without one by its size and time. It is equal for two processes of one build.
[[nodiscard]] inline std::string build_id() {
  Digest digest;
  for (const auto& object : detail::loaded_objects()) {
    if (!object.id.empty()) {
      digest.add(object.id);
    } else if (struct stat file{}; ::stat(object.file.c_str(), &file) == 0) {
      digest.add(std::to_string(file.st_size) + ' ' + std::to_string(file.st_mtim.tv_sec) + '.' +
                 std::to_string(file.st_mtim.tv_nsec));
    }
  }
  return digest.text();
}

/// Returns a digest of the linker's build IDs of the program and its libraries. Leaves out the system's (below /usr and
/// /lib), so machines that run one build agree, though their systems have other versions.
[[nodiscard]] inline std::string code_id() {
  Digest digest;
  for (const auto& object : detail::loaded_objects())
    if (!object.id.empty() && !object.is_of_system()) digest.add(object.id);
  return digest.text();
}

}  // namespace pace::runner
