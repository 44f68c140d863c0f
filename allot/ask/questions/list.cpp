// What is built in, with a line on each.
#include "allot/ask/question.hpp"
#include "allot/io/result_json.hpp"

namespace allot {
namespace {

class ListQuestion final : public Question {
 public:
  bool needs_scenario() const noexcept override { return false; }
  std::vector<Option> options() override { return {}; }
  void answer(const Attendance&) override {}
  std::string json() const override { return list_json(builtin_listing()); }
};

}  // namespace

namespace questions {

extern const QuestionInfo list;
const QuestionInfo list{"list",
                        "List the solvers, policies, distributions and disciplines.",
                        "allot list\n"
                        "allot list --json",
                        make_question<ListQuestion>,
                        ProgressKind::kNone,
                        "",
                        "What `allot list --json` prints.\n"
                        "\n"
                        ">>> import allot\n"
                        ">>> sorted(allot.listing())\n"
                        "['disciplines', 'distributions', 'policies', 'solvers']",
                        "listing"};

}  // namespace questions
}  // namespace allot
