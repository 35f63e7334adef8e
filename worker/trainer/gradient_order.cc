#include "worker/trainer/gradient_order.h"

#include <algorithm>
#include <memory>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace leadline::trainer {
namespace {

using torch::Tensor;

/// Notes the place of a parameter each time its gradient has grown.
struct Note final : torch::autograd::PostAccumulateGradHook {
  Note(std::vector<int64_t>& its_places, int64_t its_place)
      : places(its_places), place(its_place) {}
  void operator()(const Tensor&) override { places.push_back(place); }

  std::vector<int64_t>& places;
  int64_t place;
};

}  // namespace

std::vector<model::NamedParameter> InOrderOfGradients(
    const std::vector<model::NamedParameter>& parameters,
    collective::Communicator& communicator,
    const std::function<void()>& backward) {
  std::vector<model::NamedParameter> trained;
  std::ranges::copy_if(parameters, std::back_inserter(trained),
                       [](const auto& p) { return p.tensor.requires_grad(); });
  std::vector<int64_t> places;
  for (size_t i = 0; i < trained.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(
        trained[i].tensor,
        std::make_unique<Note>(places, static_cast<int64_t>(i)));
  }
  backward();
  for (const model::NamedParameter& parameter : trained) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter.tensor, nullptr);
    Tensor tensor = parameter.tensor;
    tensor.mutable_grad().reset();
  }
  for (size_t i = 0; i < trained.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    const auto times = std::ranges::count(places, place);
    TORCH_CHECK(times <= 1, trained[i].name, " got its gradient in parts");
    if (times == 0) places.push_back(place);
  }
  Tensor order = torch::tensor(places, torch::kInt64);
  communicator.Broadcast(order, 0);
  std::vector<model::NamedParameter> ordered;
  for (int64_t i = 0; i < order.numel(); ++i) {
    ordered.push_back(trained[static_cast<size_t>(order[i].item<int64_t>())]);
  }
  return ordered;
}

}  // namespace leadline::trainer
