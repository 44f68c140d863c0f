#include "allot/report/detail/page.hpp"

#include <algorithm>
#include <array>

#include "allot/base/sha256.hpp"
#include "allot/report/detail/chart_svg.hpp"
#include "allot/report/detail/data_files.hpp"
#include "allot/report/detail/html_text.hpp"
#include "allot/report/detail/styles.hpp"
#include "allot/sweep/sweep_json.hpp"

namespace allot::detail {
namespace {

/// By verdict.
constexpr std::array<const char*, 5> kMeanings = {
    "what the paper says is what we measure", "with the restriction that the measurement names",
    "we measure otherwise", "a finding of ours; the paper says nothing", "too few runs to tell"};

std::string badge(Verdict verdict) {
  const std::string word(to_string(verdict));
  return "<span class=\"badge " + word + "\">" + word + "</span>";
}

std::string link(const std::string& to, const std::string& words) {
  return "<a href=\"" + html_escape(to) + "\">" + html_escape(words) + "</a>";
}

std::string files(const std::string& name) {
  return link("data/" + name + ".csv", "CSV") + ", " + link("data/" + name + ".json", "JSON");
}

std::string claims_html(std::span<const Reported> reported) {
  std::string out =
      "<div class=\"stacked\"><table class=\"claims\">\n<thead><tr><th scope=\"col\">where</th><th "
      "scope=\"col\">paper says</th><th scope=\"col\">we measure</th><th scope=\"col\">verdict</th></tr>"
      "</thead>\n<tbody>\n";
  for (const Reported& entry : reported) {
    for (const Claim& claim : entry.findings.claims) {
      out += "<tr><th scope=\"row\">" + link("#" + entry.experiment->name, claim.where) +
             "</th><td data-label=\"paper says\">" + html_inline(claim.paper) +
             "</td><td data-label=\"we measure\">" + html_inline(claim.measured) +
             "</td><td data-label=\"verdict\">" + badge(claim.verdict) + "</td></tr>\n";
    }
  }
  return out + "</tbody></table></div>\n";
}

std::string verdict_counts(std::span<const Reported> reported) {
  std::array<int, 5> counts{};
  for (const Reported& entry : reported) {
    for (const Claim& claim : entry.findings.claims) ++counts[static_cast<std::size_t>(claim.verdict)];
  }
  std::string out = "<ul class=\"verdicts\">\n";
  for (const Verdict verdict :
       {Verdict::kHolds, Verdict::kPartly, Verdict::kFails, Verdict::kNew, Verdict::kUndecided}) {
    const auto at = static_cast<std::size_t>(verdict);
    if (counts[at] == 0) continue;
    out += "<li>" + std::to_string(counts[at]) + " " + badge(verdict) + " <span class=\"quiet\">" +
           kMeanings[at] + "</span></li>\n";
  }
  return out + "</ul>\n";
}

std::string figure_html(const Chart& chart) {
  return "<figure id=\"figure-of-" + html_escape(chart.name) + "\">\n<div class=\"drawing\">" +
         chart_svg(chart, false) + "</div>\n<figcaption>" + html_inline(chart.caption) +
         " <span class=\"data\">Data: " + files(data_name(points_of(chart))) + "; " +
         link("figures/" + chart.name + ".svg", "SVG") + ".</span></figcaption>\n</figure>\n";
}

/// `titled`: with a heading of its own.
std::string section_html(const Reported& entry, bool titled) {
  const Experiment& experiment = *entry.experiment;
  std::string out = "<section class=\"card\" id=\"" + html_escape(experiment.name) + "\">\n";
  if (titled) out += "<h2>" + html_escape(experiment.title) + "</h2>\n";
  out += html_paragraphs(entry.findings.text);
  out += "<div class=\"figures\">\n";
  for (const Chart& chart : entry.findings.charts) out += figure_html(chart);
  out += "</div>\n";
  for (const Table& table : entry.findings.tables) {
    out += "<details><summary>" + html_escape(table.title) + " (" + std::to_string(table.rows.size()) +
           (table.rows.size() == 1 ? " row)" : " rows)") + "</summary>\n" + table_html(table) +
           "</details>\n";
    out += "<p class=\"data\">Data: " + files(data_name(table)) + ".</p>\n";
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

/// Text for a cell of a Markdown table; anything that looks like markup but is not is escaped.
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
             std::string(to_string(claim.verdict)) + " |\n";
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
  const auto kind = [&](std::size_t at) {
    return at < numeric.size() && numeric[at] ? std::string(" class=\"number\"") : std::string();
  };
  std::string out = "<div class=\"scroll stacked\" tabindex=\"0\" role=\"group\" aria-label=\"" +
                    html_escape(table.title.empty() ? "table" : table.title) + "\"><table>\n<thead><tr>";
  for (std::size_t at = 0; at < table.columns.size(); ++at)
    out += "<th scope=\"col\"" + kind(at) + ">" + html_escape(table.columns[at]) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::string text = html_escape(row[at].text);
      const std::string column = at < table.columns.size() ? html_escape(table.columns[at]) : "";
      // If rows are stacked, the first cell is the heading of its row: a number needs a label there.
      const std::string label = at > 0 || numeric[0] ? " data-label=\"" + column + "\"" : "";
      out += (at == 0 ? "<th scope=\"row\"" : "<td") + label + kind(at) + ">" + text +
             (at == 0 ? "</th>" : "</td>");
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string page_head(const std::string& title) {
  const std::string style = "\n" + std::string(kThemeCss) + ":root { " + palette_css(false) +
                            " }\n@media screen and (prefers-color-scheme: dark) { :root { " +
                            palette_css(true) + " } }\n" + kPageCss + "@media (max-width: 46rem) {\n" +
                            kStackedCss + "}\n";
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" +
         sha256_base64(style) + "'; img-src data:; base-uri 'none'; form-action 'none'\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<link rel=\"icon\" href=\"data:,\">\n";  // or browsers request an icon that does not exist
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
  out += "<header>\n<h1>" + html_escape(info.title) + "</h1>\n<p class=\"quiet\">" +
         (info.version.empty() ? "" : html_escape(info.version) + ", ") + html_escape(about) + "</p>\n";
  const bool claims = has_claims(reported);
  if (claims || reported.size() > 1) {
    out += "<nav aria-label=\"contents\"><ul>\n";
    if (claims) out += "<li><a href=\"#claims\">Claims and verdicts</a></li>\n";
    for (const Reported& entry : reported) {
      out += "<li>" + link("#" + entry.experiment->name, entry.experiment->title) + "</li>\n";
    }
    out += "</ul></nav>\n";
  }
  out += "</header>\n<main>\n";
  if (claims) {
    out += "<section class=\"card\" id=\"claims\">\n<h2>Claims and verdicts</h2>\n" +
           verdict_counts(reported) + claims_html(reported) + "</section>\n";
  }
  for (const Reported& entry : reported)
    out += section_html(entry, reported.size() > 1 || entry.experiment->title != info.title);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace allot::detail
