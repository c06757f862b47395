// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// What a back end is to the steps: a namespace, an execution policy, and memory. The kernels' one
// fork.
#pragma once

#include <memreplay/column.hpp>
#include <memreplay/error.hpp>

#include <thrust/execution_policy.h>
#include <thrust/version.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#ifndef MEMREPLAY_BACKEND
#error "the build defines MEMREPLAY_BACKEND: host, serial or cuda"
#endif

#if defined(__CUDACC__)
#include <thrust/system/cuda/execution_policy.h>

#include <cuda_runtime_api.h>
#define MEMREPLAY_HD __host__ __device__
/// Every CUDA call goes through here: a failure becomes `error`, with the call's text.
#define MEMREPLAY_CUDA_TRY(call) \
  ::memreplay::kernels::MEMREPLAY_BACKEND::expect_success((call), #call)
#else
#define MEMREPLAY_HD
#endif

#define MEMREPLAY_TEXT_OF(word) #word
#define MEMREPLAY_TEXT(word) MEMREPLAY_TEXT_OF(word)
#define MEMREPLAY_JOIN_OF(left, right) left##right
#define MEMREPLAY_JOIN(left, right) MEMREPLAY_JOIN_OF(left, right)

namespace memreplay::kernels::MEMREPLAY_BACKEND {

/// Thrust lives in a namespace of this back end, so that two back ends fit into one program.
namespace thrust = THRUST_NS_QUALIFIER;

#if defined(__CUDACC__)

/// False: the host's columns are copied to the device before a step can read them.
inline constexpr bool shares_host_memory = false;

/// A GPU hides the wait for memory behind its other threads.
template <class ValueT>
MEMREPLAY_HD void prefetch(ValueT const*, std::int64_t) {}

inline void expect_success(cudaError_t status, char const* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw error(error_code::no_device,
              std::string("CUDA failed: ") + cudaGetErrorString(status) + " (" + call + ")",
              "run again with --backend host");
}

/// A stream, and a pool of memory in the order of that stream. Steps take it first; it is made once
/// a run.
class execution {
 public:
  execution() {
    int device = 0;
    int has_pools = 0;
    MEMREPLAY_CUDA_TRY(cudaGetDevice(&device));
    MEMREPLAY_CUDA_TRY(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device));
    MEMREPLAY_CUDA_TRY(cudaStreamCreateWithFlags(&scratch_.stream, cudaStreamNonBlocking));
    if (has_pools == 0) return;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    MEMREPLAY_CUDA_TRY(cudaMemPoolCreate(&scratch_.pool, &properties));
    // Keep freed memory for the next step instead of returning it to the driver at each wait.
    std::uint64_t keep = UINT64_MAX;
    MEMREPLAY_CUDA_TRY(
        cudaMemPoolSetAttribute(scratch_.pool, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  execution(execution const&) = delete;
  execution& operator=(execution const&) = delete;
  ~execution() {
    (void)cudaStreamSynchronize(scratch_.stream);
    (void)cudaStreamDestroy(scratch_.stream);
    if (scratch_.pool != nullptr) (void)cudaMemPoolDestroy(scratch_.pool);
  }

  /// The policy of Thrust's algorithms: they wait only to return a value, and their scratch comes
  /// from the same pool as ours.
  [[nodiscard]] auto policy() const {
    return thrust::cuda::par_nosync(scratch_).on(scratch_.stream);
  }
  [[nodiscard]] cudaStream_t stream() const noexcept { return scratch_.stream; }

  [[nodiscard]] void* allocate(std::size_t bytes) const { return allocate(bytes, stream()); }
  void deallocate(void* memory) const noexcept { deallocate(memory, stream()); }
  /// The same in the order of another stream.
  [[nodiscard]] void* allocate(std::size_t bytes, cudaStream_t order) const {
    return scratch_.take(bytes, order);
  }
  void deallocate(void* memory, cudaStream_t order) const noexcept {
    scratch_.give_back(memory, order);
  }
  void copy_from_host(void* to, void const* from, std::size_t bytes) const {
    MEMREPLAY_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, scratch_.stream));
  }
  /// Waits: the bytes are there on return.
  void copy_to_host(void* to, void const* from, std::size_t bytes) const {
    MEMREPLAY_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, scratch_.stream));
    MEMREPLAY_CUDA_TRY(cudaStreamSynchronize(scratch_.stream));
  }

 private:
  /// The allocator that Thrust asks for scratch. Without a pool (old devices) each allocation
  /// waits.
  struct scratch_allocator {
    using value_type = char;
    cudaStream_t stream = nullptr;
    cudaMemPool_t pool = nullptr;

    [[nodiscard]] void* take(std::size_t bytes, cudaStream_t order) const {
      void* memory = nullptr;
      MEMREPLAY_CUDA_TRY(pool != nullptr ? cudaMallocFromPoolAsync(&memory, bytes, pool, order)
                                         : cudaMalloc(&memory, bytes));
      return memory;
    }
    void give_back(void* memory, cudaStream_t order) const noexcept {
      (void)(pool != nullptr ? cudaFreeAsync(memory, order) : cudaFree(memory));
    }
    [[nodiscard]] char* allocate(std::ptrdiff_t bytes) {
      return static_cast<char*>(take(static_cast<std::size_t>(bytes), stream));
    }
    void deallocate(char* memory, std::size_t) noexcept { give_back(memory, stream); }
  };
  mutable scratch_allocator scratch_;  // Thrust wants to change it
};

#else

/// True: steps read the host's columns where they lie.
inline constexpr bool shares_host_memory = true;

/// Asks for the cache line of a row that is read soon. The row need not exist.
template <class ValueT>
void prefetch(ValueT const* column, std::int64_t row) {
  std::uintptr_t const bytes = static_cast<std::uintptr_t>(row) * sizeof(ValueT);
  __builtin_prefetch(
      reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(column) + bytes));
}

/// The host's memory and Thrust's host system. Steps take it first; it is made once a run. Scratch
/// that one step gives back serves the next: fresh pages cost more than most steps.
class execution {
 public:
  execution() = default;
  execution(execution const&) = delete;
  execution& operator=(execution const&) = delete;
  ~execution() {
    for (block const& spare : spare_) memreplay::detail::resize_block(spare.memory, spare.bytes, 0);
  }

  [[nodiscard]] auto policy() const { return thrust::device; }
  [[nodiscard]] void* allocate(std::size_t bytes) const {
    auto best = spare_.end();
    for (auto spare = spare_.begin(); spare != spare_.end(); ++spare) {
      if (spare->bytes >= bytes && (best == spare_.end() || spare->bytes < best->bytes))
        best = spare;
    }
    block found{};
    if (best == spare_.end()) {
      found = fresh_block(bytes);
    } else {
      found = *best;
      spare_.erase(best);
    }
    used_.push_back(found);
    return found.memory;
  }
  void deallocate(void* memory) const noexcept {
    for (auto used = used_.begin(); used != used_.end(); ++used) {
      if (used->memory != memory) continue;
      spare_.push_back(*used);  // has room: as many as were ever in use
      used_.erase(used);
      return;
    }
  }
  void copy_from_host(void* to, void const* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
  void copy_to_host(void* to, void const* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }

 private:
  struct block {
    void* memory;
    std::size_t bytes;
  };

  [[nodiscard]] block fresh_block(std::size_t bytes) const {
    spare_.reserve(spare_.size() + used_.size() + 1);
    used_.reserve(used_.size() + 1);
    // A little longer than asked for, to fit the next step too; untouched pages cost nothing. Large
    // blocks lie on huge pages: a sort writes to hundreds of places at once.
    if (bytes >= std::size_t{4} << 20) bytes += bytes / 16;
    bytes = bytes == 0 ? 1 : bytes;
    return {memreplay::detail::resize_block(nullptr, 0, bytes), bytes};
  }

  mutable std::vector<block> spare_;
  mutable std::vector<block> used_;
};

#endif

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
