// The page of a report.
#pragma once

#include <span>
#include <string>

#include "allot/report/report.hpp"

namespace allot::detail {

std::string page_html(std::span<const Reported> reported, const ReportInfo& info);

/// Everything before the content: colours for light and dark, styles for text, tables and figures, and a
/// content security policy that allows only these styles: no scripts, no other styles, no requests.
std::string page_head(const std::string& title);

/// A table that scrolls inside its own frame if it is long; in a narrow window its rows are stacked.
std::string table_html(const Table& table);

/// Sweeps have no claims: no section, no file.
bool has_claims(std::span<const Reported> reported);

/// The claims and verdicts as a table in Markdown.
std::string claims_markdown(std::span<const Reported> reported, const ReportInfo& info);

/// The file name without ending: "figure-2-averages", or with "-timing" appended.
std::string data_name(const Table& table);

}  // namespace allot::detail
