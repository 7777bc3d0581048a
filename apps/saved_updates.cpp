// SPDX-License-Identifier: Apache-2.0
#include "saved_updates.hpp"

namespace wyrm::apps {

bool saved_updates::next(datasets::update& to) {
  using datasets::update_action;
  if (!from_.next(to)) return false;
  if (to.action == update_action::end_batch) {
    file_.write("\n");
    return true;
  }
  bool const of_vertex = to.action == update_action::add_vertex || to.action == update_action::remove_vertex;
  bool const adds = to.action == update_action::insert || to.action == update_action::add_vertex;
  file_.write(adds ? "+" : "-");
  file_.write(of_vertex ? "v " : " ");
  file_.write(ids_.text(to.source));
  if (!of_vertex) {
    file_.write(" ");
    file_.write(ids_.text(to.target));
    bool const weighted = adds && to.weight != 1;
    if (weighted) {
      file_.write(" ");
      file_.write(to.weight);
    }
    if (weighted || from_.is_timed()) {
      file_.write(" ");
      file_.write(to.time);
    }
  }
  file_.write("\n");
  return true;
}

void saved_updates::finish() {
  file_.finish();
  file_.commit();
}

}  // namespace wyrm::apps
