#include "allot/report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "allot/base/sha256.hpp"
#include "allot/report/detail/chart_axis.hpp"
#include "allot/report/detail/chart_svg.hpp"
#include "allot/report/detail/data_files.hpp"
#include "allot/report/detail/html_text.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

class Report : public ::testing::Test {
 protected:
  Report() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::temp_directory_path() / ("allot-report-" + name + "-" + std::to_string(getpid()));
    experiment_.name = "demo";
    experiment_.title = "Demo <of> it";
    experiment_.columns = {"a", "b"};
    results_ = {{{{1, 0.1}, {2, 1.0 / 3}}, {}}, {{{3, 1e300}}, {}}};
    findings_.text = "First `code` & more.\n\nSecond.";
    findings_.claims = {{"section 1", "x < y", "1.5 ± 0.1", Verdict::kHolds},
                        {"ours", "-", "2", Verdict::kNew}};
    Table table{"demo-table", "A table", false, {"name", "value, exact"}, {}};
    table.rows = {{{"say \"so\", please", {}}, {"0.33", 1.0 / 3}}, {{"none", {}}, {"", std::nan("")}}};
    Table times = table;
    times.name = "demo-times";
    times.timing = true;
    findings_.tables = {table, times};
    Chart lines{.name = "demo-lines",
                .title = "Don't <panic>",
                .x_label = "x (s)",
                .y_label = "y (m)",
                .log_x = true,
                .caption = "See."};
    lines.series = {{"one",
                     {1, 2, 4, 8},
                     {1, 2, std::nan(""), 3},
                     {0.5, 1.5, std::nan(""), 2},
                     {1.5, 2.5, std::nan(""), 4}},
                    {"two", {1, 2}, {3, 3}, {}, {}}};
    Chart bars{.name = "demo-bars",
               .title = "Bars",
               .kind = Chart::Kind::kBars,
               .x_label = "kind",
               .y_label = "%",
               .categories = {"left", "right"},
               .caption = "See."};
    bars.series = {{"only", {0, 1}, {5, 6}, {4, 5}, {6, 7}}};
    findings_.charts = {lines, bars};
  }
  ~Report() override { fs::remove_all(folder_); }

  ReportOutcome write(const ReportInfo& info = {}) {
    const std::vector<Reported> all{{&experiment_, findings_, results_}};
    return write_report(folder_, all, info);
  }

  fs::path folder_;
  Experiment experiment_;
  std::vector<UnitResult> results_;
  Findings findings_;
};

TEST_F(Report, WritesThePageTheFiguresAndTheData) {
  const ReportOutcome outcome = write();
  EXPECT_EQ(outcome.figures, 2u);
  for (const char* name :
       {"index.html", "figures/demo-lines.svg", "figures/demo-bars.svg", "data/demo-table.csv",
        "data/demo-table.json", "data/demo-times-timing.csv", "data/demo-lines-figure.csv",
        "data/demo-bars-figure.json", "data/demo-runs.csv"}) {
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  }
  EXPECT_FALSE(fs::exists(folder_ / "data/demo-times.csv"));
  EXPECT_THAT(read(folder_ / "claims.md"), HasSubstr("| `demo` | section 1 | x \\< y | 1.5 ± 0.1 | holds |"));
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    EXPECT_NE(entry.path().extension(), ".part");

  const std::string page = read(outcome.page);
  EXPECT_THAT(page, HasSubstr("Demo &lt;of&gt; it"));
  EXPECT_THAT(page, HasSubstr("<code>code</code> &amp; more."));
  EXPECT_THAT(page, HasSubstr("x &lt; y"));
  EXPECT_THAT(page, HasSubstr("1.5 ± 0.1"));
  EXPECT_THAT(page, HasSubstr("id=\"demo\""));
  // Nothing is fetched, nothing is run.
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("url(http")));
}

TEST_F(Report, HasNoSectionOfClaimsWithoutClaims) {
  write();
  findings_.claims.clear();
  const std::string page = read(write().page);
  EXPECT_THAT(page, Not(HasSubstr("id=\"claims\"")));
  EXPECT_THAT(page, Not(HasSubstr("#claims")));
  EXPECT_THAT(page, Not(HasSubstr("verdict</th>")));
  EXPECT_THAT(page, Not(HasSubstr("<nav")));  // to the one section there is
  EXPECT_FALSE(fs::exists(folder_ / "claims.md"));
}

TEST(ChartSvg, NamesCategoriesInWholeWords) {
  Chart chart;
  chart.name = "sizes";
  chart.kind = Chart::Kind::kBars;
  chart.categories = {"exp.", "hyperexp.", "uniform", "lognormal", "constant", "bounded-pareto"};
  chart.series = {{"one", {0, 1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}, {}, {}}};
  const std::string svg = detail::chart_svg(chart, false);
  EXPECT_THAT(svg, Not(HasSubstr("…")));
  for (const char* word : {">hyperexp.<", ">lognormal<", ">bounded-<", ">pareto<"})
    EXPECT_THAT(svg, HasSubstr(word));
}

TEST_F(Report, WritesTheSameBytesForTheSameFindings) {
  write();
  std::map<std::string, std::string> before;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.is_regular_file()) before[entry.path().string()] = read(entry.path());
  }
  fs::remove_all(folder_);
  write();
  for (const auto& [path, content] : before) EXPECT_EQ(read(path), content) << path;
}

TEST_F(Report, AllowsItselfNothingButItsOwnStyle) {
  findings_.charts[0].title = "<script>alert(1)</script>";
  const std::string page = read(write().page);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr(" style=")));
  EXPECT_THAT(page, Not(HasSubstr("unsafe")));
  const std::size_t begin = page.find("<style>") + 7;
  const std::string style = page.substr(begin, page.find("</style>") - begin);
  EXPECT_THAT(page,
              HasSubstr("content=\"default-src 'none'; style-src 'sha256-" + sha256_base64(style) + "';"));
}

TEST_F(Report, DrawsInTheColoursOfThePageAroundIt) {
  write();
  const std::string alone = read(folder_ / "figures/demo-lines.svg");
  EXPECT_THAT(alone, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(alone, HasSubstr("var(--series-1)"));
  EXPECT_THAT(alone, HasSubstr("fill=\"currentColor\""));
  EXPECT_THAT(alone, HasSubstr("x (s)"));
  EXPECT_THAT(alone, HasSubstr("y (m)"));
  EXPECT_THAT(alone, HasSubstr("Don&#39;t &lt;panic"));
  for (const char* fixed : {"rgb(", "black", "font-family=\"", "xlink"})
    EXPECT_THAT(alone, Not(HasSubstr(fixed)));
}

TEST_F(Report, SaysWhichFileItCannotWrite) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "in the way";
  EXPECT_THROW(write(), fs::filesystem_error);
}

TEST_F(Report, RemovesWhatAKilledReportLeftUnfinished) {
  fs::create_directories(folder_ / "data");
  const fs::path left = folder_ / "data" / "demo-table.csv.0123456789abcdef.part";
  const fs::path others = folder_ / "data" / "notes.part";
  for (const fs::path& file : {left, others}) std::ofstream(file) << "half";
  write();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(others));
}

TEST_F(Report, FollowsNoLink) {
  const fs::path elsewhere = folder_.string() + "-elsewhere";
  fs::create_directories(elsewhere);
  fs::create_directories(folder_);
  fs::create_directory_symlink(elsewhere, folder_ / "data");
  EXPECT_THROW(write(), fs::filesystem_error);
  EXPECT_TRUE(fs::is_empty(elsewhere));
  fs::remove(folder_ / "data");
  std::ofstream(elsewhere / "precious") << "mine";
  fs::create_symlink(elsewhere / "precious", folder_ / "index.html");
  write();
  EXPECT_EQ(read(elsewhere / "precious"), "mine");
  fs::remove_all(elsewhere);
}

TEST(ChartSvg, HasRoomForTheWholeInterval) {
  Chart chart;
  chart.name = "wide";
  chart.kind = Chart::Kind::kBars;
  chart.categories = {"left", "right"};
  chart.series = {{"one", {0, 1}, {1, 2}, {-3, 1}, {5, 3}}};
  EXPECT_EQ(detail::y_axis(chart).low, -3);  // nothing to see below but the end of an interval
  EXPECT_GE(detail::y_axis(chart).high, 5);
  chart.kind = Chart::Kind::kLines;
  EXPECT_LE(detail::y_axis(chart).low, -3);
  EXPECT_GE(detail::y_axis(chart).high, 5);
  // An interval down to 0 does not stretch a logarithmic axis without end.
  chart.log_y = true;
  EXPECT_NEAR(detail::y_axis(chart).low, 0.1, 1e-12);
  EXPECT_NEAR(detail::y_axis(chart).high, 10, 1e-12);
}

/// Whatever the numbers, a drawing ends, is of bounded size, and has only finite places in it.
TEST(ChartSvg, DrawsAnyNumbers) {
  const std::vector<double> odd = {0,        -0.0,         1,        -1,        1e-320, -1e-320, 1e300,
                                   -1e300,   1.7e308,      -1.7e308, 1e150,     1e-150, 3.14,    1e15,
                                   1e16 + 2, std::nan(""), INFINITY, -INFINITY, 5e-324, 2.2e-308};
  for (const Chart::Kind kind : {Chart::Kind::kLines, Chart::Kind::kBars, Chart::Kind::kPoints}) {
    for (const double a : odd) {
      for (const double b : odd) {
        for (const bool logarithmic : {false, true}) {
          Chart chart;
          chart.name = "odd";
          chart.kind = kind;
          chart.log_x = chart.log_y = logarithmic;
          chart.categories = {"left", std::string(3'000, 'x')};
          const std::vector<double> x =
              kind == Chart::Kind::kBars ? std::vector<double>{0, 1} : std::vector<double>{a, b};
          chart.series = {{"one", x, {b, a}, {a, a}, {b, b}}, {std::string(500, '<'), x, {a, b}, {}, {}}};
          const std::string svg = detail::chart_svg(chart, false);
          ASSERT_LT(svg.size(), 40'000u) << a << " " << b;
          ASSERT_EQ(svg.find("nan"), std::string::npos) << a << " " << b << "\n" << svg;
          ASSERT_EQ(svg.find("inf"), std::string::npos) << a << " " << b << "\n" << svg;
        }
      }
    }
  }
}

TEST(ChartSvg, TextIsOnlyText) {
  Chart chart;
  chart.name = "odd";
  chart.kind = Chart::Kind::kBars;
  const std::string text = "`id > HIT` \" ' </text><script>alert(1)</script> $(id) \x1b[2J";
  chart.title = chart.x_label = chart.y_label = chart.caption = text;
  chart.categories = {text, text};
  chart.series = {{text, {0, 1}, {1, 2}, {}, {}}, {text, {0, 1}, {1, 2}, {}, {}}};
  const std::string svg = detail::chart_svg(chart, true);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, HasSubstr("`id &gt; HIT`"));
}

TEST(DataFiles, QuoteTextAndKeepNumbersExact) {
  Table table{"t", "T", false, {"name", "value, exact"}, {}};
  table.rows = {{{"say \"so\", please", {}}, {"0.33", 1.0 / 3}}, {{"none", {}}, {"-", std::nan("")}}};
  EXPECT_EQ(detail::table_csv(table),
            "name,\"value, exact\"\n\"say \"\"so\"\", please\",0.3333333333333333\nnone,\n");
  const auto json = nlohmann::json::parse(detail::table_json(table));
  EXPECT_EQ(json.at("rows").at(0).at(1).get<double>(), 1.0 / 3);
  EXPECT_TRUE(json.at("rows").at(1).at(1).is_null());
  EXPECT_EQ(detail::exact_number(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(DataFiles, HoldEveryRun) {
  const std::vector<UnitResult> results{{{{1, 0.1}}, {{7}}}, {{{3, 4}}, {}}};
  const std::vector<std::string> columns{"a", "b"};
  EXPECT_EQ(detail::runs_csv(columns, results, false), "unit,a,b\n0,1,0.1\n1,3,4\n");
  EXPECT_EQ(detail::runs_csv(std::vector<std::string>{"t"}, results, true), "unit,t\n0,7\n");
}

TEST(HtmlText, LeavesALoneBackquoteAlone) {
  EXPECT_EQ(detail::html_inline("a `b` c"), "a <code>b</code> c");
  EXPECT_EQ(detail::html_inline("a ` c"), "a ` c");
}

}  // namespace
}  // namespace allot
