// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The answer of `check` for people: text for a terminal, markdown for the summary of a CI job.
#include <memreplay/write_report.hpp>

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "writers/page.hpp"
#include "writers/page_parts.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using base::signed_byte_text;
using namespace writers;

namespace {

std::string growth_text(check_row const& row) {
  if (!row.growth) return "-";
  std::string text = row.growth->low == row.growth->high
                         ? signed_byte_text(row.growth->low)
                         : fmt::format("{} to {}", signed_byte_text(row.growth->low),
                                       signed_byte_text(row.growth->high));
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

void show_rows(char const* what, std::vector<check_row> const& rows, page& shown) {
  if (rows.empty()) return;
  page_table& table = shown.table({{what},
                                   {"baseline", align::right},
                                   {"now", align::right},
                                   {"growth", align::right},
                                   {"limit", align::right},
                                   {"allowed", align::right},
                                   {"result"}});
  for (check_row const& row : rows) {
    table.add({row.name, value_text(row.baseline), value_text(row.now), growth_text(row),
               row.limit ? row.limit->text : "-", value_text(row.allowed),
               result_text(row.result)});
  }
}

std::string site_text(site_growth_row const& row) {
  std::string text = row.site;
  if (!row.label.empty()) text += " (" + row.label + ")";
  if (row.baseline_site.empty()) return text + ", new";
  return row.baseline_site == row.site ? text : text + ", was " + row.baseline_site;
}

void show_grown(check_device const& device, page& shown) {
  if (device.grown.empty()) return;
  page_table& table = shown.table({{"growth", align::right},
                                   {"baseline", align::right},
                                   {"now", align::right},
                                   {"tensors before", align::right},
                                   {"tensors now", align::right},
                                   {"sites at the peak that changed most"}});
  for (site_growth_row const& row : device.grown) {
    table.add({signed_byte_text(row.growth_bytes), byte_text(row.baseline_bytes),
               byte_text(row.bytes), count_text(row.baseline_tensors), count_text(row.tensors),
               page_cell(site_text(row), row.link)});
  }
  growth_rest_row const& rest = device.rest;
  if (rest.sites > 0 || rest.growth_bytes != 0) {
    table.add({signed_byte_text(rest.growth_bytes), byte_text(rest.baseline_bytes),
               byte_text(rest.bytes), "", "", count_text(rest.sites, "more site")},
              row_kind::rest);
  }
  table.add({signed_byte_text(device.peak_growth_bytes), "", "", "", "", "growth of the peak"},
            row_kind::total);
}

void show_audit(std::string const& of, audit const& rows, page& shown) {
  if (rows.empty()) return;
  shown.heading(2, "Audit of " + of);
  for (audit_row const& row : rows) {
    shown.bullet(fmt::format("{}: {} ({}): {}", to_string(row.level), row.kind,
                             count_text(row.count), row.message));
  }
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
  page shown;
  shown.heading(1, fmt::format("{}: {}", check_signature, verdict_of(model)));
  shown.paragraph(model.baseline_file.empty()
                      ? fmt::format("{}, without a baseline", model.file)
                      : fmt::format("{} against {}", model.file, model.baseline_file));
  show_header(model, shown);
  for (std::string const& reason : model.failures) shown.bullet(reason);
  for (std::string const& reason : model.warnings) shown.bullet(reason);
  for (check_device const& device : model.devices) {
    shown.heading(2, fmt::format("Device {}", device.device));
    show_rows("measure", device.measures, shown);
    show_rows("site", device.sites, shown);
    show_grown(device, shown);
    show_audit(fmt::format("device {}", device.device), device.defects, shown);
  }
  show_audit("the file", model.defects, shown);
  return render(shown, format);
}

}  // namespace memreplay
