// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Command lines: the defaults that scripts rely on, every option, and the words that are refused.
#include "cli/request.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace memreplay::cli {
namespace {

request asked(std::vector<std::string> const& words) {
  parsed const line = parse_command_line(words);
  EXPECT_TRUE(line.is_request) << line.text;
  return line.asked;
}

std::string refused(std::vector<std::string> const& words) {
  parsed const line = parse_command_line(words);
  EXPECT_FALSE(line.is_request);
  EXPECT_TRUE(line.is_error);
  EXPECT_TRUE(line.text.starts_with("memreplay: ")) << line.text;
  EXPECT_TRUE(line.text.ends_with("\n"));
  EXPECT_EQ(line.text.find('\n'), line.text.size() - 1) << line.text;
  return line.text;
}

std::string help(std::vector<std::string> const& words) {
  parsed const line = parse_command_line(words);
  EXPECT_FALSE(line.is_request);
  EXPECT_FALSE(line.is_error);
  return line.text;
}

TEST(request, report_defaults_are_the_contract) {
  request const report = asked({"report", "a.pickle"});
  EXPECT_EQ(report.what, command::report);
  EXPECT_EQ(report.inputs, (std::vector<std::string>{"a.pickle"}));
  EXPECT_EQ(report.top, 15);
  common_request const& common = report.common;
  EXPECT_EQ(common.plan.peak_count, 6);
  EXPECT_EQ(common.plan.dedup_ppm, 30'000);
  EXPECT_EQ(common.plan.min_separation_us, 0);
  EXPECT_EQ(common.plan.what, measure::allocated);
  EXPECT_EQ(common.plan.sizes, size_basis::requested);
  EXPECT_EQ(common.plan.older, carried_in::include);
  EXPECT_EQ(common.plan.backend, backend_choice::automatic);
  EXPECT_FALSE(common.plan.throughput);
  EXPECT_EQ(common.site.project_root, ".");
  EXPECT_EQ(common.site.links, link_style::vscode);
  EXPECT_EQ(common.site.frame_depth, 1);
  EXPECT_FALSE(common.site.rule.has_value());
  EXPECT_FALSE(common.site.redact);
  EXPECT_EQ(common.device, "busiest");
  EXPECT_EQ(common.threads, 0);
  EXPECT_FALSE(common.json || common.salvage || common.quiet || common.force);
  EXPECT_EQ(common.out, "");
}

TEST(request, the_defaults_spelled_out_are_the_defaults) {
  request const report = asked({"report", "a.pickle", "--top-n", "6", "--top-contributors", "15",
                                "--dedup-pct", "3.0", "--min-sep-ms", "0.0", "--project-root", ".",
                                "--link-style", "vscode", "--device", "busiest"});
  request const plain = asked({"report", "a.pickle"});
  EXPECT_EQ(report.common.plan.peak_count, plain.common.plan.peak_count);
  EXPECT_EQ(report.top, plain.top);
  EXPECT_EQ(report.common.plan.dedup_ppm, plain.common.plan.dedup_ppm);
  EXPECT_EQ(report.common.plan.min_separation_us, plain.common.plan.min_separation_us);
  EXPECT_EQ(report.common.site.project_root, plain.common.site.project_root);
  EXPECT_EQ(report.common.site.links, plain.common.site.links);
}

TEST(request, every_option) {
  request const report = asked({"report",
                                "a.pickle",
                                "--top-n",
                                "3",
                                "--top-contributors",
                                "0",
                                "--dedup-pct",
                                "0.5",
                                "--min-sep-ms",
                                "2.5",
                                "--project-root",
                                "/src",
                                "--link-style",
                                "github",
                                "--repo-url",
                                "https://example.org/a/b",
                                "--commit",
                                "abc",
                                "--measure",
                                "active",
                                "--sizes",
                                "block",
                                "--carried-in",
                                "ignore",
                                "--device",
                                "3",
                                "--site",
                                "user",
                                "--frame-depth",
                                "4",
                                "--path-map",
                                "/old=/new",
                                "--path-map",
                                "/a=b=c",
                                "--redact",
                                "--backend",
                                "host",
                                "--threads",
                                "2",
                                "--salvage",
                                "--json",
                                "--out",
                                "r.md",
                                "--force",
                                "--quiet"});
  common_request const& common = report.common;
  EXPECT_EQ(common.plan.peak_count, 3);
  EXPECT_EQ(report.top, 0);
  EXPECT_EQ(common.plan.dedup_ppm, 5'000);
  EXPECT_EQ(common.plan.min_separation_us, 2'500);
  EXPECT_EQ(common.site.project_root, "/src");
  EXPECT_EQ(common.site.links, link_style::github);
  EXPECT_EQ(common.site.repo_url, "https://example.org/a/b");
  EXPECT_EQ(common.site.commit, "abc");
  EXPECT_EQ(common.plan.what, measure::active);
  EXPECT_EQ(common.plan.sizes, size_basis::block);
  EXPECT_EQ(common.plan.older, carried_in::ignore);
  EXPECT_EQ(common.device, "3");
  EXPECT_EQ(common.site.rule, site_rule::user);
  EXPECT_EQ(common.site.frame_depth, 4);
  ASSERT_EQ(common.site.path_map.size(), 2U);
  EXPECT_EQ(common.site.path_map[0], (std::pair<std::string, std::string>("/old", "/new")));
  EXPECT_EQ(common.site.path_map[1], (std::pair<std::string, std::string>("/a", "b=c")));
  EXPECT_TRUE(common.site.redact && common.salvage && common.json && common.force && common.quiet);
  EXPECT_EQ(common.plan.backend, backend_choice::host);
  EXPECT_EQ(common.threads, 2);
  EXPECT_EQ(common.out, "r.md");
}

TEST(request, info) {
  request const info = asked({"info", "a", "b", "-", "--top", "3", "--json"});
  EXPECT_EQ(info.what, command::info);
  EXPECT_EQ(info.inputs, (std::vector<std::string>{"a", "b", "-"}));
  EXPECT_EQ(info.top, 3);
  EXPECT_TRUE(info.common.plan.throughput);
  EXPECT_EQ(info.common.site.rule, site_rule::user);
  EXPECT_EQ(asked({"info", "a", "--site", "project"}).common.site.rule, site_rule::project);
}

TEST(request, segments) {
  request const end = asked({"segments", "a"});
  EXPECT_EQ(end.what, command::segments);
  EXPECT_EQ(end.moment.how, moment_request::kind::end);
  EXPECT_EQ(end.common.site.rule, site_rule::user);
  EXPECT_EQ(asked({"segments", "a", "--end"}).moment.how, moment_request::kind::end);
  request const event = asked({"segments", "a", "--event", "-1", "--format", "markdown"});
  EXPECT_EQ(event.moment.how, moment_request::kind::event);
  EXPECT_EQ(event.moment.number, -1);
  EXPECT_EQ(event.common.format, text_format::markdown);
  EXPECT_EQ(asked({"segments", "a", "--peak", "2"}).moment.number, 2);
  EXPECT_FALSE(parse_command_line({"segments", "a", "--end", "--event", "1"}).is_request);
  EXPECT_FALSE(parse_command_line({"segments", "a", "b"}).is_request);
}

TEST(request, at) {
  using kind = moment_request::kind;
  request const time = asked({"at", "a", "--time", "1.25"});
  EXPECT_EQ(time.what, command::at);
  EXPECT_EQ(time.moment.how, kind::time);
  EXPECT_EQ(time.moment.seconds, 1.25);
  EXPECT_EQ(time.top, 25);
  EXPECT_EQ(time.match, site_match::site);
  EXPECT_EQ(time.common.site.rule, site_rule::user);
  EXPECT_EQ(time.common.format, text_format::text);
  request const peak = asked({"at", "a", "b", "--peak", "2", "--match", "file", "--top", "0"});
  EXPECT_EQ(peak.inputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(peak.moment.how, kind::peak);
  EXPECT_EQ(peak.moment.number, 2);
  EXPECT_EQ(peak.match, site_match::file);
  EXPECT_EQ(peak.top, 0);
  EXPECT_EQ(asked({"at", "a", "--event", "-1"}).moment.number, -1);
  EXPECT_EQ(asked({"at", "a", "--end"}).moment.how, kind::end);
  EXPECT_EQ(asked({"at", "a", "--time", "-1"}).moment.seconds, -1.0) << "the file says what it has";
}

TEST(request, one_moment_at_a_time) {
  for (std::vector<std::string> const& words :
       std::vector<std::vector<std::string>>{{"at", "a"},
                                             {"at", "a", "--end", "--peak", "1"},
                                             {"at", "a", "--time", "1", "--event", "1"},
                                             {"at", "a", "b", "c", "--end"},
                                             {"at", "--end"},
                                             {"at", "a", "--peak", "0"},
                                             {"at", "a", "--peak", "1001"},
                                             {"at", "a", "--peak", "-1"},
                                             {"at", "a", "--event", "1.5"},
                                             {"at", "a", "--event", "first"},
                                             {"at", "a", "--time", "nan"},
                                             {"at", "a", "--time", "inf"},
                                             {"at", "a", "--time", "now"},
                                             {"at", "a", "--end", "--match", "line"}}) {
    EXPECT_FALSE(refused(words).empty());
  }
}

TEST(request, steps) {
  using kind = span_request::kind;
  request const plain = asked({"steps", "a"});
  EXPECT_EQ(plain.what, command::steps);
  EXPECT_EQ(plain.spans.by, kind::automatic);
  EXPECT_FALSE(plain.step.has_value());
  EXPECT_FALSE(plain.all_steps);
  EXPECT_EQ(plain.top, 15);
  EXPECT_EQ(asked({"steps", "a", "--by", "steps"}).spans.by, kind::steps);
  EXPECT_EQ(asked({"steps", "a", "--by", "auto"}).spans.by, kind::period);
  EXPECT_EQ(asked({"steps", "a", "--by", "time"}).spans.by, kind::time);
  EXPECT_EQ(asked({"steps", "a", "--by", "whole"}).spans.by, kind::whole);
  request const named = asked({"steps", "a", "--by", "Optimizer.step#SGD.step", "--step", "0"});
  EXPECT_EQ(named.spans.by, kind::annotation);
  EXPECT_EQ(named.spans.name, "Optimizer.step#SGD.step");
  EXPECT_EQ(named.step, 0);
  EXPECT_TRUE(asked({"steps", "a", "--all-steps"}).all_steps);
  EXPECT_FALSE(refused({"steps", "a", "--all-steps", "--step", "1"}).empty());
  EXPECT_FALSE(refused({"steps", "a", "--step", "one"}).empty());
  EXPECT_FALSE(refused({"steps", "a", "b"}).empty());
}

TEST(request, leaks) {
  using kind = span_request::kind;
  request const plain = asked({"leaks", "a"});
  EXPECT_EQ(plain.what, command::leaks);
  EXPECT_EQ(plain.spans.by, kind::automatic);
  EXPECT_EQ(plain.top, 15);
  EXPECT_EQ(asked({"leaks", "a", "--by", "auto"}).spans.by, kind::period);
  EXPECT_EQ(asked({"leaks", "a", "--by", "time"}).spans.by, kind::time);
  EXPECT_EQ(asked({"leaks", "a", "--by", "forward"}).spans.name, "forward");
  EXPECT_NE(refused({"leaks", "a", "--measure", "reserved"}).find("no sites"), std::string::npos);
  EXPECT_FALSE(refused({"leaks", "a", "--step", "1"}).empty());
  EXPECT_FALSE(refused({"leaks", "a", "b"}).empty());
}

TEST(request, compare) {
  using kind = span_request::kind;
  request const plain = asked({"compare", "a", "b"});
  EXPECT_EQ(plain.what, command::compare);
  EXPECT_EQ(plain.inputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(plain.spans.by, kind::automatic);
  EXPECT_EQ(plain.match, site_match::site);
  EXPECT_EQ(plain.top, 15);
  request const how =
      asked({"compare", "a", "-", "--by", "time", "--step", "3", "--match", "function"});
  EXPECT_EQ(how.spans.by, kind::time);
  EXPECT_EQ(how.step, 3);
  EXPECT_EQ(how.match, site_match::function);
  EXPECT_EQ(asked({"compare", "a", "b", "--by", "whole"}).spans.by, kind::whole);
  EXPECT_FALSE(refused({"compare", "a"}).empty());
  EXPECT_FALSE(refused({"compare", "a", "b", "c"}).empty());
  EXPECT_FALSE(refused({"compare", "a", "b", "--all-steps"}).empty());
}

TEST(request, standard_input_can_be_read_once) {
  for (char const* command : {"at", "compare"}) {
    std::vector<std::string> words{command, "-", "-"};
    if (words.front() == "at") words.emplace_back("--end");
    EXPECT_NE(refused(words).find("standard input"), std::string::npos);
  }
}

TEST(request, one_form_of_an_answer) {
  for (char const* command : {"at", "steps", "leaks", "compare"}) {
    std::vector<std::string> words{command, "a"};
    if (words.front() == "at") words.emplace_back("--end");
    if (words.front() == "compare") words.emplace_back("b");
    std::vector<std::string> markdown = words;
    markdown.insert(markdown.end(), {"--format", "markdown"});
    EXPECT_EQ(asked(markdown).common.format, text_format::markdown);
    std::vector<std::string> both = markdown;
    both.emplace_back("--json");
    EXPECT_NE(refused(both).find("--json"), std::string::npos) << command;
    std::vector<std::string> other = words;
    other.insert(other.end(), {"--format", "html"});
    EXPECT_NE(refused(other).find("markdown|text"), std::string::npos) << command;
  }
}

TEST(request, words_that_begin_with_a_dash) {
  EXPECT_EQ(asked({"report", "-"}).inputs, (std::vector<std::string>{"-"}));
  EXPECT_EQ(asked({"report", "-", "--out", "-"}).common.out, "-");
  EXPECT_EQ(asked({"report", "a", "--out=-"}).common.out, "-");
  EXPECT_EQ(asked({"report", "--", "--odd.pickle"}).inputs,
            (std::vector<std::string>{"--odd.pickle"}));
}

TEST(request, device_forms) {
  for (char const* word : {"0", "7", "15", "busiest", "all", "99999"})
    EXPECT_EQ(asked({"report", "a", "--device", word}).common.device, word);
  for (char const* word : {"", "cuda:0", "1x", "-1", "1.0", "100000", "Busiest", " 1", "0x1"})
    EXPECT_NE(refused({"report", "a", "--device=" + std::string(word)}).find("--device"),
              std::string::npos);
}

TEST(request, bad_words) {
  for (std::vector<std::string> const& words :
       std::vector<std::vector<std::string>>{{},
                                             {"peaks", "a"},
                                             {"report"},
                                             {"report", "a", "b"},
                                             {"info"},
                                             {"report", "a", "--nonsense"},
                                             {"report", "a", "--top-n"},
                                             {"report", "a", "--top-n", "0"},
                                             {"report", "a", "--top-n", "1001"},
                                             {"report", "a", "--top-n", "six"},
                                             {"report", "a", "--top-n", "99999999999999999999"},
                                             {"report", "a", "--top-contributors", "-1"},
                                             {"report", "a", "--dedup-pct", "101"},
                                             {"report", "a", "--dedup-pct=-1"},
                                             {"report", "a", "--dedup-pct", "nan"},
                                             {"report", "a", "--dedup-pct", "inf"},
                                             {"report", "a", "--dedup-pct", "3%"},
                                             {"report", "a", "--min-sep-ms", "nan"},
                                             {"report", "a", "--min-sep-ms", "1e13"},
                                             {"report", "a", "--min-sep-ms=-0.1"},
                                             {"report", "a", "--link-style", "emacs"},
                                             {"report", "a", "--link-style", "github"},
                                             {"report", "a", "--measure", "used"},
                                             {"report", "a", "--sizes", "big"},
                                             {"report", "a", "--carried-in", "maybe"},
                                             {"report", "a", "--backend", "metal"},
                                             {"report", "a", "--site", "torch"},
                                             {"report", "a", "--path-map", "nothing"},
                                             {"report", "a", "--path-map", "=new"},
                                             {"report", "a", "--threads", "0"},
                                             {"report", "a", "--frame-depth", "0"},
                                             {"info", "a", "--top", "-1"},
                                             {"info", "a", "--top-n", "3"},
                                             {"completion", "tcsh"},
                                             {"completion"}}) {
    EXPECT_FALSE(refused(words).empty());
  }
  EXPECT_NE(refused({"report", "a", "--link-style", "github"}).find("--repo-url"),
            std::string::npos);
  EXPECT_NE(refused({"report", "a", "--measure", "used"}).find("active|allocated|reserved"),
            std::string::npos);
}

TEST(request, complaints_are_one_harmless_line) {
  for (char const* word : {"a\nb", "a\x1b[31mb", "a\x7f", "a\xc2\x9b"}) {
    std::string const text = refused({"report", "a", "--device", word});
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
      EXPECT_GE(static_cast<unsigned char>(text[at]), ' ');
      EXPECT_NE(text[at], '\x7f');
    }
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
    EXPECT_FALSE(refused({word}).empty());
  }
}

TEST(request, help) {
  std::string const all = help({"--help"});
  for (char const* word :
       {"report", "info", "compare", "at", "steps", "leaks", "completion", "--version"})
    EXPECT_NE(all.find(word), std::string::npos) << word;
  std::string const report = help({"report", "--help"});
  EXPECT_NE(report.find("memreplay report"), std::string::npos);
  for (char const* word :
       {"--top-n", "--top-contributors", "--dedup-pct", "--min-sep-ms", "--project-root",
        "--link-style", "--repo-url", "--commit", "--out", "--device", "--measure", "--sizes",
        "--carried-in", "--backend", "--threads", "--json", "--salvage", "--force", "--quiet"}) {
    EXPECT_NE(report.find(word), std::string::npos) << word;
  }
  EXPECT_NE(help({"info", "--help"}).find("--top"), std::string::npos);
  EXPECT_NE(help({"completion", "-h"}).find("fish"), std::string::npos);
  EXPECT_TRUE(help({"--version"}).starts_with("memreplay "));
}

TEST(request, repeatable_options_leave_the_snapshot_alone) {
  EXPECT_EQ(asked({"report", "--path-map", "/a=/b", "s.pickle"}).inputs.size(), 1U);
  EXPECT_EQ(asked({"check", "--limit", "peak=1GiB", "s.pickle"}).inputs.size(), 1U);
}

TEST(request, completion_scripts) {
  EXPECT_EQ(asked({"completion", "bash"}).what, command::completion);
  for (char const* shell : {"bash", "zsh", "fish"}) {
    std::string const script = completion_script(shell);
    for (char const* word : {"report", "info", "completion", "top-n", "carried-in"})
      EXPECT_NE(script.find(word), std::string::npos) << shell << ' ' << word;
  }
}

}  // namespace
}  // namespace memreplay::cli
