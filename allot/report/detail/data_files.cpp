#include "allot/report/detail/data_files.hpp"

#include <cmath>
#include <utility>

#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/json.hpp"

namespace allot::detail {
namespace {

void add_line(std::string& out, std::span<const std::string> cells) {
  for (std::size_t at = 0; at < cells.size(); ++at) {
    if (at > 0) out += ',';
    out += quote::csv(cells[at]);
  }
  out += '\n';
}

Cell exact(double value) { return {exact_number(value), value}; }

}  // namespace

std::string exact_number(double value) { return std::isnan(value) ? "" : exact_text(value); }

std::string table_csv(const Table& table) {
  std::string out;
  add_line(out, table.columns);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(cell.number ? exact_number(*cell.number) : cell.text);
    add_line(out, cells);
  }
  return out;
}

std::string table_json(const Table& table) {
  Json::Array rows;
  for (const auto& row : table.rows) {
    Json::Array cells;
    for (const Cell& cell : row) cells.push_back(cell.number ? Json(*cell.number) : Json(cell.text));
    rows.emplace_back(std::move(cells));
  }
  Json out;
  out.add("name", table.name);
  out.add("title", table.title);
  out.add("columns", table.columns);
  out.add("rows", std::move(rows));
  return out.text();
}

Table points_of(const Chart& chart) {
  Table table{
      chart.name + "-figure", chart.title, chart.timing, {"series", chart.x_label, chart.y_label}, {}};
  bool intervals = false;
  for (const Series& series : chart.series) intervals = intervals || !series.low.empty();
  if (intervals) table.columns.insert(table.columns.end(), {"low", "high"});
  for (const Series& series : chart.series) {
    for (std::size_t at = 0; at < series.y.size(); ++at) {
      std::vector<Cell> row{{series.label, std::nullopt}};
      const auto category = static_cast<std::size_t>(series.x[at]);
      if (chart.kind == Chart::Kind::kBars && category < chart.categories.size()) {
        row.push_back({chart.categories[category], std::nullopt});
      } else {
        row.push_back(exact(series.x[at]));
      }
      row.push_back(exact(series.y[at]));
      if (intervals) {
        row.push_back(series.low.empty() ? Cell{} : exact(series.low[at]));
        row.push_back(series.high.empty() ? Cell{} : exact(series.high[at]));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

std::string runs_csv(std::span<const std::string> columns, std::span<const UnitResult> results, bool timing) {
  std::string out;
  std::vector<std::string> cells{"unit"};
  cells.insert(cells.end(), columns.begin(), columns.end());
  add_line(out, cells);
  for (std::size_t unit = 0; unit < results.size(); ++unit) {
    for (const auto& row : timing ? results[unit].timing : results[unit].rows) {
      cells.assign(1, std::to_string(unit));
      for (const double value : row) cells.push_back(exact_number(value));
      add_line(out, cells);
    }
  }
  return out;
}

}  // namespace allot::detail
