// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which files and functions are machinery.
#include "report/internal_frames.hpp"

#include <gtest/gtest.h>

namespace memreplay::reporting {
namespace {

file_kind kind_of(std::string_view path) { return kind_of_file(path, path_parts(path)); }

TEST(internal_frames, machinery_by_sequences_of_components) {
  for (char const* path :
       {"/opt/v/lib/python3.11/site-packages/torch/nn/functional.py",
        "/usr/lib/python3/dist-packages/torch/_ops.py", "/opt/pytorch/pytorch/torch/optim/adamw.py",
        "/home/u/src/torch/nn/modules/module.py",
        "/opt/v/lib/python3.11/site-packages/triton/runtime/jit.py", "/usr/lib/python3.11/runpy.py",
        "/opt/v/lib/python3.11/site-packages/hydra/main.py", "/usr/lib64/python3.9/threading.py",
        "/x/runpy.py", "<frozen importlib._bootstrap>", "<string>",
        "C:\\Python312\\Lib\\queue.py"}) {
    EXPECT_EQ(kind_of(path), file_kind::machinery) << path;
  }
}

TEST(internal_frames, user_code_is_what_only_resembles_machinery) {
  for (char const* path :
       {"/home/u/torch/model.py", "/home/u/torch_geometric_fork/nn.py", "/home/u/cuda/kernels.py",
        "/opt/v/lib/python3.11/site-packages/transformers/trainer.py",
        "/opt/v/lib/python3.11/site-packages/torchvision/models/resnet.py",
        "/opt/v/lib/python3.11/site-packages/megatron/core/model.py", "/home/u/hydra/app.py",
        "/home/u/python3.11/x.py", "D:\\work\\train.py", "train.py", "<ipython-input-1-x>",
        "<stdin>"}) {
    EXPECT_EQ(kind_of(path), file_kind::user) << path;
  }
}

TEST(internal_frames, native_and_generated_files) {
  for (char const* path :
       {"??", "", "none", "../aten/src/ATen/Ops.cpp", "/usr/lib/libtorch.so", "/opt/bin/torchrun",
        "<unwind unsupported>", "/opt/v/lib/python3.11/site-packages/torch/lib/libtorch.so"}) {
    EXPECT_EQ(kind_of(path), file_kind::native) << path;
  }
  for (char const* path :
       {"<eval_with_key>.5", "/tmp/torchinductor_u/aa/b.py", "code/__torch__/net.py"}) {
    EXPECT_EQ(kind_of(path), file_kind::generated) << path;
  }
}

TEST(internal_frames, foreign_below_a_root) {
  auto const is_foreign = [](char const* path) { return is_foreign_below(path_parts(path), 2); };
  EXPECT_TRUE(is_foreign("/home/proj/.venv/lib/python3.11/site-packages/x.py"));
  EXPECT_TRUE(is_foreign("/home/proj/env/lib/python3.11/queue.py"));
  EXPECT_TRUE(is_foreign("/home/proj/torchinductor_u/a.py"));
  EXPECT_FALSE(is_foreign("/home/proj/lib/x.py"));
  EXPECT_FALSE(is_foreign_below(path_parts("/opt/lib/python3.11/site-packages/mine/x.py"), 4));
}

TEST(internal_frames, lines_of_binaries_are_offsets) {
  for (char const* path :
       {"/l/libc.so.6", "/l/x.so", "/l/x.pyd", "/usr/bin/python3.10", "C:\\x\\y.dll"}) {
    EXPECT_FALSE(has_source_lines(path_parts(path))) << path;
  }
  for (char const* path :
       {"/l/x.py", "/usr/include/c++/12/functional", "/l/sonar.so.py", "/opt/bin/tool.py"}) {
    EXPECT_TRUE(has_source_lines(path_parts(path))) << path;
  }
}

TEST(cxx_name, leaves_return_type_and_parameters_out) {
  EXPECT_EQ(cxx_name("at::native::mm(at::Tensor const&)"), "at::native::mm");
  EXPECT_EQ(cxx_name("at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)"),
            "at::detail::_empty_generic<long>");
  EXPECT_EQ(cxx_name("torch::autograd::VariableType::(anonymous namespace)::mm(int)"),
            "torch::autograd::VariableType::(anonymous namespace)::mm");
  EXPECT_EQ(cxx_name("void f<std::pair<int, (anonymous namespace)::x> >(int)"),
            "f<std::pair<int, (anonymous namespace)::x> >");
  EXPECT_EQ(cxx_name("bool a::operator<(a const&, b<int> const&)"), "a::operator<");
  EXPECT_EQ(cxx_name("x::operator()(int) const"), "x::operator()");
  EXPECT_EQ(cxx_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(cxx_name("_PyEval_EvalFrameDefault"), "_PyEval_EvalFrameDefault");
  EXPECT_EQ(cxx_name("operator"), "operator");
  EXPECT_EQ(cxx_name(""), "");
  EXPECT_EQ(cxx_name("unclosed<(int"), "unclosed<(int");
}

TEST(recorder, functions_of_the_unwinder_and_allocator) {
  EXPECT_TRUE(is_recorder_function("torch::unwind::unwind()"));
  EXPECT_TRUE(is_recorder_function("c10::cuda::CUDACachingAllocator::Native::malloc(void**)"));
  EXPECT_TRUE(
      is_recorder_function("at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)"));
  EXPECT_FALSE(is_recorder_function("at::native::mm(at::Tensor const&)"));
}

}  // namespace
}  // namespace memreplay::reporting
