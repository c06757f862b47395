// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Joins a snapshot and its replay into the report model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <memreplay/comparison.hpp>
#include <memreplay/moment_report.hpp>
#include <memreplay/questions.hpp>
#include <memreplay/replay.hpp>
#include <memreplay/report.hpp>
#include <memreplay/segment_report.hpp>
#include <memreplay/snapshot.hpp>
#include <memreplay/step_report.hpp>
#include <memreplay/timeline_report.hpp>

namespace memreplay {

/// `report`: the peaks and who holds them. `file` is the name to show.
[[nodiscard]] report make_report(snapshot const& input, replay_result const& replayed,
                                 replay_plan const& plan, report_options const& options,
                                 std::string const& file);

/// The plan of `info`: that of the command line, with the address maps of evenly spaced moments.
[[nodiscard]] replay_plan plan_info(snapshot const& input, std::int32_t device, replay_plan plan);

/// `info`: what is in the file. Same model, without peaks, with top allocators, streams, pools and
/// steps.
[[nodiscard]] report make_info(snapshot const& input, replay_result const& replayed,
                               replay_plan const& plan, report_options const& options,
                               std::string const& file);

// The other questions. Each has a plan, to be made for every device once the snapshot is read, and
// a report of the replays that followed it. Both throw `error` (bad_request) when the file cannot
// answer, with what it has instead.

/// `at`: what is live at a moment.
[[nodiscard]] replay_plan plan_at(snapshot const& input, std::int32_t device,
                                  moment_request const& asked, replay_plan plan);
[[nodiscard]] at_report make_at(snapshot const& input, replay_result const& replayed,
                                replay_plan const& plan, moment_request const& asked,
                                report_options const& options, std::string const& file);

/// One snapshot of two, with all that a comparison looks at.
struct compared_side {
  snapshot const& input;
  replay_result const& replayed;
  std::string const& file;
};
[[nodiscard]] at_comparison make_at_comparison(compared_side const& a, compared_side const& b,
                                               replay_plan const& plan, moment_request const& asked,
                                               site_match match, report_options const& options);

/// Which steps are wanted with their live sets.
struct steps_options {
  span_request spans;
  std::optional<std::int64_t> step;  ///< that one alone
  bool all_steps = false;            ///< else the one with the highest peak
};

/// `steps`: what each step allocates, where it peaks, and who is live there.
[[nodiscard]] replay_plan plan_steps(snapshot const& input, std::int32_t device,
                                     span_request const& asked, replay_plan plan);
[[nodiscard]] steps_report make_steps(snapshot const& input, replay_result const& replayed,
                                      replay_plan const& plan, steps_options const& asked,
                                      report_options const& options, std::string const& file);

/// `leaks`: what grows from step to step.
[[nodiscard]] replay_plan plan_leaks(snapshot const& input, std::int32_t device,
                                     span_request const& asked, replay_plan plan);
[[nodiscard]] leaks_report make_leaks(snapshot const& input, replay_result const& replayed,
                                      replay_plan const& plan, span_request const& asked,
                                      report_options const& options, std::string const& file);

/// `compare`: devices are set side by side by ordinal, or, where each side has one, as they are.
struct comparison_options {
  span_request spans;
  std::optional<std::int64_t> step;  ///< to look into; else where the peaks differ most
  site_match match = site_match::site;
};
/// How both traces of a pair are cut: alike, or not at all.
struct paired_spans {
  span_list a, b;
};
[[nodiscard]] paired_spans pair_spans(snapshot const& a, std::int32_t device_a, snapshot const& b,
                                      std::int32_t device_b, span_request const& asked);
/// The plan of one side.
[[nodiscard]] replay_plan plan_comparison(span_list const& cut, replay_plan plan);
[[nodiscard]] comparison make_comparison(compared_side const& a, compared_side const& b,
                                         std::vector<paired_spans> const& cuts,
                                         replay_plan const& plan, comparison_options const& asked,
                                         report_options const& options);

/// `segments`: what lies where at a moment.
[[nodiscard]] replay_plan plan_segments(snapshot const& input, std::int32_t device,
                                        moment_request const& asked, replay_plan plan);
[[nodiscard]] segments_report make_segments(snapshot const& input, replay_result const& replayed,
                                            replay_plan const& plan, moment_request const& asked,
                                            report_options const& options, std::string const& file);

/// `timeline`: how one file is drawn.
struct timeline_options {
  std::string label;                   ///< the run's name
  timeline_budget budget;              ///< of each of its devices
  std::optional<double> precision_ms;  ///< curves no finer than this, if the trace has times
};
[[nodiscard]] replay_plan plan_timeline(snapshot const& input, std::int32_t device,
                                        timeline_options const& asked, replay_plan plan);
/// The plan of a picture: the curves alone, as wide as it is.
[[nodiscard]] replay_plan plan_timeline_picture(replay_plan plan);
/// Draws what the replay has: a plan that asks for curves alone gives curves alone.
[[nodiscard]] timeline_run make_timeline(snapshot const& input, replay_result const& replayed,
                                         replay_plan const& plan, timeline_options const& asked,
                                         report_options const& options, std::string const& file);

/// Ordinal of the trace with most events (the earliest of equals); when no trace has events, the
/// device with most segment bytes; 0 in an empty file.
[[nodiscard]] std::int32_t busiest_device(snapshot const& input);
/// Every ordinal with events or segments, ascending; {0} in an empty file.
[[nodiscard]] std::vector<std::int32_t> devices_in(snapshot const& input);

}  // namespace memreplay
