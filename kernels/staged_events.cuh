// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The trace where the steps can read it: on a host where it lies, on a device in columns that an
// `event_stage` fills, perhaps long before the run begins.
#pragma once

#include "kernels/backend.cuh"
#include "kernels/event_stage.hpp"
#include "kernels/steps.cuh"

#include <cstddef>
#include <cstdint>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

#if defined(__CUDACC__)

/// Pinned buffers, and a stream of their own beside the one of the steps.
class upload_device {
 public:
  static constexpr int slot_count = 4;
  static constexpr std::size_t slot_bytes = std::size_t{8} << 20;

  explicit upload_device(execution const& exec) : exec_(&exec) {
    MEMREPLAY_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    MEMREPLAY_CUDA_TRY(cudaEventCreateWithFlags(&uploaded_, cudaEventDisableTiming));
    for (slot& each : slots_) {
      MEMREPLAY_CUDA_TRY(cudaMallocHost(&each.memory, slot_bytes));
      MEMREPLAY_CUDA_TRY(cudaEventCreateWithFlags(&each.is_read, cudaEventDisableTiming));
    }
  }
  upload_device(upload_device const&) = delete;
  upload_device& operator=(upload_device const&) = delete;
  ~upload_device() {
    (void)cudaStreamSynchronize(stream_);
    for (slot const& each : slots_) {
      (void)cudaFreeHost(each.memory);
      if (each.is_read != nullptr) (void)cudaEventDestroy(each.is_read);
    }
    (void)cudaEventDestroy(uploaded_);
    (void)cudaStreamDestroy(stream_);
  }

  [[nodiscard]] std::byte* wait_for(int slot) const {
    MEMREPLAY_CUDA_TRY(cudaEventSynchronize(slots_[slot].is_read));
    return static_cast<std::byte*>(slots_[slot].memory);
  }
  void copy(void* to, std::byte const* from, std::size_t bytes) const {
    MEMREPLAY_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
  }
  void done_with(int slot) const {
    MEMREPLAY_CUDA_TRY(cudaEventRecord(slots_[slot].is_read, stream_));
  }
  [[nodiscard]] void* resize(void* memory, std::size_t used_bytes, std::size_t bytes) const {
    void* const larger = exec_->allocate(bytes, stream_);
    if (memory == nullptr) return larger;
    MEMREPLAY_CUDA_TRY(
        cudaMemcpyAsync(larger, memory, used_bytes, cudaMemcpyDeviceToDevice, stream_));
    exec_->deallocate(memory, stream_);
    return larger;
  }
  void release(void* memory) const noexcept {
    if (memory != nullptr) exec_->deallocate(memory, stream_);
  }
  /// Whatever the steps do from now on sees what was copied until now; no thread waits.
  void let_steps_see() const {
    MEMREPLAY_CUDA_TRY(cudaEventRecord(uploaded_, stream_));
    MEMREPLAY_CUDA_TRY(cudaStreamWaitEvent(exec_->stream(), uploaded_, 0));
  }

 private:
  struct slot {
    void* memory = nullptr;
    cudaEvent_t is_read = nullptr;
  };
  execution const* exec_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t uploaded_ = nullptr;
  slot slots_[slot_count];
};

/// A device made ready, and the rows that it holds.
class staged_events {
 public:
  staged_events() : device_(exec_), stage_(device_) {}

  [[nodiscard]] execution const& exec() const noexcept { return exec_; }
  void take(event_view const& rows, bool are_all) {
    stage_.take(rows, are_all);
    if (are_all) device_.let_steps_see();
  }
  /// `count` events from row `first` of those taken.
  [[nodiscard]] event_rows rows(event_view const& view, std::int64_t first) const {
    staged_columns const& all = stage_.columns();
    return {view.count, all.what + first, all.address + first, all.size + first, all.stack + first};
  }

 private:
  execution exec_;
  upload_device device_;
  event_stage<upload_device> stage_;
};

#else

/// Nothing to move: the rows are those of the view.
class staged_events {
 public:
  [[nodiscard]] execution const& exec() const noexcept { return exec_; }
  void take(event_view const&, bool) {}
  [[nodiscard]] event_rows rows(event_view const& view, std::int64_t) const {
    return {view.count, view.what, view.address, view.size, view.stack};
  }

 private:
  execution exec_;
};

#endif

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
