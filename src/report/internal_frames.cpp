// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The named table that says which frames are machinery and not somebody's model.
#include "report/internal_frames.hpp"

#include <algorithm>
#include <array>

namespace memreplay::reporting {
namespace {

/// `pattern` is a sequence of components joined by `/`, found anywhere in the path; a component
/// that ends in
/// `*` matches by its beginning. Sequences and not words: a user's folder called `torch` is not
/// PyTorch. Asked about Python sources only: `bin/torchrun` and C++ files are `native` before any
/// rule is tried.
struct path_rule {
  char const* name;
  file_kind kind;
  std::string_view pattern;
};

constexpr path_rule path_rules[] = {
    {"inductor", file_kind::generated, "torchinductor_*"},
    {"torchscript", file_kind::generated, "code/__torch__"},
    {"pytorch", file_kind::machinery, "site-packages/torch"},
    {"pytorch", file_kind::machinery, "dist-packages/torch"},
    {"pytorch-egg", file_kind::machinery, "site-packages/torch-*"},
    {"pytorch-checkout", file_kind::machinery, "pytorch/torch"},
    {"pytorch-checkout", file_kind::machinery, "torch/nn/modules"},
    {"pytorch-checkout", file_kind::machinery, "torch/utils/_contextlib.py"},
    {"pytorch-checkout", file_kind::machinery, "torch/autograd/function.py"},
    {"pytorch-checkout", file_kind::machinery, "torch/autograd/graph.py"},
    {"pytorch-checkout", file_kind::machinery, "torch/_dynamo"},
    {"pytorch-checkout", file_kind::machinery, "torch/_inductor"},
    {"functorch", file_kind::machinery, "site-packages/functorch"},
    {"functorch", file_kind::machinery, "dist-packages/functorch"},
    {"torch-devices", file_kind::machinery, "site-packages/torch_npu"},
    {"torch-devices", file_kind::machinery, "site-packages/torch_xla"},
    {"triton", file_kind::machinery, "site-packages/triton"},
    {"triton", file_kind::machinery, "dist-packages/triton"},
    {"cuda", file_kind::machinery, "site-packages/cuda"},
    {"cuda", file_kind::machinery, "dist-packages/cuda"},
    {"cuda", file_kind::machinery, "site-packages/nvidia"},
    {"cuda", file_kind::machinery, "dist-packages/nvidia"},
    {"hydra", file_kind::machinery, "site-packages/hydra"},
    {"hydra", file_kind::machinery, "dist-packages/hydra"},
    {"notebook", file_kind::machinery, "site-packages/IPython"},
    {"notebook", file_kind::machinery, "site-packages/ipykernel"},
    {"notebook", file_kind::machinery, "dist-packages/IPython"},
    {"notebook", file_kind::machinery, "dist-packages/ipykernel"},
    {"debugger", file_kind::machinery, "site-packages/debugpy"},
    {"launcher", file_kind::machinery, "site-packages/accelerate/commands"},
    {"launcher", file_kind::machinery, "runpy.py"},
};

/// Names of "files" that are none, matched by their beginning.
struct pseudo_file_rule {
  char const* name;
  file_kind kind;
  std::string_view beginning;
};

constexpr pseudo_file_rule pseudo_file_rules[] = {
    {"notebook-cell", file_kind::user, "<ipython-input"},
    {"notebook-cell", file_kind::user, "<cell"},
    {"prompt", file_kind::user, "<stdin>"},
    {"unwinder", file_kind::native, "<unwind unsupported>"},
    {"fx", file_kind::generated, "<eval_with_key>"},
    {"frozen", file_kind::machinery, "<frozen"},
    {"generated", file_kind::machinery, "<"},
};

constexpr std::array<std::string_view, 4> machinery_functions = {
    "<module>",
    "_call_impl",
    "_wrapped_call_impl",
    "_compiled_call_impl",
};

constexpr std::array<std::string_view, 9> recorder_functions = {
    "torch::unwind::", "torch::CapturedTraceback::",  "torch::symbolize", "torch::cuda::",
    "c10::cuda::",     "c10::CachingDeviceAllocator", "c10::StorageImpl", "c10::Allocator",
    "at::detail::",
};

constexpr std::array<std::string_view, 3> python_suffixes = {".py", ".pyx", ".pyw"};
constexpr std::array<std::string_view, 4> binary_suffixes = {".dll", ".pyd", ".dylib", ".exe"};

constexpr std::string_view anonymous_namespace = "(anonymous namespace)";
constexpr std::string_view operator_word = "operator";

/// Characters of `operator()`, `operator<<` or `operator new` at the beginning of the text, whose
/// marks would else be read as brackets and blanks.
std::size_t operator_length(std::string_view text) noexcept {
  std::size_t length = operator_word.size();
  std::string_view const mark = text.substr(length);
  if (mark.starts_with("()")) return length + 2;
  if (mark.starts_with(' ')) return length + 1;
  while (length < text.size() &&
         std::string_view("<>=!+-*/%&|^~").find(text[length]) != std::string_view::npos) {
    ++length;
  }
  return length;
}

bool component_matches(std::string_view component, std::string_view pattern) {
  if (pattern.ends_with('*')) {
    pattern.remove_suffix(1);
    return component.starts_with(pattern);
  }
  return component == pattern;
}

bool matches_at(path_parts const& parts, std::size_t at, std::string_view pattern) {
  while (!pattern.empty()) {
    std::size_t const end = std::min(pattern.find('/'), pattern.size());
    if (at >= parts.size() || !component_matches(parts[at], pattern.substr(0, end))) return false;
    ++at;
    pattern.remove_prefix(std::min(pattern.size(), end + 1));
  }
  return true;
}

bool contains(path_parts const& parts, std::string_view pattern) {
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (matches_at(parts, at, pattern)) return true;
  }
  return false;
}

bool is_package_folder(std::string_view component) {
  return component == "site-packages" || component == "dist-packages";
}

bool is_python_folder(std::string_view component) {  // python3, python3.11, pypy3.10
  return component.starts_with("python3") || component.starts_with("pypy3");
}

/// First component below the standard library's folder, or 0: `lib/python3.N/`, `Python311/Lib/`,
/// and nothing installed below it.
std::size_t standard_library_tail(path_parts const& parts, std::size_t first) {
  std::size_t found = 0;
  for (std::size_t at = first; at + 1 < parts.size(); ++at) {
    if (is_package_folder(parts[at])) return 0;
    bool const is_posix =
        (parts[at] == "lib" || parts[at] == "lib64") && is_python_folder(parts[at + 1]);
    bool const is_windows = parts[at].starts_with("Python3") && parts[at + 1] == "Lib";
    if (is_posix || is_windows) found = at + 2;
  }
  return found < parts.size() ? found : 0;
}

bool is_python_source(std::string_view name) {
  return std::any_of(python_suffixes.begin(), python_suffixes.end(),
                     [name](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace

file_kind kind_of_file(std::string_view path, path_parts const& parts) {
  if (path.starts_with('<')) {
    for (pseudo_file_rule const& rule : pseudo_file_rules) {
      if (path.starts_with(rule.beginning)) return rule.kind;
    }
  }
  if (!is_python_source(parts.file_name())) return file_kind::native;
  for (path_rule const& rule : path_rules) {
    if (contains(parts, rule.pattern)) return rule.kind;
  }
  return standard_library_tail(parts, 0) > 0 ? file_kind::machinery : file_kind::user;
}

bool is_machinery_function(std::string_view function) noexcept {
  return std::find(machinery_functions.begin(), machinery_functions.end(), function) !=
         machinery_functions.end();
}

std::string_view cxx_name(std::string_view function) noexcept {
  std::size_t name_begin = 0;
  std::size_t depth = 0;  // of template arguments
  for (std::size_t at = 0; at < function.size(); ++at) {
    std::string_view const rest = function.substr(at);
    if (rest.starts_with(anonymous_namespace)) {
      at += anonymous_namespace.size() - 1;
    } else if (depth == 0 && rest.starts_with(operator_word)) {
      at += operator_length(rest) - 1;
    } else if (rest.front() == '<') {
      ++depth;
    } else if (rest.front() == '>' && depth > 0) {
      --depth;
    } else if (depth == 0 && rest.front() == ' ') {
      name_begin = at + 1;
    } else if (depth == 0 && rest.front() == '(') {
      return function.substr(name_begin, at - name_begin);
    }
  }
  return function;
}

bool is_recorder_function(std::string_view function) noexcept {
  std::string_view const name = cxx_name(function);
  return std::any_of(recorder_functions.begin(), recorder_functions.end(),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

bool is_foreign_below(path_parts const& parts, std::size_t first) {
  for (std::size_t at = first; at < parts.size(); ++at) {
    if (is_package_folder(parts[at]) || parts[at].starts_with("torchinductor_")) return true;
  }
  return standard_library_tail(parts, first) > 0;
}

std::size_t library_tail(path_parts const& parts) {
  for (std::size_t at = parts.size(); at-- > 0;) {
    if (is_package_folder(parts[at]) && at + 1 < parts.size()) return at + 1;
  }
  return standard_library_tail(parts, 0);
}

bool has_source_lines(path_parts const& parts) {
  std::string_view const name = parts.file_name();
  if (is_python_source(name)) return true;
  if (name.ends_with(".so") || name.find(".so.") != std::string_view::npos) return false;
  if (std::any_of(binary_suffixes.begin(), binary_suffixes.end(),
                  [name](std::string_view suffix) { return name.ends_with(suffix); })) {
    return false;
  }
  return parts.size() < 2 || parts[parts.size() - 2] != "bin";
}

}  // namespace memreplay::reporting
