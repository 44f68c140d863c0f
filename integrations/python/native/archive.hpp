// Converts results to bytes and back, so that Python can pickle and copy them: exact to the last bit, for the
// same version of the library.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "allot/analyze/analysis_json.hpp"
#include "allot/base/version.hpp"
#include "allot/dispatch/plan.hpp"
#include "allot/simulate/simulation_json.hpp"
#include "allot/simulate/trace.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solution_json.hpp"
#include "allot/solve/solver.hpp"
#include "allot/solve/whatif.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/result_fields.hpp"

namespace allot::python {

template <typename Value>
concept Plain = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

/// A struct with a `fields` function.
template <typename Value>
concept Record = std::is_class_v<Value>;

/// Appends values to a string of bytes.
class Packer {
 public:
  /// `with_times` false: run times are left out, so that equal answers have equal bytes.
  explicit Packer(bool with_times = true) : with_times_(with_times) { pack(std::string_view(version())); }
  bool keeps(std::string_view key) const noexcept {
    return with_times_ || (!key.ends_with("seconds") && key != "completions_per_second");
  }
  const std::string& bytes() const noexcept { return bytes_; }

  template <typename... Values>
  void operator()(Values&... values) {
    (pack(values), ...);
  }

 private:
  template <Plain Value>
  void pack(Value value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void pack(std::string_view text) {
    pack(text.size());
    bytes_ += text;
  }
  void pack(std::string& text) { pack(std::string_view(text)); }
  template <typename Value>
  void pack(std::optional<Value>& value) {
    pack(value.has_value());
    if (value) pack(*value);
  }
  template <typename Value>
  void pack(std::vector<Value>& values) {
    pack(values.size());
    for (Value& value : values) pack(value);
  }
  void pack(Assignment& assignment) {
    pack(assignment.types());
    pack(assignment.resources());
    for (const Count count : assignment.values()) pack(count);
  }
  template <Record Struct>
  void pack(Struct& record) {
    fields(*this, record);
  }

  bool with_times_;
  std::string bytes_;
};

/// Extracts the values in the same order. Invalid if the bytes were not made by a Packer of this version.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {
    std::string made_by;
    unpack(made_by);
    if (made_by != version())
      raise_invalid("pickle", "is of version " + made_by + ", this is " + std::string(version()));
  }

  bool keeps(std::string_view /*key*/) const noexcept { return true; }
  template <typename... Values>
  void operator()(Values&... values) {
    (unpack(values), ...);
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > left_.size()) raise_invalid("pickle", "is cut short");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  /// The size of a list; each element takes at least one byte.
  std::size_t size() {
    std::size_t value = 0;
    unpack(value);
    if (value > left_.size()) raise_invalid("pickle", "is cut short");
    return value;
  }
  template <Plain Value>
  void unpack(Value& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void unpack(std::string& text) { text = take(size()); }
  /// The name of a solver; it points into the table of solvers.
  void unpack(std::string_view& name) {
    std::string text;
    unpack(text);
    const SolverInfo* const solver = find_solver(text);
    name = solver != nullptr ? solver->name : std::string_view();
  }
  template <typename Value>
  void unpack(std::optional<Value>& value) {
    bool present = false;
    unpack(present);
    value.reset();
    if (!present) return;
    Value made{};
    unpack(made);
    value = std::move(made);
  }
  template <typename Value>
  void unpack(std::vector<Value>& values) {
    values.resize(size());
    for (Value& value : values) unpack(value);
  }
  void unpack(Assignment& assignment) {
    const std::size_t types = size();
    const std::size_t resources = size();
    assignment.reset(types, resources);
    for (std::size_t i = 0; i < types; ++i) {
      for (std::size_t j = 0; j < resources; ++j) unpack(assignment(task_type(i), resource_id(j)));
    }
  }
  template <Record Struct>
  void unpack(Struct& record) {
    fields(*this, record);
  }

  std::string_view left_;
};

// The members of the structs.

void fields(auto& archive, Performance& p) {
  archive(p.throughput, p.value, p.throughput_by_task, p.throughput_by_resource, p.response_time,
          p.response_time_by_task, p.shares, p.priority_error, p.approximate);
}
void fields(auto& archive, CapacityUse& c) { archive(c.name, c.amount, c.used, c.price); }
void fields(auto& archive, BindingLimit& l) { archive(l.what, l.amount, l.unit, l.relaxed); }
void fields(auto& archive, Solution& s) {
  archive_fields(archive, solution_fields(), s);
  archive(s.objective, s.outcome, s.is_planned, s.plan.capacities, s.plan.limits);
}
void fields(auto& archive, Alternative& a) { archive(a.resource, a.gain, a.error_change, a.allowed); }
void fields(auto& archive, Placement& p) { archive(p.task, p.resource, p.count, p.alternatives); }
void fields(auto& archive, ParetoPoint& p) { archive_fields(archive, point_fields(), p); }
void fields(auto& archive, ParetoFrontier& f) {
  archive(f.points, f.advised, f.exhaustive, f.approximate, f.is_planned, f.has_priorities, f.outcome);
}
void fields(auto& archive, Change& c) {
  archive_fields(archive, change_fields(), c);
  archive(c.what);
}
void fields(auto& archive, WhatIf& w) { archive(w.base, w.changes, w.outcome); }
void fields(auto& archive, Estimate& e) { archive(e.mean, e.half_width); }
void fields(auto& archive, ReplicationMark& m) { archive(m.number, m.complete); }
void fields(auto& archive, TraceEvent& e) {
  archive(e.what, e.time, e.task, e.thread, e.type, e.resource, e.size, e.response);
}
void fields(auto& archive, SimulationResult& r) {
  archive_fields(archive, simulation_fields(), r);
  archive(r.response_time, r.response_time_by_task, r.replication_marks, r.capacity_use);
}
void fields(auto& archive, Difference& d) { archive_fields(archive, difference_fields(), d); }
void fields(auto& archive, Comparison& c) { archive(c.policies, c.differences); }
void fields(auto& archive, Analysis& a) {
  archive_fields(archive, analysis_fields(), a);
  archive(a.stopped);
}
/// All members except its system.
void fields(auto& archive, Plan& p) {
  archive(p.number, p.target, p.time_shares, p.service, p.predicted, p.note, p.stale);
  if (archive.keeps("solve_seconds")) archive(p.solve_seconds);
}

template <typename Value>
py::bytes packed(Value value) {
  Packer packer;
  packer(value);
  return packer.bytes();
}

template <typename Value>
void unpack(const py::bytes& bytes, Value& value) {
  const std::string text = bytes;
  Unpacker unpacker(text);
  unpacker(value);
}

/// Gives a class `==` by value: all contents except run times.
template <typename Held, typename Value>
void add_equality(py::class_<Held>& bound, Value value_of) {
  add_method(
      bound, "__eq__(self, other, /)",
      [value_of](const Held& self, const Held& other) {
        const auto bytes = [&](const Held& held) {
          Packer packer(false);
          auto value = value_of(held);
          packer(value);
          return packer.bytes();
        };
        if constexpr (requires { *self.scenario; }) {
          if (!(*self.scenario == *other.scenario)) return false;
        }
        return bytes(self) == bytes(other);
      },
      "Whether all contents are equal, except running times.", py::is_operator(), py::arg("other"));
}

/// Makes a result of a scenario picklable and comparable: `fields` lists its other contents.
template <typename Result>
void add_pickle(py::class_<Result>& bound) {
  bound.def(py::pickle([](const Result& self) { return py::make_tuple(self.scenario, packed(self)); },
                       [](const py::tuple& state) {
                         Result result{};
                         unpack(state[1].template cast<py::bytes>(), result);
                         result.scenario = state[0].template cast<ScenarioPointer>();
                         return result;
                       }));
  add_equality(bound, [](const Result& self) { return self; });
}

}  // namespace allot::python
