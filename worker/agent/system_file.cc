#include "worker/agent/system_file.h"

#include <fstream>
#include <sstream>

namespace leadline::agent {

std::string ReadSystemFile(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Not by iterators over the buffer: they throw where a read fails.
  text << file.rdbuf();
  return text.str();
}

}  // namespace leadline::agent
