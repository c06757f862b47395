// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The named table that says which frames are machinery and not somebody's model.
#pragma once

#include <cstdint>
#include <string_view>

#include "report/path_parts.hpp"

namespace memreplay::reporting {

enum class file_kind : std::uint8_t {
  user,       ///< Python source of the user, or of a library that a user's model is made of
  machinery,  ///< Python source of PyTorch, CUDA bindings, the interpreter, import machinery, a
              ///< launcher
  generated,  ///< Python source that a compiler wrote: the frames it stands for follow it in the
              ///< stack
  native,     ///< C++ source, a shared library, an executable, or unknown (`??`)
};

/// What the table says about a file; `parts` are those of `path`.
[[nodiscard]] file_kind kind_of_file(std::string_view path, path_parts const& parts);

/// A function name that stands for no place in a model: `<module>`, `_call_impl`, ...
[[nodiscard]] bool is_machinery_function(std::string_view function) noexcept;

/// The qualified name within a demangled C++ function: without return type and parameters.
[[nodiscard]] std::string_view cxx_name(std::string_view function) noexcept;

/// A C++ function that stands in every recorded stack (the unwinder, the allocator), so that
/// blaming it says nothing.
[[nodiscard]] bool is_recorder_function(std::string_view function) noexcept;

/// Whether a part below a project's root belongs to an environment installed there
/// (`.venv/lib/python3.11/...`) or was generated, and is hence not the project's own. Looks at
/// components from `first` on.
[[nodiscard]] bool is_foreign_below(path_parts const& parts, std::size_t first);

/// Index of the first component after `site-packages/`, `dist-packages/` or `lib/python3.N/`; 0
/// when there is none.
[[nodiscard]] std::size_t library_tail(path_parts const& parts);

/// Whether a `line` recorded for this file can be a line of source: with dladdr symbolization it is
/// a code offset.
[[nodiscard]] bool has_source_lines(path_parts const& parts);

}  // namespace memreplay::reporting
