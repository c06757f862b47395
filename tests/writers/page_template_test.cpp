// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The embedded page has one place for its data, and asks for nothing from elsewhere.
#include "writers/page_template.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace memreplay::writers {
namespace {

TEST(page_template, has_one_place_for_the_data) {
  std::string_view const page = page_template();
  if (page.empty()) GTEST_SKIP() << "built without npm";
  std::string_view const place = "id=\"page-data\">@PAGE_DATA@</script>";
  EXPECT_NE(page.find(place), std::string_view::npos);
  EXPECT_EQ(page.find("@PAGE_DATA@"), page.rfind("@PAGE_DATA@"));
}

TEST(page_template, loads_nothing) {
  std::string_view const page = page_template();
  if (page.empty()) GTEST_SKIP() << "built without npm";
  EXPECT_NE(page.find("default-src 'none'"), std::string_view::npos);
  for (std::string_view const loader : {"<link", "<img", "<iframe", " src=\"", "@import"}) {
    EXPECT_EQ(page.find(loader), std::string_view::npos) << loader;
  }
}

}  // namespace
}  // namespace memreplay::writers
