// allot._native: the library as Python objects. Conveniences (tables, plots, defaults) are written in Python,
// in the package around it.
#include "integrations/python/native/module.hpp"

#include <string>

#include "allot/base/error.hpp"
#include "allot/base/version.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/lifetime.hpp"

namespace allot::python {

void* refuse_memory(std::size_t /*size*/) {
  throw py::type_error("this object was made by __new__ alone and holds nothing");
}

namespace {

void translate(std::exception_ptr exception) {
  try {
    if (exception) std::rethrow_exception(exception);
  } catch (const Invalid& invalid) {
    set_python_error(invalid);
  } catch (const InvalidModel& error) {
    set_python_error(Invalid({{error.field(), std::string(error.what()).substr(error.field().size() + 2)}}));
  }
}

}  // namespace
}  // namespace allot::python

PYBIND11_MODULE(_native, module) {
  using namespace allot::python;
  module.doc() = "The native part of allot. Use the package: import allot.";
  py::register_exception_translator(&translate);
  // Signatures are written by hand, in the form that `inspect` reads.
  py::options options;
  options.disable_function_signatures();
  module.def("version", &allot::version);
  module.def("build_commit", &allot::build_commit);
  bind_lifetime(module);
  bind_scenario(module);
  bind_ask(module);
  bind_solve(module);
  bind_simulate(module);
  bind_analyze(module);
  bind_dispatch(module);
  bind_executor(module);
  bind_service_order(module);
}
