#include "bench/solvers/cbc.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace bench {
namespace {

using namespace allot;

double children_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string x(TaskType i, ResourceId j, Count m) {
  return "x_" + std::to_string(index(i)) + "_" + std::to_string(index(j)) + "_" + std::to_string(m);
}
std::string z(ResourceId j, Count m) { return "z_" + std::to_string(index(j)) + "_" + std::to_string(m); }

/// In CPLEX's LP format.
void write_programme(const System& system, std::ostream& out) {
  out.precision(17);
  const auto each = [&](auto&& visit) {
    for (const ResourceId j : system.resource_ids()) {
      for (Count m = 1; m <= system.reach(j); ++m) {
        for (const TaskType i : system.types()) {
          if (system.can_run(i, j) && system.count(i) > 0) visit(i, j, m);
        }
      }
    }
  };
  out << "Maximize\n obj:";
  each([&](TaskType i, ResourceId j, Count m) {
    out << " + " << system.rate(i, j) / static_cast<double>(m) << ' ' << x(i, j, m) << '\n';
  });
  out << "Subject To\n";
  for (const ResourceId j : system.resource_ids()) {
    for (Count m = 1; m <= system.reach(j); ++m) {
      for (const TaskType i : system.types()) {
        if (system.can_run(i, j) && system.count(i) > 0) out << " + " << x(i, j, m);
      }
      out << " - " << m << ' ' << z(j, m) << " = 0\n";
    }
    if (system.reach(j) == 0) continue;
    for (Count m = 1; m <= system.reach(j); ++m) out << " + " << z(j, m) << '\n';
    out << " <= 1\n";
  }
  each([&](TaskType i, ResourceId j, Count m) {
    out << ' ' << x(i, j, m) << " - " << std::min(system.count(i), m) << ' ' << z(j, m) << " <= 0\n";
  });
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0) continue;
    for (const ResourceId j : system.resources_for(i)) {
      for (Count m = 1; m <= system.reach(j); ++m) out << " + " << x(i, j, m) << '\n';
    }
    out << " = " << system.count(i) << '\n';
  }
  out << "Binaries\n";
  for (const ResourceId j : system.resource_ids()) {
    for (Count m = 1; m <= system.reach(j); ++m) out << ' ' << z(j, m) << '\n';
  }
  out << "End\n";
}

/// The file begins with "Optimal - ..."; then a line per variable that is not 0: index, name, value, reduced
/// cost.
std::optional<Assignment> read_answer(const System& system, std::istream& in) {
  std::string line;
  if (!std::getline(in, line) || line.rfind("Optimal", 0) != 0) return std::nullopt;
  Assignment assignment(system.type_count(), system.resource_count());
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string number;
    std::string name;
    double value = 0;
    std::size_t i = 0;
    std::size_t j = 0;
    fields >> number >> name >> value;
    if (std::sscanf(name.c_str(), "x_%zu_%zu_", &i, &j) != 2) continue;
    assignment(task_type(i), resource_id(j)) += static_cast<Count>(std::llround(value));
  }
  return assignment;
}

}  // namespace

bool has_cbc() { return std::system("command -v cbc >/dev/null 2>&1") == 0; }

CbcAnswer solve_with_cbc(const System& system, const std::filesystem::path& folder, double limit) {
  const std::string programme = (folder / "programme.lp").string();
  const std::string answer = (folder / "answer.txt").string();
  {
    std::ofstream out(programme);
    write_programme(system, out);
  }
  std::filesystem::remove(answer);
  CbcAnswer result;
  const double before = children_seconds();
  const std::string command = "cbc '" + programme + "' -sec " + std::to_string(limit) +
                              " -ratioGap 0 -allowableGap 0 -solve -solution '" + answer +
                              "' >/dev/null 2>&1";
  const bool ran = std::system(command.c_str()) == 0;
  result.seconds = children_seconds() - before;
  std::ifstream in(answer);
  if (ran && in) result.assignment = read_answer(system, in);
  return result;
}

}  // namespace bench
