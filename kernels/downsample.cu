// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The step `downsample`: a curve at screen width, without losing its extremes.
//
//   event     0    1    2    3    4         width 2
//   bytes    12    8   10   10    2
//   bucket   [0    0]  [1    1    1]        bucket i begins at event i * 5 / 2
//   low       8         2
//   high     12        10
//
// Buckets are cut into tiles of some thousand events so that many can be read at once; the few
// tiles of a bucket are joined on the host.
#include "kernels/primitives.cuh"
#include "kernels/steps.cuh"

#include <algorithm>

namespace memreplay::kernels::MEMREPLAY_BACKEND {

namespace {

constexpr std::int64_t tile_events = 2048;

struct span_of_bytes {
  std::int64_t low;
  std::int64_t high;
};

/// Where tile t begins and ends; each bucket has the same number of tiles, the last ones may be
/// empty.
struct tiling {
  std::int64_t count;
  std::int64_t width;
  std::int64_t tiles_per_bucket;

  [[nodiscard]] MEMREPLAY_HD std::int64_t first_event(std::int64_t bucket) const {
    // bucket * count / width without the overflow of a long trace times a wide screen
    return bucket * (count / width) + bucket * (count % width) / width;
  }
  [[nodiscard]] MEMREPLAY_HD std::int64_t begin(std::int64_t tile) const {
    std::int64_t const bucket = tile / tiles_per_bucket;
    return first_event(bucket) + tile % tiles_per_bucket * tile_events;
  }
  [[nodiscard]] MEMREPLAY_HD std::int64_t end(std::int64_t tile) const {
    std::int64_t const bucket_end = first_event(tile / tiles_per_bucket + 1);
    std::int64_t const tile_end = begin(tile) + tile_events;
    return tile_end < bucket_end ? tile_end : bucket_end;
  }
};

struct span_of_tile {
  curve_rows curve;
  tiling tiles;
  span_of_bytes* spans;
  MEMREPLAY_HD void operator()(std::int64_t tile) const {
    span_of_bytes span{INT64_MAX, INT64_MIN};
    std::int64_t const end = tiles.end(tile);
    for (std::int64_t event = tiles.begin(tile); event < end; ++event) {
      std::int64_t const bytes = curve.value[event];
      if (bytes < span.low) span.low = bytes;
      if (bytes > span.high) span.high = bytes;
    }
    spans[tile] = span;
  }
};

}  // namespace

std::vector<timeline_bucket> downsample(execution const& exec, curve_rows const& bytes,
                                        std::int64_t width) {
  std::int64_t const buckets = std::min(width, bytes.count);
  if (buckets <= 0) return {};
  std::int64_t const longest = (bytes.count + buckets - 1) / buckets;
  tiling const tiles{bytes.count, buckets, (longest + tile_events - 1) / tile_events};
  std::int64_t const tile_count = buckets * tiles.tiles_per_bucket;
  buffer<span_of_bytes> spans(exec, tile_count);
  for_each_row(exec, tile_count, span_of_tile{bytes, tiles, spans.data()});

  auto const span = download(exec, spans.data(), tile_count);
  std::vector<timeline_bucket> timeline(static_cast<std::size_t>(buckets));
  for (std::int64_t bucket = 0; bucket < buckets; ++bucket) {
    timeline_bucket& joined = timeline[static_cast<std::size_t>(bucket)];
    joined.first_event = tiles.first_event(bucket);
    joined.low_bytes = INT64_MAX;
    joined.high_bytes = INT64_MIN;
    for (std::int64_t tile = 0; tile < tiles.tiles_per_bucket; ++tile) {
      auto const& part = span[static_cast<std::size_t>(bucket * tiles.tiles_per_bucket + tile)];
      joined.low_bytes = std::min(joined.low_bytes, part.low);
      joined.high_bytes = std::max(joined.high_bytes, part.high);
    }
  }
  return timeline;
}

}  // namespace memreplay::kernels::MEMREPLAY_BACKEND
