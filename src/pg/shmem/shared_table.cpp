// Shared: Root, created under AddinShmemInitLock. Its first word, `abi`, and the tranches never
// change after that lock is released. `lock` guards the rest, which never changes once written.
#include "pg/shmem/shared_table.hpp"

#include "pg/compat.hpp"

extern "C" {
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
}

namespace snowid::pg {

dsa_area* shared_area = nullptr;

namespace {

constexpr char kRootName[] = "snowid";
constexpr const char* kTrancheNames[] = {"SnowidCeiling", "SnowidSection", "SnowidShared"};

// Never changes: ShmemInitStruct would fail, and a new library could not read an old root.
constexpr Size kRootSize = 2048;

constexpr Size kNameSize = 32;
constexpr uint32 kMostTables = 32;

struct Listed {
  char name[kNameSize];
  uint32 abi;
  uint32 entry_size;
  dshash_table_handle handle;
  std::atomic<uint64_t> entries;
};

struct Root {
  uint32 abi;       // must stay first
  int tranches[3];  // by Tranche
  LWLock lock;
  dsa_handle area;
  uint32 count;  // of listed tables
  Listed tables[kMostTables];
};

SNOWID_PIN_SIZE(Listed, 56);
SNOWID_PIN(Root, abi, 0);
SNOWID_PIN_SIZE(Root, kLockSize + 24 + kMostTables * sizeof(Listed));
static_assert(sizeof(Root) <= kRootSize);

Root* root = nullptr;

// Raises: 55000.
[[noreturn]] void report_other_abi(const char* name, uint32 there, uint32 here) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("library \"snowid\" was replaced while the server was running"),
          errdetail("Table \"%s\" in shared memory has ABI %u, and this library has ABI %u.", name,
                    there, here),
          errhint("Restart the server."));
}

Root* find_root() {
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  auto* made = static_cast<Root*>(ShmemInitStruct(kRootName, kRootSize, &found));
  if (!found) memset(static_cast<void*>(made), 0, kRootSize);
  // The ABI is set last: if the server has no tranche left, another session tries again.
  if (made->abi == 0) {
    for (uint32 i = 0; i < lengthof(kTrancheNames); i++)
      if (made->tranches[i] == 0) made->tranches[i] = new_tranche(kTrancheNames[i]);
    made->area = DSM_HANDLE_INVALID;
    LWLockInitialize(&made->lock, made->tranches[static_cast<int>(Tranche::kShared)]);
    made->abi = SNOWID_SHARED_ABI;
  }
  LWLockRelease(AddinShmemInitLock);
  if (made->abi != SNOWID_SHARED_ABI) report_other_abi(kRootName, made->abi, SNOWID_SHARED_ABI);
  for (uint32 i = 0; i < lengthof(kTrancheNames); i++)
    name_tranche(made->tranches[i], kTrancheNames[i]);
  return made;
}

// Attaches to the area, created if there is none. The handle is stored last: after an earlier
// error, the resource owner detaches from the area, which frees it.
void attach_area() {
  Root* found = find_root();
  LWLockAcquire(&found->lock, LW_EXCLUSIVE);
  dsa_area* area;
  if (found->area == DSM_HANDLE_INVALID) {
    area = dsa_create(found->tranches[static_cast<int>(Tranche::kShared)]);
    dsa_pin(area);
    dsa_pin_mapping(area);
    found->area = dsa_get_handle(area);
  } else {
    area = dsa_attach(found->area);
    dsa_pin_mapping(area);
  }
  LWLockRelease(&found->lock);
  shared_area = area;
  root = found;
}

// Requires: the root is locked.
Listed* find_listed(const char* name) noexcept {
  Assert(LWLockHeldByMe(&root->lock));
  for (uint32 i = 0; i < root->count; i++)
    if (strcmp(root->tables[i].name, name) == 0) return &root->tables[i];
  return nullptr;
}

// Requires: the root is locked exclusively. The count is raised last, in case of an error.
Listed* make_table(const SharedTable& table, const dshash_parameters& parameters,
                   dshash_table** made) {
  assert_holds_exclusively(root->lock);
  if (root->count == kMostTables)
    elog(ERROR, "no room for table \"%s\" in the directory of shared memory", table.name);
  *made = dshash_create(shared_area, &parameters, nullptr);
  Listed& listed = root->tables[root->count];
  strlcpy(listed.name, table.name, kNameSize);
  listed.abi = table.abi;
  listed.entry_size = static_cast<uint32>(table.entry_size);
  listed.handle = dshash_get_hash_table_handle(*made);
  root->count++;
  return &listed;
}

uint64 count_by_walk(const Listed& listed) {
  const dshash_parameters parameters =
      byte_keyed(0, listed.entry_size, tranche_of(Tranche::kShared));
  dshash_table* table = dshash_attach(shared_area, &parameters, listed.handle, nullptr);
  uint64 count = 0;
  dshash_seq_status scan;
  dshash_seq_init(&scan, table, false);
  while (dshash_seq_next(&scan) != nullptr) count++;
  dshash_seq_term(&scan);
  dshash_detach(table);
  return count;
}

}  // namespace

int tranche_of(Tranche tranche) noexcept { return root->tranches[static_cast<int>(tranche)]; }

void table_attach_now(SharedTable* table) {
  assert_holds_none();
  if (strlen(table->name) >= kNameSize) elog(ERROR, "table name \"%s\" is too long", table->name);
  // Pointers to shared memory must outlive the transaction.
  MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
  static bool has_callback = false;
  if (!has_callback) before_shmem_exit(at_session_exit, 0);
  has_callback = true;
  if (root == nullptr) attach_area();
  const dshash_parameters parameters =
      byte_keyed(table->key_size, table->entry_size, tranche_of(Tranche::kShared));
  LWLockAcquire(&root->lock, LW_EXCLUSIVE);
  Listed* listed = find_listed(table->name);
  dshash_table* attached = nullptr;
  if (listed == nullptr)
    listed = make_table(*table, parameters, &attached);
  else if (listed->abi == table->abi)
    attached = dshash_attach(shared_area, &parameters, listed->handle, nullptr);
  LWLockRelease(&root->lock);
  MemoryContextSwitchTo(caller);
  // Read without the lock: a listed table never changes.
  if (attached == nullptr) report_other_abi(table->name, listed->abi, table->abi);
  table->attached = attached;
  table->entries = &listed->entries;
}

int64 table_memory(const char* name) {
  // dshash's header before each entry, which is not part of its interface: a pointer and a hash.
  constexpr Size kHeaderSize = 16;
  Assert(root != nullptr);
  LWLockAcquire(&root->lock, LW_SHARED);
  const Listed* listed = find_listed(name);
  LWLockRelease(&root->lock);
  if (listed == nullptr) return 0;
  const uint64 count =
      walk_tables > 0 ? count_by_walk(*listed) : listed->entries.load(std::memory_order_relaxed);
  return static_cast<int64>(count * (kHeaderSize + listed->entry_size));
}

void* table_attach_entry(SharedTable* table, const void* key) {
  table_attach(table);
  void* entry = table_find_or_make(*table, key, nullptr);
  dshash_release_lock(table->attached, entry);
  return entry;
}

void* table_find_or_make(const SharedTable& table, const void* key, bool* made) {
  bool found;
  Assert(table.attached != nullptr);
  void* entry = dshash_find_or_insert(table.attached, key, &found);
  if (!found) {
    memset(static_cast<char*>(entry) + table.key_size, 0, table.entry_size - table.key_size);
    if (table.begin != nullptr) table.begin(entry);
    table.entries->fetch_add(1, std::memory_order_relaxed);
  }
  if (made != nullptr) *made = !found;
  return entry;
}

void table_delete(const SharedTable& table, void* entry) {
  table.entries->fetch_sub(1, std::memory_order_relaxed);
  dshash_delete_entry(table.attached, entry);
}

}  // namespace snowid::pg
