// worlds: lives through worlds drawn from seeds, and tells of every one in which something does not hold.
//
//   worlds --seeds 1-10000          a range, resumable: the ranges of a campaign may be run one by one
//   worlds --seeds 1-1000 --first   until the first in which something does not hold
//   worlds --seed 4711              one world, with everything that happens in it
//   worlds --batches 1-200          batches of tasks that hold several things: time against the bound
//   worlds --learnt-batches 1-200   the same, with rates that have to be found out
//   worlds --boxes 1-100            such machines under policy `planned`: value against the plan
#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/worlds/boxes.hpp"
#include "tests/worlds/world.hpp"

namespace {

using namespace allot::worlds;

bool parse(const char*& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  text = end;
  return error == std::errc();
}

int replay(std::uint64_t seed) {
  const Scene scene = draw_scene(seed);
  std::printf("%s\n", scene.text().c_str());
  const Verdict verdict = live_through(scene, true);
  std::printf("%llu runs, %llu turns, %llu attempts, %.1f s of its own time: %s\n",
              static_cast<unsigned long long>(verdict.runs), static_cast<unsigned long long>(verdict.turns),
              static_cast<unsigned long long>(verdict.attempts), verdict.seconds, verdict.outcome.c_str());
  for (const std::string& violation : verdict.violations) std::printf("VIOLATED: %s\n", violation.c_str());
  return verdict.violations.empty() ? 0 : 1;
}

/// What the ratios of at least kEnough seeds must be.
struct Bars {
  double least_mean = 0;
  double most_mean = 0;  // 0: none
  double most_of_95 = 0;
};
constexpr std::size_t kEnough = 20;
constexpr Bars kBatchBars = {0, 1.10, 1.25};
constexpr Bars kBoxBars = {0.95, 0, 0};

/// The mean and the quantiles of what `run` gives for each seed; 1 if something does not hold in one of them,
/// or if they are worse than the bars.
int measure(std::uint64_t first, std::uint64_t last, const char* what, double high_part, const Bars& bars,
            const std::function<BoxResult(std::uint64_t)>& run) {
  std::vector<double> ratios;
  std::uint64_t bad = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const BoxResult result = run(seed);
    if (result.is_sound) ratios.push_back(result.ratio);
    if (!result.is_sound)
      std::printf("seed %llu: something does not hold\n", static_cast<unsigned long long>(seed));
    bad += result.is_sound ? 0 : 1;
  }
  std::sort(ratios.begin(), ratios.end());
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  const auto at = [&](double part) {
    return ratios.empty() ? 0
                          : ratios[static_cast<std::size_t>(part * static_cast<double>(ratios.size() - 1))];
  };
  const double mean = sum / static_cast<double>(std::max<std::size_t>(1, ratios.size()));
  std::printf("%s: %zu, %llu violated; mean %.3f, %.0f%% %.3f, worst %.3f\n", what, ratios.size(),
              static_cast<unsigned long long>(bad), mean, 100 * high_part, at(high_part),
              at(high_part > 0.5 ? 1 : 0));
  const bool is_worse =
      ratios.size() >= kEnough && (mean < bars.least_mean || (bars.most_mean > 0 && mean > bars.most_mean) ||
                                   (bars.most_of_95 > 0 && at(0.95) > bars.most_of_95));
  if (is_worse) std::printf("worse than the bars\n");
  return bad == 0 && !is_worse ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // Worlds come and go.
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 256 << 20);
  constexpr int kMostShown = 20;
  std::uint64_t first = 1;
  std::uint64_t last = 1000;
  if (argc == 3 && std::strcmp(argv[1], "--seed") == 0) {
    const char* text = argv[2];
    if (parse(text, first) && *text == '\0') return replay(first);
  }
  const bool only_first = argc == 4 && std::strcmp(argv[3], "--first") == 0;
  const std::string kind = argc == 3 || only_first ? argv[1] : "";
  const bool is_range =
      kind == "--seeds" || kind == "--batches" || kind == "--learnt-batches" || kind == "--boxes";
  const char* text = is_range ? argv[2] : "";
  if (!parse(text, first) || *text++ != '-' || !parse(text, last) || *text != '\0' || last < first) {
    std::fprintf(stderr,
                 "usage: worlds --seeds FIRST-LAST [--first] | --seed N | --batches FIRST-LAST | "
                 "--learnt-batches FIRST-LAST | --boxes FIRST-LAST\n");
    return 2;
  }
  if (kind == "--batches" || kind == "--learnt-batches") {
    const bool known = kind == "--batches";
    return measure(first, last, "batches, time against the bound", 0.95, known ? kBatchBars : Bars{},
                   [&](std::uint64_t seed) { return run_batch(draw_batch(seed, known)); });
  }
  if (kind == "--boxes")
    return measure(first, last, "boxes, value against the plan", 0.05, kBoxBars, run_planned);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t bad = 0;
  std::uint64_t turns = 0;
  std::uint64_t attempts = 0;
  std::map<std::string, std::uint64_t> outcomes;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Verdict verdict = live_through(draw_scene(seed));
    turns += verdict.turns;
    attempts += verdict.attempts;
    ++outcomes[verdict.outcome];
    if (verdict.violations.empty()) continue;
    if (++bad <= kMostShown) {
      std::printf("seed %llu: %s\n  replay it: worlds --seed %llu\n", static_cast<unsigned long long>(seed),
                  verdict.violations.front().c_str(), static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
    if (only_first) break;
  }
  std::printf("worlds %llu-%llu: %llu violated; %llu turns, %llu attempts, %.1f s",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(last),
              static_cast<unsigned long long>(bad), static_cast<unsigned long long>(turns),
              static_cast<unsigned long long>(attempts),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  for (const auto& [outcome, count] : outcomes)
    std::printf("; %s %llu", outcome.c_str(), static_cast<unsigned long long>(count));
  std::printf("\n");
  return bad == 0 ? 0 : 1;
}
