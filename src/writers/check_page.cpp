// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The answer of `check` for people: text for a terminal, markdown for the summary of a CI job.
#include <memreplay/write_report.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "writers/exactness_text.hpp"
#include "writers/markdown_text.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using namespace writers;

namespace {

/// Numbers stand right, except in the last column.
using table_row = std::vector<std::string>;

class page {
 public:
  explicit page(text_format format) : is_markdown_(format == text_format::markdown) {}

  void heading(std::string_view level, std::string_view text) {
    if (is_markdown_) {
      append(out_, "{}{} {}\n", out_.empty() ? "" : "\n", level, markdown_text(text));
    } else {
      append(out_, "{}{}\n", out_.empty() ? "" : "\n", clean_line(text));
    }
  }

  void sentence(std::string_view text) {
    append(out_, "{}{}\n", is_markdown_ ? "\n" : "", shown(text));
  }
  void point(std::string_view text) { append(out_, "- {}\n", shown(text)); }
  void gap() { out_ += '\n'; }

  void table(table_row const& head, std::vector<table_row> const& rows) {
    out_ += '\n';
    if (!is_markdown_) {
      write_columns(head, rows);
      return;
    }
    write_cells(head);
    for (std::size_t column = 0; column < head.size(); ++column)
      out_ += column == 0 || column + 1 == head.size() ? "|---" : "|---:";
    out_ += "|\n";
    for (table_row const& row : rows) write_cells(row);
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string shown(std::string_view text) const {
    return is_markdown_ ? markdown_text(text) : clean_line(text);
  }

  void write_cells(table_row const& row) {
    for (std::string const& cell : row) append(out_, "| {} ", markdown_text(cell));
    out_ += "|\n";
  }

  void write_columns(table_row const& head, std::vector<table_row> const& rows) {
    std::vector<std::size_t> widths;
    for (std::string const& cell : head) widths.push_back(cell.size());
    for (table_row const& row : rows) {
      for (std::size_t column = 0; column < row.size(); ++column)
        widths[column] = std::max(widths[column], row[column].size());
    }
    write_aligned(head, widths);
    for (table_row const& row : rows) write_aligned(row, widths);
  }

  void write_aligned(table_row const& row, std::vector<std::size_t> const& widths) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::string const cell = clean_line(row[column]);
      if (column + 1 == row.size()) {
        append(out_, "  {}\n", cell);
      } else if (column == 0) {
        append(out_, "{:<{}}", cell, widths[column]);
      } else {
        append(out_, "  {:>{}}", cell, widths[column]);
      }
    }
  }

  bool is_markdown_;
  std::string out_;
};

std::string signed_bytes(std::int64_t bytes) { return (bytes < 0 ? "" : "+") + byte_text(bytes); }

std::string growth_text(check_row const& row) {
  if (!row.growth) return "-";
  std::string text =
      row.growth->low == row.growth->high
          ? signed_bytes(row.growth->low)
          : fmt::format("{} to {}", signed_bytes(row.growth->low), signed_bytes(row.growth->high));
  if (row.growth_percent) text += fmt::format(" ({:+.2f} %)", *row.growth_percent);
  return text;
}

std::string value_text(std::optional<exactness> const& value) {
  return value ? base::byte_range_text(value->low, value->high) : std::string("-");
}

char const* result_text(check_result result) {
  switch (result) {
    case check_result::holds: return "holds";
    case check_result::exceeded: return "EXCEEDED";
    case check_result::cannot_tell: return "cannot tell";
    case check_result::not_limited: return "no limit";
  }
  return "";
}

table_row cells_of(check_row const& row) {
  return {row.name,
          value_text(row.baseline),
          value_text(row.now),
          growth_text(row),
          row.limit ? row.limit->text : "-",
          value_text(row.allowed),
          result_text(row.result)};
}

void write_rows(char const* what, std::vector<check_row> const& rows, page& out) {
  if (rows.empty()) return;
  std::vector<table_row> cells;
  for (check_row const& row : rows) cells.push_back(cells_of(row));
  out.table({what, "baseline", "now", "growth", "limit", "allowed", "result"}, cells);
}

std::string site_text(site_growth_row const& row) {
  std::string text = row.site;
  if (!row.label.empty()) text += " (" + row.label + ")";
  if (row.baseline_site.empty()) return text + ", new";
  return row.baseline_site == row.site ? text : text + ", was " + row.baseline_site;
}

void write_grown(check_device const& device, page& out) {
  if (device.grown.empty()) return;
  std::vector<table_row> rows;
  for (site_growth_row const& row : device.grown) {
    rows.push_back({signed_bytes(row.growth_bytes), byte_text(row.baseline_bytes),
                    byte_text(row.bytes), count_text(row.baseline_tensors), count_text(row.tensors),
                    site_text(row)});
  }
  growth_rest_row const& rest = device.rest;
  if (rest.sites > 0 || rest.growth_bytes != 0) {
    rows.push_back({signed_bytes(rest.growth_bytes), byte_text(rest.baseline_bytes),
                    byte_text(rest.bytes), "", "", count_text(rest.sites, "more site")});
  }
  rows.push_back({signed_bytes(device.peak_growth_bytes), "", "", "", "", "growth of the peak"});
  out.table({"growth", "baseline", "now", "tensors before", "tensors now",
             "sites at the peak that changed most"},
            rows);
}

void write_audit(std::string const& of, audit const& rows, page& out) {
  if (rows.empty()) return;
  out.heading("##", "Audit of " + of);
  out.gap();
  for (audit_row const& row : rows)
    out.point(fmt::format("{}: {} ({}): {}", to_string(row.level), row.kind, count_text(row.count),
                          row.message));
}

std::string verdict_of(check_report const& model) {
  if (model.held + model.exceeded + model.cannot_tell == 0) return "no limit was asked";
  std::string text = model.result == check_result::exceeded      ? "FAILED"
                     : model.result == check_result::cannot_tell ? "PASSED with a doubt"
                                                                 : "PASSED";
  text += fmt::format(": {} held, {} exceeded", count_text(model.held, "limit"),
                      count_text(model.exceeded));
  if (model.cannot_tell > 0)
    text += fmt::format(", {} cannot be told", count_text(model.cannot_tell));
  return text;
}

}  // namespace

std::string write_check_page(check_report const& model, text_format format) {
  page out(format);
  out.heading("#", fmt::format("{}: {}", check_signature, verdict_of(model)));
  out.sentence(model.baseline_file.empty()
                   ? fmt::format("{}, without a baseline", model.file)
                   : fmt::format("{} against {}", model.file, model.baseline_file));
  out.sentence(fmt::format("measure {}, {} sizes, carried-in memory {}", to_string(model.plan.what),
                           to_string(model.plan.sizes),
                           model.plan.older == carried_in::include ? "included" : "ignored"));
  if (!model.failures.empty() || !model.warnings.empty()) out.gap();
  for (std::string const& reason : model.failures) out.point(reason);
  for (std::string const& reason : model.warnings) out.point(reason);
  for (check_device const& device : model.devices) {
    out.heading("##", fmt::format("Device {}", device.device));
    write_rows("measure", device.measures, out);
    write_rows("site", device.sites, out);
    write_grown(device, out);
    write_audit(fmt::format("device {}", device.device), device.defects, out);
  }
  write_audit("the file", model.defects, out);
  return out.take();
}

}  // namespace memreplay
