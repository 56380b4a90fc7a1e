// NcclCommunicator: collectives by the NCCL that LibTorch has loaded.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include "benches/collectives/communicator.hpp"
#include "pace/base/error.hpp"
#include "pace/ranks/rank.hpp"

namespace pace::benches::collectives {

/// The functions of NCCL's library, by its C interface of version 2, which nccl.h of the toolkit declares. LibTorch's
/// wheel has the library, but not always the header.
class NcclLibrary {
 public:
  struct Id {
    char bytes[128];
  };
  using Comm = void*;
  using Stream = cudaStream_t;
  static constexpr int float32 = 7, sum = 0;

  int (*get_unique_id)(Id*) = nullptr;
  int (*comm_init_rank)(Comm*, int ranks, Id, int rank) = nullptr;
  int (*comm_destroy)(Comm) = nullptr;
  int (*comm_abort)(Comm) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int type, int op, Comm, Stream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int type, Comm, Stream) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int type, int op, Comm, Stream) = nullptr;
  int (*send)(const void*, std::size_t, int type, int peer, Comm, Stream) = nullptr;
  int (*receive)(void*, std::size_t, int type, int peer, Comm, Stream) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*get_version)(int*) = nullptr;

  /// Throws DeviceMissing if there is no such library.
  NcclLibrary() {
    library_ = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr)
      throw DeviceMissing(std::string("no NCCL: ") + ::dlerror() +
                          "; why: this LibTorch was built without it; try: a LibTorch with CUDA, whose wheel has it");
    find(get_unique_id, "ncclGetUniqueId");
    find(comm_init_rank, "ncclCommInitRank");
    find(comm_destroy, "ncclCommDestroy");
    find(comm_abort, "ncclCommAbort");
    find(all_reduce, "ncclAllReduce");
    find(all_gather, "ncclAllGather");
    find(reduce_scatter, "ncclReduceScatter");
    find(send, "ncclSend");
    find(receive, "ncclRecv");
    find(group_start, "ncclGroupStart");
    find(group_end, "ncclGroupEnd");
    find(error_string, "ncclGetErrorString");
    find(get_version, "ncclGetVersion");
  }
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  /// Throws Error for the status of a call.
  void check(int status, const char* call) const {
    if (status != 0) throw Error(std::string("NCCL: ") + call + ": " + error_string(status));
  }
  /// Version, such as 2.28.9.
  [[nodiscard]] std::string version() const {
    int code = 0;
    check(get_version(&code), "asking for the version");
    return std::to_string(code / 10000) + '.' + std::to_string(code / 100 % 100) + '.' + std::to_string(code % 100);
  }

 private:
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(::dlsym(library_, name));
    if (function == nullptr)
      throw DeviceMissing(std::string("no NCCL: libnccl.so.2 has no ") + name + "; expected NCCL 2.7 or newer");
  }

  /// Never closed: NCCL's threads may outlive the last communicator.
  void* library_ = nullptr;
};

/// Collectives of one rank by NCCL, in LibTorch's current stream of the current device.
class NcclCommunicator final : public Communicator {
 public:
  /// All ranks make it together. The current device must be the rank's own.
  explicit NcclCommunicator(ranks::Rank& rank) : rank_(rank.number()), ranks_(rank.count()) {
    NcclLibrary::Id id{};
    if (rank_ == 0) nccl_.check(nccl_.get_unique_id(&id), "making an identity");
    const std::string given = rank.from_first(std::string_view(id.bytes, sizeof id.bytes));
    given.copy(id.bytes, sizeof id.bytes);
    nccl_.check(nccl_.comm_init_rank(&comm_, ranks_, id, rank_), "making a communicator");
  }
  /// While an exception leaves the rank, other ranks may be within a collective that never ends, and ncclCommDestroy
  /// would wait for them.
  ~NcclCommunicator() override {
    (void)(std::uncaught_exceptions() > 0 ? nccl_.comm_abort(comm_) : nccl_.comm_destroy(comm_));
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  [[nodiscard]] std::string version() const { return nccl_.version(); }

  void all_reduce(const at::Tensor& in, const at::Tensor& out) override {
    nccl_.check(nccl_.all_reduce(in.const_data_ptr(), out.mutable_data_ptr(), size(in), NcclLibrary::float32,
                                 NcclLibrary::sum, comm_, stream()),
                "all-reduce");
  }
  void all_gather(const at::Tensor& in, const at::Tensor& out) override {
    nccl_.check(
        nccl_.all_gather(in.const_data_ptr(), out.mutable_data_ptr(), size(in), NcclLibrary::float32, comm_, stream()),
        "all-gather");
  }
  void reduce_scatter(const at::Tensor& in, const at::Tensor& out) override {
    nccl_.check(nccl_.reduce_scatter(in.const_data_ptr(), out.mutable_data_ptr(), size(out), NcclLibrary::float32,
                                     NcclLibrary::sum, comm_, stream()),
                "reduce-scatter");
  }
  void exchange(const std::vector<Exchange>& all) override {
    Group group(nccl_);
    for (const auto& each : all) {
      nccl_.check(
          nccl_.send(each.sent.const_data_ptr(), size(each.sent), NcclLibrary::float32, each.to, comm_, stream()),
          "send");
      nccl_.check(nccl_.receive(each.received.mutable_data_ptr(), size(each.received), NcclLibrary::float32, each.from,
                                comm_, stream()),
                  "receive");
    }
    group.end();
  }

 private:
  /// Calls that NCCL starts at once. Ends even if one of them throws: an open group would take in all later calls.
  class Group {
   public:
    explicit Group(const NcclLibrary& nccl) : nccl_(nccl) { nccl_.check(nccl_.group_start(), "beginning a group"); }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() {
      if (!ended_) (void)nccl_.group_end();
    }
    void end() {
      ended_ = true;
      nccl_.check(nccl_.group_end(), "ending a group");
    }

   private:
    const NcclLibrary& nccl_;
    bool ended_ = false;
  };

  [[nodiscard]] static std::size_t size(const at::Tensor& tensor) { return static_cast<std::size_t>(tensor.numel()); }
  [[nodiscard]] static cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream(); }

  NcclLibrary nccl_;
  int rank_, ranks_;
  NcclLibrary::Comm comm_ = nullptr;
};

}  // namespace pace::benches::collectives
