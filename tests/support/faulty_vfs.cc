#include "tests/support/faulty_vfs.h"

#include <cstring>
#include <mutex>
#include <stdexcept>

namespace leadline::test {
namespace {

struct Plan {
  std::mutex mutex;
  DiskCall call = DiskCall::kWrite;
  int left = -1;  // calls until one fails; negative: none does
  int code = SQLITE_OK;
  bool lasting = false;
  bool refused = false;
};

// SQLite's callbacks have no other place.
Plan& ThePlan() {
  static Plan plan;
  return plan;
}

int Judge(DiskCall call) {
  Plan& plan = ThePlan();
  const std::lock_guard lock(plan.mutex);
  if (plan.left < 0 || plan.call != call) return SQLITE_OK;
  if (plan.left > 0) {
    --plan.left;
    return SQLITE_OK;
  }
  plan.refused = true;
  if (!plan.lasting) plan.left = -1;
  return plan.code;
}

/// Ours, and behind it the file of the real system.
struct File {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_file* Real(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->real;
}

sqlite3_vfs* RealVfs(sqlite3_vfs* vfs) {
  return static_cast<sqlite3_vfs*>(vfs->pAppData);
}

int Close(sqlite3_file* file) {
  sqlite3_file* const real = Real(file);
  const int code = real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
  sqlite3_free(real);
  return code;
}

int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  return Real(file)->pMethods->xRead(Real(file), to, size, at);
}

int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  if (const int code = Judge(DiskCall::kWrite)) return code;
  return Real(file)->pMethods->xWrite(Real(file), from, size, at);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = Judge(DiskCall::kTruncate)) return code;
  return Real(file)->pMethods->xTruncate(Real(file), size);
}

int Sync(sqlite3_file* file, int flags) {
  if (const int code = Judge(DiskCall::kSync)) return code;
  return Real(file)->pMethods->xSync(Real(file), flags);
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}

int Lock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xLock(Real(file), level);
}

int Unlock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xUnlock(Real(file), level);
}

int CheckReservedLock(sqlite3_file* file, int* found) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), found);
}

int FileControl(sqlite3_file* file, int what, void* argument) {
  return Real(file)->pMethods->xFileControl(Real(file), what, argument);
}

int SectorSize(sqlite3_file* file) {
  return Real(file)->pMethods->xSectorSize(Real(file));
}

int Characteristics(sqlite3_file* file) {
  return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
}

int ShmMap(sqlite3_file* file, int region, int size, int extend,
           void volatile** to) {
  if (const int code = Judge(DiskCall::kShmMap)) return code;
  return Real(file)->pMethods->xShmMap(Real(file), region, size, extend, to);
}

int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  if ((flags & SQLITE_SHM_LOCK) != 0) {
    if (const int code = Judge(DiskCall::kLock)) return code;
  }
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}

void ShmBarrier(sqlite3_file* file) {
  Real(file)->pMethods->xShmBarrier(Real(file));
}

int ShmUnmap(sqlite3_file* file, int remove) {
  return Real(file)->pMethods->xShmUnmap(Real(file), remove);
}

constexpr sqlite3_io_methods kMethods = {2,
                                         Close,
                                         Read,
                                         Write,
                                         Truncate,
                                         Sync,
                                         FileSize,
                                         Lock,
                                         Unlock,
                                         CheckReservedLock,
                                         FileControl,
                                         SectorSize,
                                         Characteristics,
                                         ShmMap,
                                         ShmLock,
                                         ShmBarrier,
                                         ShmUnmap,
                                         nullptr,
                                         nullptr};

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
         int* out_flags) {
  sqlite3_vfs* const real = RealVfs(vfs);
  auto* const ours = reinterpret_cast<File*>(file);
  ours->base.pMethods = nullptr;
  ours->real = static_cast<sqlite3_file*>(sqlite3_malloc(real->szOsFile));
  std::memset(ours->real, 0, static_cast<size_t>(real->szOsFile));
  const int code = real->xOpen(real, name, ours->real, flags, out_flags);
  if (code == SQLITE_OK) {
    ours->base.pMethods = &kMethods;
  } else {
    sqlite3_free(ours->real);
  }
  return code;
}

struct Registered {
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs vfs{};
};

Registered& TheVfs() {
  static Registered registered;
  return registered;
}

}  // namespace

FaultyVfs::FaultyVfs() {
  Registered& one = TheVfs();
  one.real = sqlite3_vfs_find(nullptr);
  one.vfs = *one.real;
  one.vfs.zName = "faulty";
  one.vfs.szOsFile = sizeof(File);
  one.vfs.pAppData = one.real;
  one.vfs.pNext = nullptr;
  one.vfs.xOpen = Open;
  if (sqlite3_vfs_register(&one.vfs, 1) != SQLITE_OK) {
    throw std::runtime_error("the file system for tests is refused");
  }
  Relent();
}

FaultyVfs::~FaultyVfs() {
  Relent();
  sqlite3_vfs_unregister(&TheVfs().vfs);
  sqlite3_vfs_register(TheVfs().real, 1);
}

void FaultyVfs::Refuse(DiskCall call, int number, int code, bool lasting) {
  Plan& plan = ThePlan();
  const std::lock_guard lock(plan.mutex);
  plan.call = call;
  plan.left = number;
  plan.code = code;
  plan.lasting = lasting;
  plan.refused = false;
}

bool FaultyVfs::Relent() {
  Plan& plan = ThePlan();
  const std::lock_guard lock(plan.mutex);
  plan.left = -1;
  const bool refused = plan.refused;
  plan.refused = false;
  return refused;
}

}  // namespace leadline::test
