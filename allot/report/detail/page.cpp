#include "allot/report/detail/page.hpp"

#include <algorithm>
#include <array>

#include "allot/base/sha256.hpp"
#include "allot/report/detail/chart_svg.hpp"
#include "allot/report/detail/data_files.hpp"
#include "allot/report/detail/html_text.hpp"

namespace allot::detail {
namespace {

struct Badge {
  const char* word;
  const char* look;
  const char* meaning;
};

Badge badge(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return {"holds", "holds", "what the paper says is what we measure"};
    case Verdict::kPartly:
      return {"partly", "partly", "with the restriction that the measurement names"};
    case Verdict::kFails:
      return {"fails", "fails", "we measure otherwise"};
    case Verdict::kNew:
      return {"new", "new", "a finding of ours; the paper says nothing"};
    case Verdict::kUndecided:
      return {"undecided", "undecided", "too few runs to tell"};
  }
  return {"", "", ""};
}

// Page colours; the figures' own come from palette_css.
constexpr const char* kLight =
    "color-scheme: light; --ink: #1f2328; --soft: #57606a; --paper: #ffffff; --panel: #f6f8fa; --line: "
    "#d0d7de; "
    "--link: #0550ae; --holds: #116329; --partly: #7d4e00; --fails: #a40e26; --new: #6639ba;";
constexpr const char* kDark =
    "color-scheme: dark; --ink: #e6edf3; --soft: #9da7b1; --paper: #0d1117; --panel: #161b22; --line: "
    "#3d444d; "
    "--link: #79b8ff; --holds: #56d364; --partly: #e3b341; --fails: #ff8f87; --new: #d2a8ff;";

constexpr const char* kStyle = R"css(
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
header, main { max-width: 72rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.5rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 0 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
section { padding: 1.5rem 0 .5rem; border-top: 1px solid var(--line); margin-top: 1.5rem; }
p { margin: 0 0 .75rem; max-width: 75ch; }
a { color: var(--link); }
code { font-family: ui-monospace, monospace; font-size: .92em; }
.soft { color: var(--soft); }
nav ul { columns: 2 20rem; padding-left: 1.2rem; margin: .5rem 0 0; }
nav li { break-inside: avoid; margin-bottom: .2rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr)); gap: 1.25rem; margin: 1rem 0; }
figure { margin: 0; min-width: 0; }
.drawing svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .9rem; color: var(--soft); }
.scroll { overflow: auto; max-height: 32rem; border: 1px solid var(--line); border-radius: .4rem; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { background: var(--panel); font-weight: 600; }
.scroll th { position: sticky; top: 0; }
td.number, th.number { text-align: right; white-space: nowrap; }
.claims td:nth-child(1) { width: 15%; } .claims td:nth-child(2) { width: 30%; } .claims td:nth-child(4) { width: 6rem; }
.badge { display: inline-block; padding: 0 .55em; border: 1px solid currentColor; border-radius: 1em; font-weight: 600; font-size: .85em; white-space: nowrap; }
.holds { color: var(--holds); } .partly { color: var(--partly); } .fails { color: var(--fails); } .new { color: var(--new); } .undecided { color: var(--soft); }
details { margin: .5rem 0; }
summary { cursor: pointer; color: var(--link); }
.data { font-size: .9rem; }
.note { border-left: .25rem solid var(--partly); padding: .25rem .75rem; }
@media (max-width: 46rem) {
  .claims thead { display: none; }
  .claims, .claims tbody, .claims tr, .claims td { display: block; width: auto !important; }
  .claims tr { border: 1px solid var(--line); border-radius: .4rem; margin-bottom: .75rem; padding: .4rem; }
  .claims td { border: 0; padding: .2rem .3rem; }
  .claims td::before { content: attr(data-label); display: block; font-size: .75rem; color: var(--soft); }
}
@media print {
  body { font-size: 10pt; }
  header, main { max-width: none; padding: 0; }
  nav, .data, details:not([open]) { display: none; }
  section { break-before: auto; }
  figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .figures { grid-template-columns: 1fr 1fr; }
  .scroll { max-height: none; overflow: visible; }
  a { color: inherit; text-decoration: none; }
}
)css";

std::string link(const std::string& to, const std::string& words) {
  return "<a href=\"" + html_escape(to) + "\">" + html_escape(words) + "</a>";
}

std::string files(const std::string& name) {
  return link("data/" + name + ".csv", "CSV") + ", " + link("data/" + name + ".json", "JSON");
}

std::string claims_html(std::span<const Reported> reported) {
  std::string out =
      "<table class=\"claims\">\n<thead><tr><th>where</th><th>paper says</th><th>we "
      "measure</th><th>verdict</th></tr>"
      "</thead>\n<tbody>\n";
  for (const Reported& entry : reported) {
    for (const Claim& claim : entry.findings.claims) {
      const Badge mark = badge(claim.verdict);
      out += "<tr><td data-label=\"where\">" + link("#" + entry.experiment->name, claim.where) +
             "</td><td data-label=\"paper says\">" + html_inline(claim.paper) +
             "</td><td data-label=\"we measure\">" + html_inline(claim.measured) +
             "</td><td data-label=\"verdict\"><span class=\"badge " + mark.look + "\">" + mark.word +
             "</span></td></tr>\n";
    }
  }
  return out + "</tbody></table>\n";
}

std::string verdict_counts(std::span<const Reported> reported) {
  std::array<int, 5> counts{};
  for (const Reported& entry : reported) {
    for (const Claim& claim : entry.findings.claims) ++counts[static_cast<std::size_t>(claim.verdict)];
  }
  std::string out;
  for (const Verdict verdict :
       {Verdict::kHolds, Verdict::kPartly, Verdict::kFails, Verdict::kNew, Verdict::kUndecided}) {
    const Badge mark = badge(verdict);
    const int count = counts[static_cast<std::size_t>(verdict)];
    if (count == 0) continue;
    out += (out.empty() ? "" : " ") + std::to_string(count) + " <span class=\"badge " + mark.look + "\">" +
           mark.word + "</span> <span class=\"soft\">" + mark.meaning + ".</span>";
  }
  return out;
}

std::string figure_html(const Chart& chart) {
  return "<figure id=\"figure-of-" + html_escape(chart.name) + "\">\n<div class=\"drawing\">" +
         chart_svg(chart, false) + "</div>\n<figcaption>" + html_inline(chart.caption) +
         " <span class=\"data\">Data: " + files(data_name(points_of(chart))) + "; " +
         link("figures/" + chart.name + ".svg", "SVG") + ".</span></figcaption>\n</figure>\n";
}

std::string section_html(const Reported& entry) {
  const Experiment& experiment = *entry.experiment;
  std::string out = "<section id=\"" + html_escape(experiment.name) + "\">\n<h2>" +
                    html_escape(experiment.title) + "</h2>\n" + html_paragraphs(entry.findings.text);
  out += "<div class=\"figures\">\n";
  for (const Chart& chart : entry.findings.charts) out += figure_html(chart);
  out += "</div>\n";
  for (const Table& table : entry.findings.tables) {
    out += "<details><summary>" + html_escape(table.title) + " (" + std::to_string(table.rows.size()) +
           (table.rows.size() == 1 ? " row)" : " rows)") + "</summary>\n" + table_html(table) +
           "</details>\n";
    out += "<p class=\"data\">" + html_escape(table.title) + ": " + files(data_name(table)) + ".</p>\n";
  }
  if (!entry.results.empty()) {
    out += "<p class=\"data\">Every run:";
    if (!experiment.columns.empty()) out += " " + link("data/" + experiment.name + "-runs.csv", "CSV");
    if (!experiment.timing_columns.empty()) {
      out += " " + link("data/" + experiment.name + "-runs-timing.csv", "CSV of the times");
    }
    out += ".</p>\n";
  }
  return out + "</section>\n";
}

/// In a cell of a Markdown table; what looks like markup but is not, escaped.
std::string markdown_cell(const std::string& text) {
  std::string out;
  bool code = false;
  for (const char c : text) {
    if (c == '`') code = !code;
    if (c == '|' || (!code && (c == '*' || c == '_' || c == '<' || c == '[' || c == ']'))) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

bool has_claims(std::span<const Reported> reported) {
  return std::any_of(reported.begin(), reported.end(),
                     [](const Reported& entry) { return !entry.findings.claims.empty(); });
}

std::string claims_markdown(std::span<const Reported> reported, const ReportInfo& info) {
  std::string out =
      "# Claims and verdicts\n\nWritten by `allot reproduce`: seed " + std::to_string(info.effort.seed) +
      ", " + std::to_string(info.effort.runs) +
      " runs. Intervals are 95% confidence intervals of the mean.\n\n"
      "| experiment | where | paper says | we measure | verdict |\n| --- | --- | --- | --- | --- |\n";
  for (const Reported& entry : reported) {
    for (const Claim& claim : entry.findings.claims) {
      out += "| `" + entry.experiment->name + "` | " + markdown_cell(claim.where) + " | " +
             markdown_cell(claim.paper) + " | " + markdown_cell(claim.measured) + " | " +
             badge(claim.verdict).word + " |\n";
    }
  }
  return out;
}

std::string data_name(const Table& table) { return table.name + (table.timing ? "-timing" : ""); }

std::string table_html(const Table& table) {
  std::vector<bool> numeric(table.columns.size(), true);
  for (const auto& row : table.rows) {
    for (std::size_t at = 0; at < row.size() && at < numeric.size(); ++at) {
      if (!row[at].number && !row[at].text.empty()) numeric[at] = false;
    }
  }
  const auto cell = [&](const char* tag, std::size_t at, const std::string& content) {
    return std::string("<") + tag + (at < numeric.size() && numeric[at] ? " class=\"number\">" : ">") +
           html_escape(content) + "</" + tag + ">";
  };
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  for (std::size_t at = 0; at < table.columns.size(); ++at) out += cell("th", at, table.columns[at]);
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t at = 0; at < row.size(); ++at) out += cell("td", at, row[at].text);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string page_head(const std::string& title, const std::string& more_style) {
  const std::string style = "\n:root { " + std::string(kLight) + " " + palette_css(false) +
                            " }\n@media screen and (prefers-color-scheme: dark) { :root { " + kDark + " " +
                            palette_css(true) + " } }" + kStyle + more_style;
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" +
         sha256_base64(style) + "'; img-src data:; base-uri 'none'; form-action 'none'\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<link rel=\"icon\" href=\"data:,\">\n";  // or browsers ask for one that is not there
  return out + "<title>" + html_escape(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
}

std::string page_html(std::span<const Reported> reported, const ReportInfo& info) {
  std::string out = page_head(info.title);
  const std::string about = !info.about.empty() ? info.about
                                                : "seed " + std::to_string(info.effort.seed) + ", " +
                                                      std::to_string(info.effort.runs) +
                                                      " runs. Intervals are 95% confidence intervals of the "
                                                      "mean. Everything here but measured times "
                                                      "depends on the seed and the number of runs alone.";
  out += "<header>\n<h1>" + html_escape(info.title) + "</h1>\n<p class=\"soft\">" +
         (info.version.empty() ? "" : html_escape(info.version) + ", ") + html_escape(about) + "</p>\n";
  const bool claims = has_claims(reported);
  out += "<nav aria-label=\"contents\"><ul>\n";
  if (claims) out += "<li><a href=\"#claims\">Claims and verdicts</a></li>\n";
  for (const Reported& entry : reported) {
    out += "<li>" + link("#" + entry.experiment->name, entry.experiment->title) + "</li>\n";
  }
  out += "</ul></nav>\n</header>\n<main>\n";
  if (claims) {
    out += "<section id=\"claims\">\n<h2>Claims and verdicts</h2>\n<p>" + verdict_counts(reported) +
           "</p>\n" + claims_html(reported) + "</section>\n";
  }
  for (const Reported& entry : reported) out += section_html(entry);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace allot::detail
