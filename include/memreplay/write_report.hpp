// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The writers: report model in, text out. They compute no number and read nothing else.
#pragma once

#include <string>

#include <memreplay/check_report.hpp>
#include <memreplay/comparison.hpp>
#include <memreplay/moment_report.hpp>
#include <memreplay/oom_report.hpp>
#include <memreplay/report.hpp>
#include <memreplay/segment_report.hpp>
#include <memreplay/step_report.hpp>
#include <memreplay/timeline_report.hpp>

namespace memreplay {

/// How the texts begin, so that a file can be recognised as ours before it is overwritten.
inline constexpr char const* markdown_signature = "# GPU memory peaks";
inline constexpr char const* info_signature = "memreplay info";
inline constexpr char const* comparison_signature = "memreplay compare";
inline constexpr char const* at_signature = "memreplay at";
inline constexpr char const* steps_signature = "memreplay steps";
inline constexpr char const* leaks_signature = "memreplay leaks";
inline constexpr char const* oom_signature = "memreplay oom";
inline constexpr char const* segments_signature = "memreplay segments";
inline constexpr char const* timeline_page_signature = "memreplay timeline";
inline constexpr char const* timeline_svg_signature = "memreplay timeline";
inline constexpr char const* check_signature = "GPU memory check";

/// How an answer is printed for people. JSON is for programs.
enum class text_format { text, markdown };

/// The peak report as GitHub-flavoured markdown. `picture` is a file of the curve to show, as seen
/// from the report's folder; empty = none.
[[nodiscard]] std::string write_markdown(report const& model, std::string const& picture = {});
/// `memreplay info` as text for a terminal.
[[nodiscard]] std::string write_info_text(report const& model);
/// The model as JSON, schema in `docs/report-schema.md`. Ends in a newline.
[[nodiscard]] std::string write_json(report const& model);
[[nodiscard]] std::string write_info_json(report const& model);
[[nodiscard]] std::string write_comparison(comparison const& model, text_format format);
[[nodiscard]] std::string write_comparison_json(comparison const& model);
[[nodiscard]] std::string write_at(at_report const& model, text_format format);
[[nodiscard]] std::string write_at_json(at_report const& model);
[[nodiscard]] std::string write_at_comparison(at_comparison const& model, text_format format);
[[nodiscard]] std::string write_at_comparison_json(at_comparison const& model);
[[nodiscard]] std::string write_steps(steps_report const& model, text_format format);
[[nodiscard]] std::string write_steps_json(steps_report const& model);
[[nodiscard]] std::string write_leaks(leaks_report const& model, text_format format);
[[nodiscard]] std::string write_leaks_json(leaks_report const& model);
[[nodiscard]] std::string write_oom(oom_report const& model, text_format format);
[[nodiscard]] std::string write_oom_json(oom_report const& model);

/// `segments`, for people and for programs.
[[nodiscard]] std::string write_segments(segments_report const& model, text_format format);
[[nodiscard]] std::string write_segments_json(segments_report const& model);

/// `timeline`: the page that draws it, its data alone (docs/page-data.md), and a picture.
[[nodiscard]] std::string write_timeline_page(timeline_report const& model);
[[nodiscard]] std::string write_timeline_json(timeline_report const& model);
[[nodiscard]] std::string write_timeline_svg(timeline_report const& model);
/// False in a build without the page, which npm makes.
[[nodiscard]] bool has_timeline_page() noexcept;

/// A baseline file, schema `memreplay.baseline/1`.
[[nodiscard]] std::string write_baseline(memory_baseline const& model);
[[nodiscard]] std::string write_check_json(check_report const& model);
/// Markdown is meant for the summary page of a CI job.
[[nodiscard]] std::string write_check_page(check_report const& model, text_format format);

}  // namespace memreplay
