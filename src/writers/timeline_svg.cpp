// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The curves of a timeline as one picture for pages that run no scripts, in light and dark.
#include <memreplay/write_report.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/byte_text.hpp"
#include "writers/chart_axis.hpp"
#include "writers/exactness_text.hpp"
#include "writers/plain_text.hpp"

namespace memreplay {

using base::byte_text;
using namespace writers;

namespace {

// Places in the picture, in its own units.
constexpr double left = 64, right = 944, top = 62, bottom = 300;
constexpr double tick_length = 5, line_height = 16;
constexpr int picture_width = 960, picture_height = 364;
constexpr double narrowest_step = 26;   ///< between numbers of steps
constexpr double narrowest_label = 18;  ///< between numbers of peaks
constexpr std::size_t longest_name = 60, most_names = 6;

/// Distinct for most eyes, on white and on black.
constexpr std::array<char const*, 6> colors = {"#0072b2", "#d55e00", "#009e73",
                                               "#cc79a7", "#e69f00", "#56b4e9"};

constexpr std::string_view style =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}\n"
    ".title{font-size:14px;font-weight:600}\n"
    ".soft{fill:#59636e}\n"
    ".grid{stroke:#d1d9e0;stroke-width:1}\n"
    ".axis{stroke:#59636e;stroke-width:1}\n"
    ".step{stroke:#59636e;stroke-width:1;stroke-dasharray:2 4}\n"
    ".reserved{fill:none;stroke:#818b98;stroke-width:1.5}\n"
    ".peak{fill:#ffffff;stroke-width:2}\n"
    ".oom{stroke:#cf222e;stroke-width:1.5}\n"
    "text.oom{stroke:none;fill:#cf222e;font-weight:600}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#f0f6fc}.soft{fill:#9198a1}.grid{stroke:#3d444d}.axis,.step{stroke:#9198a1}\n"
    ".peak{fill:#0d1117}.oom{stroke:#ff7b72}text.oom{fill:#ff7b72}\n"
    "}\n"
    "</style>\n";

/// Valid in XML and one line, whatever it contains; at most so many bytes, unless 0.
std::string svg_text(std::string_view text, std::size_t longest = 0) {
  std::string const clean = clean_line(text);
  std::string out;
  for (std::size_t at = 0; at < clean.size(); ++at) {
    bool const begins = (static_cast<unsigned char>(clean[at]) & 0xC0U) != 0x80U;
    if (longest > 0 && at >= longest && begins) return out + "...";
    // U+FFFE and U+FFFF are no characters of XML.
    std::string_view const next = std::string_view(clean).substr(at, 3);
    if (next == "\xEF\xBF\xBE" || next == "\xEF\xBF\xBF") {
      out += "\xEF\xBF\xBD";
      at += 2;
      continue;
    }
    switch (clean[at]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += clean[at];
    }
  }
  return out;
}

/// One curve and its colour.
struct series {
  timeline_run const* run;
  device_timeline const* device;
  timeline_curve const* curve;  ///< of the run's measure
  std::string name;
  char const* color;
};

timeline_curve const& measured_curve(timeline_run const& run, device_timeline const& device) {
  switch (run.plan.what) {
    case measure::allocated: break;
    case measure::active: return device.curves.active;
    case measure::reserved: return device.curves.reserved;
  }
  return device.curves.allocated;
}

std::vector<series> all_series(timeline_report const& model) {
  std::vector<series> made;
  for (timeline_run const& run : model.runs) {
    for (device_timeline const& device : run.devices) {
      std::string name = run.label;
      if (run.devices.size() > 1) name += fmt::format(", device {}", device.device);
      made.push_back({&run, &device, &measured_curve(run, device), std::move(name),
                      colors[made.size() % colors.size()]});
    }
  }
  return made;
}

bool shows_reserved(std::vector<series> const& shown) {
  return shown.size() == 1 && shown.front().run->plan.what != measure::reserved;
}

/// From values to places. The bottom is 0 bytes.
struct scales {
  bool has_times;  ///< of every curve: the axis is of seconds, else of events
  double most_across;
  double most_bytes;

  explicit scales(std::vector<series> const& shown)
      : has_times(true), most_across(0), most_bytes(0) {
    for (series const& one : shown)
      has_times = has_times && (one.device->has_times || one.device->events == 0);
    for (series const& one : shown) {
      timeline_curves const& curves = one.device->curves;
      most_across = std::max(most_across, across(curves, curves.first_event.size() - 1));
      most_bytes = std::max(most_bytes, static_cast<double>(one.curve->peak_bytes));
      if (shows_reserved(shown))
        most_bytes = std::max(most_bytes, static_cast<double>(curves.reserved.peak_bytes));
    }
    if (most_across <= 0) most_across = 1;
    if (most_bytes <= 0) most_bytes = 1;
  }

  /// Of where a bucket begins.
  [[nodiscard]] double across(timeline_curves const& curves, std::size_t bucket) const {
    if (!has_times) return static_cast<double>(curves.first_event[bucket]);
    return curves.seconds.empty() ? 0.0 : curves.seconds[bucket];
  }
  [[nodiscard]] double x_of(double value) const {
    return left + (right - left) * std::clamp(value / most_across, 0.0, 1.0);
  }
  [[nodiscard]] double x_of(event_index event, std::optional<double> const& seconds) const {
    return x_of(has_times ? seconds.value_or(0.0) : static_cast<double>(event));
  }
  /// Of any event, as exactly as the buckets are.
  [[nodiscard]] double x_of(timeline_curves const& curves, event_index event) const {
    if (!has_times) return x_of(static_cast<double>(event));
    auto const found =
        std::upper_bound(curves.first_event.begin(), curves.first_event.end(), event);
    auto const bucket = std::max<std::ptrdiff_t>(found - curves.first_event.begin(), 1) - 1;
    return x_of(across(curves, static_cast<std::size_t>(bucket)));
  }
  [[nodiscard]] double y_of(double bytes) const {
    return bottom - (bottom - top) * std::clamp(bytes / most_bytes, 0.0, 1.0);
  }
  [[nodiscard]] double y_of(std::int64_t bytes) const { return y_of(static_cast<double>(bytes)); }
};

void write_axes(scales const& at, std::string& out) {
  chart_axis const bytes = make_byte_axis(at.most_bytes);
  for (axis_tick const& tick : bytes.ticks) {
    double const y = at.y_of(tick.value);
    append(out, "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", left,
           right, y, y);
    append(out, "<text class=\"soft\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
           left - 8, y + 4, tick.text);
  }
  append(out, "<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 8,
         top - 12, bytes.unit);
  chart_axis const across =
      at.has_times ? make_seconds_axis(at.most_across) : make_event_axis(at.most_across);
  for (axis_tick const& tick : across.ticks) {
    double const x = at.x_of(tick.value);
    append(out, "<line class=\"axis\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>\n", x, x,
           bottom, bottom + tick_length);
    append(out, "<text class=\"soft\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x,
           bottom + tick_length + line_height - 3, tick.text);
  }
  append(out, "<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", right,
         bottom + tick_length + 2 * line_height, across.unit);
  append(out, "<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", left, right,
         bottom, bottom);
}

/// Along the upper edge of the buckets, from the left to the right.
void append_upper_edge(timeline_curves const& curves, timeline_curve const& curve, scales const& at,
                       std::string& out) {
  for (std::size_t bucket = 0; bucket < curve.high_bytes.size(); ++bucket) {
    append(out, "V{:.1f}H{:.1f}", at.y_of(curve.high_bytes[bucket]),
           at.x_of(at.across(curves, bucket + 1)));
  }
}

/// The curve with everything below it, and its buckets from their least to their greatest value.
void write_curve(series const& one, bool is_filled, scales const& at, std::string& out) {
  timeline_curves const& curves = one.device->curves;
  timeline_curve const& curve = *one.curve;
  if (curve.high_bytes.empty()) {
    double const y = at.y_of(curve.end_bytes);
    append(out, "<path fill=\"none\" stroke=\"{}\" d=\"M{} {:.1f}H{}\"/>\n", one.color, left, y,
           right);
    return;
  }
  double const begin = at.x_of(at.across(curves, 0));
  if (is_filled) {
    append(out, "<path fill=\"{}\" fill-opacity=\"0.18\" d=\"M{:.1f} {}", one.color, begin, bottom);
    append_upper_edge(curves, curve, at, out);
    append(out, "V{}Z\"/>\n", bottom);
  }
  append(out, "<path fill=\"{}\" stroke=\"{}\" stroke-linejoin=\"round\" d=\"M{:.1f} {:.1f}",
         one.color, one.color, begin, at.y_of(curve.low_bytes.front()));
  append_upper_edge(curves, curve, at, out);
  for (std::size_t bucket = curve.low_bytes.size(); bucket-- > 0;) {
    append(out, "V{:.1f}H{:.1f}", at.y_of(curve.low_bytes[bucket]),
           at.x_of(at.across(curves, bucket)));
  }
  out += "Z\"/>\n";
}

void write_reserved(device_timeline const& device, scales const& at, std::string& out) {
  timeline_curve const& curve = device.curves.reserved;
  if (curve.high_bytes.empty()) return;
  append(out, "<path class=\"reserved\" d=\"M{:.1f} {:.1f}", at.x_of(at.across(device.curves, 0)),
         at.y_of(curve.high_bytes.front()));
  append_upper_edge(device.curves, curve, at, out);
  out += "\"/>\n";
}

void write_steps(device_timeline const& device, scales const& at, std::string& out) {
  double last = left - narrowest_step;
  for (timeline_step const& step : device.steps) {
    double const x = at.x_of(device.curves, step.first_event);
    if (x - last < narrowest_step) continue;
    last = x;
    append(out, "<line class=\"step\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>\n", x, x,
           top - 8, bottom);
    append(out, "<text class=\"soft\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", x + 3, top - 2,
           step.number);
  }
}

void write_ooms(series const& one, scales const& at, std::string& out) {
  for (oom_row const& row : one.device->ooms) {
    double const x = at.x_of(row.event, row.seconds);
    append(out, "<line class=\"oom\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>\n", x, x,
           top - 8, bottom);
  }
  if (one.device->ooms.empty()) return;
  oom_row const& row = one.device->ooms.back();
  double const x = at.x_of(row.event, row.seconds);
  bool const is_near_end = x > (left + right) / 2;
  append(out, "<text class=\"oom\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">OOM {}</text>\n",
         is_near_end ? x - 4 : x + 4, bottom - 6, is_near_end ? "end" : "start",
         byte_text(row.requested_bytes));
}

/// All of a lone curve, else the largest alone. Numbers that would lie upon each other are left
/// out.
void write_peaks(series const& one, bool is_alone, scales const& at, std::string& out) {
  std::vector<std::pair<double, double>> labelled;
  for (std::size_t rank = 0; rank < one.device->peaks.size(); ++rank) {
    if (!is_alone && rank > 0) break;
    peak_report const& peak = one.device->peaks[rank];
    double const x = at.x_of(peak.event, peak.seconds);
    double const y = at.y_of(peak.bytes);
    append(out, "<circle class=\"peak\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" stroke=\"{}\"/>\n", x,
           y, one.color);
    bool const is_free = std::none_of(labelled.begin(), labelled.end(), [&](auto const& other) {
      return std::abs(other.first - x) < narrowest_label &&
             std::abs(other.second - y) < line_height;
    });
    if (!is_alone || !is_free) continue;
    labelled.emplace_back(x, y);
    bool const is_near_end = x > right - 90;
    append(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
           is_near_end ? x - 7 : x + 7, y - 4, is_near_end ? "end" : "start",
           rank == 0 ? byte_text(peak.bytes) : fmt::format("{}", rank + 1));
  }
}

std::string title_of(std::vector<series> const& shown) {
  if (shown.empty()) return "GPU memory";
  series const& first = shown.front();
  std::string const what =
      fmt::format("GPU memory, {}{}", to_string(first.run->plan.what),
                  first.run->plan.sizes == size_basis::block ? " (block sizes)" : "");
  if (shown.size() > 1) return what;
  return fmt::format("{}: {}, device {}, peak {}", what, svg_text(first.name, longest_name),
                     first.device->device, exactness_text(first.device->measured_exactness));
}

/// Of several curves, or of a curve below what is reserved.
void write_legend(std::vector<series> const& shown, std::string& out) {
  double const y = bottom + tick_length + 2 * line_height;
  if (shows_reserved(shown)) {
    append(out, "<path class=\"reserved\" d=\"M{} {}h18\"/>\n", left, y - 4);
    append(out, "<text class=\"soft\" x=\"{}\" y=\"{}\">reserved</text>\n", left + 24, y);
    return;
  }
  if (shown.size() < 2) return;
  std::size_t const names = std::min(shown.size(), most_names);
  double const column = (right - left - 80) / 3;
  for (std::size_t row = 0; row < names; ++row) {
    double const x = left + column * static_cast<double>(row % 3);
    double const line = y + line_height * static_cast<double>(row / 3);
    append(out, "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x,
           line - 9, shown[row].color);
    append(out, "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 15, line,
           svg_text(shown[row].name, longest_name / 2));
  }
  if (shown.size() <= names) return;
  append(out, "<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">and {} more</text>\n",
         right, y + line_height, shown.size() - names);
}

void write_description(std::vector<series> const& shown, std::string& out) {
  out += "<desc>";
  for (series const& one : shown) {
    append(out, "{}, device {}: peak {} {}. ", svg_text(one.name), one.device->device,
           exactness_text(one.device->measured_exactness),
           event_text(one.device->measured.peak_event));
    for (oom_row const& row : one.device->ooms) {
      append(out, "Out of memory {}: {} requested. ", event_text(row.event),
             byte_text(row.requested_bytes));
    }
  }
  out += "</desc>\n";
}

}  // namespace

std::string write_timeline_svg(timeline_report const& model) {
  std::vector<series> const shown = all_series(model);
  scales const at(shown);
  std::string const title = title_of(shown);
  std::string out;
  append(out,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
         "height=\"{1}\" role=\"img\">\n<!-- {2} -->\n<title>{3}</title>\n",
         picture_width, picture_height, timeline_svg_signature, title);
  write_description(shown, out);
  out += style;
  append(out, "<text class=\"title\" x=\"{}\" y=\"22\">{}</text>\n", left - 48, title);
  write_axes(at, out);
  bool const is_alone = shown.size() == 1;
  if (shows_reserved(shown)) write_reserved(*shown.front().device, at, out);
  for (series const& one : shown) write_curve(one, is_alone, at, out);
  if (!shown.empty()) write_steps(*shown.front().device, at, out);
  for (series const& one : shown) write_ooms(one, at, out);
  for (series const& one : shown) write_peaks(one, is_alone, at, out);
  write_legend(shown, out);
  out += "</svg>\n";
  return out;
}

}  // namespace memreplay
