#include "worker/dataset/text_process.h"

namespace leadline::dataset {
namespace {

class IidProcess final : public TextProcess {
 public:
  IidProcess() {
    // Space, then a to z: a tenth of the text is space, letter k of 26 has
    // weight proportional to 27 - k.
    options_.push_back({" ", 39});
    for (int k = 0; k < 26; ++k) {
      options_.push_back({std::string(1, static_cast<char>('a' + k)), 26U - k});
    }
  }

  const std::vector<TextOption>& Options() const override { return options_; }
  void Take(size_t) override {}

 private:
  std::vector<TextOption> options_;
};

}  // namespace

std::unique_ptr<TextProcess> MakeIidProcess() {
  return std::make_unique<IidProcess>();
}

}  // namespace leadline::dataset
