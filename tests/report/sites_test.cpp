// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Which frame of a stack is blamed, and what its site is called.
#include "report/sites.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/snapshot_builder.hpp"

namespace memreplay::reporting {
namespace {

using testing::frame_text;
using testing::snapshot_builder;

constexpr frame_text unwinder{"torch::unwind::unwind()", "??", 0};
constexpr frame_text traceback{"torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0};
constexpr frame_text empty_cuda{
    "at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)", "??", 0};
constexpr frame_text matmul{"at::_ops::mm::call(at::Tensor const&)", "??", 0};
constexpr frame_text unnamed{"??", "??", 0};
constexpr frame_text linear{
    "forward", "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", 125};
constexpr frame_text call_impl{
    "_call_impl", "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", 1562};
constexpr frame_text attention{"forward", "/code/proj/model/attention.py", 42};
constexpr frame_text block{"forward", "/code/proj/model/block.py", 7};
constexpr frame_text entry{"<module>", "/code/proj/train.py", 99};
constexpr frame_text library{
    "forward", "/opt/venv/lib/python3.11/site-packages/transformers/models/llama.py", 300};
constexpr frame_text run_module{"_run_code", "<frozen runpy>", 88};
constexpr frame_text evaluate{"_PyEval_EvalFrameDefault", "??", 0};

site_options in_project() {
  site_options options;
  options.project_root = "/code/proj";
  options.rule = site_rule::project;
  return options;
}

site_options by_user() {
  site_options options = in_project();
  options.rule = site_rule::user;
  return options;
}

/// The site of the only stack.
site site_for(std::initializer_list<frame_text> frames, site_options const& options) {
  snapshot_builder builder;
  stack_id const stack = builder.stack(frames);
  snapshot const input = builder.build();
  site_table sites(input, options, site_rule::project);
  return sites[sites.site_of(stack)];
}

std::string text_for(std::initializer_list<frame_text> frames, site_options const& options) {
  return site_for(frames, options).text;
}

TEST(sites_project, takes_the_innermost_frame_under_the_root) {
  site const found = site_for({unwinder, linear, call_impl, attention, block, entry}, in_project());
  EXPECT_EQ(found.text, "model/attention.py:42");
  EXPECT_EQ(found.file, "/code/proj/model/attention.py");
  EXPECT_EQ(found.line, 42);
  EXPECT_EQ(found.label, "forward");
  EXPECT_EQ(found.link, "vscode://file/code/proj/model/attention.py:42");
}

TEST(sites_project, compares_the_root_by_component_and_not_as_text) {
  EXPECT_EQ(text_for({{"step", "/code/proj2/other.py", 5}, attention}, in_project()),
            "model/attention.py:42");
}

TEST(sites_project, root_of_the_file_system_keeps_paths_whole) {
  site_options options = in_project();
  options.project_root = "/";
  EXPECT_EQ(text_for({{"step", "/lib/step.py", 5}}, options), "lib/step.py:5");
}

TEST(sites_project, virtual_environment_inside_the_root_is_not_the_project) {
  frame_text const inner{
      "forward", "/code/proj/.venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", 125};
  frame_text const threading{"run", "/code/proj/.venv/lib/python3.11/threading.py", 1};
  EXPECT_EQ(text_for({inner, threading, attention}, in_project()), "model/attention.py:42");
  EXPECT_EQ(text_for({inner}, in_project()), "torch/nn/modules/linear.py:125");
}

TEST(sites_project, falls_back_to_the_innermost_python_file_then_to_a_name) {
  EXPECT_EQ(text_for({unwinder, linear, library}, in_project()), "torch/nn/modules/linear.py:125");
  EXPECT_EQ(text_for({unwinder, traceback, empty_cuda, matmul}, in_project()), matmul.function);
  EXPECT_EQ(text_for({unwinder}, in_project()), unwinder.function);
  EXPECT_EQ(text_for({unnamed}, in_project()), no_frames_text);
  EXPECT_EQ(text_for({}, in_project()), no_frames_text);
}

TEST(sites_project, source_in_cxx_under_the_root_is_a_site_and_its_library_is_not) {
  frame_text const kernel{"my::fused(int)", "/code/proj/csrc/fused.cu", 12};
  frame_text const library_file{"my::fused(int)", "/code/proj/build/fused.so", 81234};
  EXPECT_EQ(text_for({unwinder, kernel, attention}, in_project()), "csrc/fused.cu:12");
  EXPECT_EQ(text_for({unwinder, library_file, attention}, in_project()), "model/attention.py:42");
}

TEST(sites_project, relative_script_names_belong_to_the_project) {
  site const found = site_for({{"main", "./train.py", 3}}, in_project());
  EXPECT_EQ(found.text, "train.py:3");
  EXPECT_EQ(found.file, "/code/proj/train.py");
  EXPECT_EQ(text_for({{"main", "../other/train.py", 3}, attention}, in_project()),
            "model/attention.py:42");
}

TEST(sites_project, module_level_lines_of_the_project_count) {
  EXPECT_EQ(text_for({linear, entry}, in_project()), "train.py:99");
}

TEST(sites_user, skips_cxx_pytorch_interpreter_and_launcher_frames) {
  EXPECT_EQ(text_for({unwinder, traceback, empty_cuda, evaluate, linear, call_impl, attention,
                      entry, run_module},
                     by_user()),
            "forward@attention.py:42");
}

TEST(sites_user, library_of_a_users_model_is_user_code) {
  EXPECT_EQ(text_for({linear, library, attention}, by_user()), "forward@llama.py:300");
}

TEST(sites_user, folder_that_is_merely_called_torch_is_user_code) {
  EXPECT_EQ(text_for({{"step", "/home/u/torch/step.py", 4}}, by_user()), "step@step.py:4");
  EXPECT_EQ(text_for({{"step", "/home/u/torch_models/cuda/step.py", 4}}, by_user()),
            "step@step.py:4");
}

TEST(sites_user, function_called_inner_is_user_code) {
  EXPECT_EQ(text_for({linear, {"inner", "/code/proj/wrap.py", 8}, attention}, by_user()),
            "inner@wrap.py:8");
}

TEST(sites_user, standard_library_is_machinery_but_packages_below_it_are_not) {
  frame_text const queue{"get", "/usr/lib/python3.11/queue.py", 180};
  frame_text const on_windows{"get", "C:\\Python311\\Lib\\queue.py", 180};
  frame_text const debian{"forward", "/usr/lib/python3/dist-packages/mylib/net.py", 5};
  EXPECT_EQ(text_for({queue, on_windows, attention}, by_user()), "forward@attention.py:42");
  EXPECT_EQ(text_for({queue, debian}, by_user()), "forward@net.py:5");
}

TEST(sites_user, generated_code_gives_way_to_what_it_stands_for) {
  frame_text const inductor{"call", "/tmp/torchinductor_bob/ab/cab.py", 500};
  frame_text const fx{"forward", "<eval_with_key>.7", 20};
  EXPECT_EQ(text_for({inductor, fx, attention}, by_user()), "forward@attention.py:42");
}

TEST(sites_user, notebook_cells_are_user_code) {
  EXPECT_EQ(text_for({linear, {"<cell line: 1>", "<ipython-input-3-abc>", 1}}, by_user()),
            "<cell line: 1>@<ipython-input-3-abc>:1");
  EXPECT_EQ(text_for({linear, {"step", "/tmp/ipykernel_12/34.py", 2}}, by_user()), "step@34.py:2");
}

TEST(sites_user, prefers_the_users_module_level_line_to_cxx_frames) {
  EXPECT_EQ(text_for({unwinder, matmul, linear, entry, run_module}, by_user()),
            "<module>@train.py:99");
}

TEST(sites_user, falls_back_to_innermost_frames_that_say_something) {
  EXPECT_EQ(text_for({unwinder, linear, call_impl}, by_user()), "forward@linear.py:125");
  EXPECT_EQ(text_for({unwinder, traceback, empty_cuda, matmul}, by_user()), matmul.function);
}

TEST(sites_user, joins_several_frames) {
  site_options options = by_user();
  options.frame_depth = 2;
  EXPECT_EQ(text_for({linear, attention, call_impl, block, entry}, options),
            "forward@attention.py:42 -> forward@block.py:7");
  options.frame_depth = 9;
  EXPECT_EQ(text_for({attention, block}, options), "forward@attention.py:42 -> forward@block.py:7");
}

TEST(sites_user, depth_tells_stacks_apart_that_share_the_innermost_frame) {
  snapshot_builder builder;
  stack_id const one = builder.stack({attention, block});
  stack_id const other = builder.stack({attention, {"forward", "/code/proj/model/other.py", 8}});
  snapshot const input = builder.build();
  site_options options = by_user();
  site_table shallow(input, options, site_rule::project);
  EXPECT_EQ(shallow.site_of(one), shallow.site_of(other));
  options.frame_depth = 2;
  site_table deep(input, options, site_rule::project);
  EXPECT_NE(deep.site_of(one), deep.site_of(other));
}

TEST(sites, group_by_file_and_line) {
  snapshot_builder builder;
  stack_id const one = builder.stack({linear, attention});
  stack_id const same = builder.stack({attention, block});
  stack_id const other_line = builder.stack({{"forward", "/code/proj/model/attention.py", 43}});
  snapshot const input = builder.build();
  site_table sites(input, in_project(), site_rule::project);
  EXPECT_EQ(sites.site_of(one), sites.site_of(same));
  EXPECT_NE(sites.site_of(one), sites.site_of(other_line));
}

TEST(sites, lines_that_are_none_are_not_printed) {
  for (std::uint64_t const line :
       {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0xffff'ffff}}) {
    site const found = site_for({{"forward", "/code/proj/a.py", line}}, in_project());
    EXPECT_EQ(found.text, "forward@a.py");
    EXPECT_EQ(found.line, 0);
    EXPECT_EQ(found.link, "vscode://file/code/proj/a.py");
    EXPECT_EQ(text_for({{"forward", "/code/proj/a.py", line}}, by_user()), "forward@a.py");
  }
}

TEST(sites, code_offset_of_a_library_is_no_line) {
  site const found =
      site_for({{"at::native::mm()", "/opt/torch/lib/libtorch_cuda.so", 81234567}}, in_project());
  EXPECT_EQ(found.text, "at::native::mm()@libtorch_cuda.so");
  EXPECT_EQ(found.line, 0);
  EXPECT_EQ(found.link, "");
}

TEST(sites, unknown_lines_of_one_file_are_told_apart_by_function) {
  snapshot_builder builder;
  stack_id const one = builder.stack({{"up", "/code/proj/a.py", 0}});
  stack_id const other = builder.stack({{"down", "/code/proj/a.py", 0}});
  snapshot const input = builder.build();
  site_table sites(input, in_project(), site_rule::project);
  EXPECT_NE(sites.site_of(one), sites.site_of(other));
}

TEST(sites, rows_without_a_place) {
  snapshot_builder builder;
  snapshot const input = builder.build();
  site_table sites(input, in_project(), site_rule::project);
  EXPECT_EQ(sites[sites.site_of(no_stack)].text, "<no frames>");
  EXPECT_EQ(sites[sites.site_of(no_stack)].file, "");
  EXPECT_EQ(sites[sites.site_of(before_trace_stack)].text, "before the trace");
  EXPECT_EQ(sites.chain_of(before_trace_stack), "");
  EXPECT_FALSE(sites.has_any_frame(no_stack));
}

TEST(sites, outside_the_project_a_short_path_still_names_one_file) {
  snapshot_builder builder;
  stack_id const one = builder.stack({{"f", "/data/alice/x/y/util.py", 1}});
  stack_id const other = builder.stack({{"f", "/data/bob/x/y/util.py", 1}});
  stack_id const third = builder.stack({{"f", "/data/bob/x/z/util.py", 1}});
  snapshot const input = builder.build();
  site_table sites(input, in_project(), site_rule::project);
  EXPECT_EQ(sites[sites.site_of(one)].text, "/data/alice/x/y/util.py:1");
  EXPECT_EQ(sites[sites.site_of(other)].text, "/data/bob/x/y/util.py:1");
  EXPECT_EQ(sites[sites.site_of(third)].text, ".../x/z/util.py:1");
}

TEST(sites, without_a_project_frame_the_user_rule_is_used_and_told) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({linear, library});
  snapshot const input = builder.build();
  site_options options = in_project();
  options.rule.reset();
  site_table sites(input, options, site_rule::project);
  EXPECT_EQ(sites.rule(), site_rule::user);
  EXPECT_NE(sites.rule_note().find("/code/proj"), std::string::npos);
  EXPECT_EQ(sites[sites.site_of(stack)].text, "forward@llama.py:300");

  options.rule = site_rule::project;
  site_table asked_for(input, options, site_rule::project);
  EXPECT_EQ(asked_for.rule(), site_rule::project);
  EXPECT_EQ(asked_for.rule_note(), "");
}

TEST(sites, path_map_moves_a_containers_paths_by_component) {
  site_options options = in_project();
  options.path_map = {{"/workspace", "/elsewhere"}, {"/workspace/src", "/code/proj"}};
  site const found = site_for({{"f", "/workspace/src/model/a.py", 5}}, options);
  EXPECT_EQ(found.text, "model/a.py:5");
  EXPECT_EQ(found.file, "/code/proj/model/a.py");
  EXPECT_EQ(site_for({{"f", "/workspace2/a.py", 5}}, options).file, "/workspace2/a.py");
}

TEST(sites, chain_shows_the_projects_frames_innermost_first) {
  snapshot_builder builder;
  stack_id const stack =
      builder.stack({unwinder, linear, attention, call_impl, block, entry, run_module});
  stack_id const foreign = builder.stack({unwinder, linear, call_impl});
  snapshot const input = builder.build();
  site_table sites(input, in_project(), site_rule::project);
  EXPECT_EQ(sites.chain_of(stack), "forward:42 <- forward:7 <- train.py:99");
  EXPECT_EQ(sites.chain_of(foreign), "forward:125 <- _call_impl:1562");
}

TEST(sites, chain_of_cxx_frames_leaves_parameters_out) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({unwinder, empty_cuda, matmul, evaluate});
  snapshot const input = builder.build();
  site_table sites(input, in_project(), site_rule::project);
  EXPECT_EQ(sites.chain_of(stack), "at::_ops::mm::call <- _PyEval_EvalFrameDefault");
  EXPECT_EQ(sites[sites.site_of(stack)].label, "at::_ops::mm::call");
}

TEST(sites, chain_has_at_most_five_frames) {
  snapshot_builder builder;
  stack_id const stack = builder.stack({{"a", "/code/proj/a.py", 1},
                                        {"b", "/code/proj/a.py", 2},
                                        {"c", "/code/proj/a.py", 3},
                                        {"d", "/code/proj/a.py", 4},
                                        {"e", "/code/proj/a.py", 5},
                                        {"f", "/code/proj/a.py", 6}});
  snapshot const input = builder.build();
  site_table sites(input, in_project(), site_rule::project);
  EXPECT_EQ(sites.chain_of(stack), "a:1 <- b:2 <- c:3 <- d:4 <- e:5");
}

TEST(sites, long_template_names_are_cut_between_characters) {
  std::string const name = std::string(119, 'x') + "\u00fc" + std::string(1000, 'y');
  std::string const text = text_for({{name, "??", 0}}, in_project());
  EXPECT_EQ(text, std::string(119, 'x') + "...");
}

class sites_with_source : public ::testing::Test {
 protected:
  sites_with_source() : root_(std::filesystem::temp_directory_path() / "memreplay_sites_test") {
    std::filesystem::create_directories(root_);
    std::ofstream(root_ / "net.py") << "class Net:\n"
                                       "    def forward(self, x):\n"
                                       "        return [y for y in x]\n";
  }
  ~sites_with_source() override { std::filesystem::remove_all(root_); }

  site_options options() const {
    site_options made;
    made.project_root = root_.string();
    return made;
  }
  std::string label_for(std::string const& function, std::uint64_t line) const {
    return site_for({{function, (root_ / "net.py").string(), line}}, options()).label;
  }

  std::filesystem::path root_;
};

TEST_F(sites_with_source, label_is_the_enclosing_method) {
  EXPECT_EQ(label_for("forward", 3), "Net.forward");
  EXPECT_EQ(label_for("<listcomp>", 3), "Net.forward");
}

TEST_F(sites_with_source, label_of_a_source_that_has_changed_since_is_not_believed) {
  EXPECT_EQ(label_for("backward", 3), "backward");
  EXPECT_EQ(label_for("<module>", 3), "<module>");
}

TEST(sites_redacted, hide_homes_and_folders_outside_the_project) {
  site_options options;
  options.project_root = "/home/alice/proj";
  options.redact = true;
  site const own = site_for({{"f", "/home/alice/proj/model/a.py", 5}}, options);
  EXPECT_EQ(own.text, "model/a.py:5");
  EXPECT_EQ(own.file, "model/a.py");
  EXPECT_EQ(own.link, "");
  options.rule = site_rule::project;
  EXPECT_EQ(site_for({{"f", "/home/bob/tool.py", 5}}, options).file, "~/tool.py");
  EXPECT_EQ(site_for({{"f", "/data/secret/lib/deep/tool.py", 5}}, options).text, "deep/tool.py:5");
  EXPECT_EQ(site_for({{"f", "C:\\Users\\bob\\tool.py", 5}}, options).file, "~/tool.py");
  EXPECT_EQ(site_for({{"f", "/root/tool.py", 5}}, options).file, "~/tool.py");
}

}  // namespace
}  // namespace memreplay::reporting
