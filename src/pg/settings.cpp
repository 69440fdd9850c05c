// The settings of snowid. See settings.hpp.
#include "pg/settings.hpp"

namespace snowid::pg {

int default_shard = 0;
int max_lead_ms = 1000;
int max_wait_ms = 5000;
int ceiling_step_ms = 1000;
bool segment_adapt = true;
int section_keys = kDefaultSectionKeys;

void settings_register() {
  DefineCustomIntVariable("snowid.shard", "Shard of the IDs that snowid_next() makes.",
                          "Functions that take a shard do not use this setting.", &default_shard, 0,
                          0, INT_MAX, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  DefineCustomIntVariable(
      "snowid.max_lead", "How far the time of an ID may run ahead of the server's clock.",
      "A burst borrows from the future up to here, and a clock set back by less "
      "goes unnoticed. Beyond it, callers wait.",
      &max_lead_ms, 1000, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
  DefineCustomIntVariable(
      "snowid.max_wait", "How long a caller waits for the clock before it gets an error.",
      "A caller that would have to wait for longer is refused at once.", &max_wait_ms, 5000, 0,
      INT_MAX, PGC_USERSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
  DefineCustomIntVariable(
      "snowid.ceiling_step", "How far ahead the time that IDs may carry is made durable.",
      "After a start of the server IDs go on above that time, so the first caller may have to "
      "wait for as long.",
      &ceiling_step_ms, 1000, 10, 5000, PGC_SIGHUP, GUC_UNIT_MS, nullptr, nullptr, nullptr);
  DefineCustomBoolVariable(
      "snowid.segment_adapt", "Whether a segment buys more at a time while it is used up quickly.",
      "Twice as many blocks when the last ones were used up in under 15 minutes, up to 1,000,000 "
      "numbers; half as many when they lasted for over 30 minutes.",
      &segment_adapt, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  DefineCustomIntVariable(
      "snowid.section_keys", "How many keys of a section are kept in memory.",
      "Past that the longest-unused ones leave. A key that comes back goes on above every number "
      "that was given to one that left.",
      &section_keys, kDefaultSectionKeys, 1, 100000000, PGC_SIGHUP, 0, nullptr, nullptr, nullptr);
  MarkGUCPrefixReserved("snowid");
}

}  // namespace snowid::pg
