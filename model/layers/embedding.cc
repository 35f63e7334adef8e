#include "model/layers/embedding.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kLargestOneHot = 1024;

/// Row numbers in the table of all replicas, [R * B * T].
Tensor FlatRows(const Tensor& tokens_RBT, int64_t vocabulary) {
  const Tensor offset_R11 =
      torch::arange(tokens_RBT.size(0), tokens_RBT.options())
          .mul_(vocabulary)
          .view({-1, 1, 1});
  return (tokens_RBT + offset_R11).view({-1});
}

class EmbedFunction : public torch::autograd::Function<EmbedFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& table_RVD,
                        const Tensor& tokens) {
    const Tensor tokens_RBT = tokens.contiguous();
    context->save_for_backward({tokens_RBT});
    const int64_t vocabulary = table_RVD.size(1);
    const int64_t width = table_RVD.size(2);
    context->saved_data["vocabulary"] = vocabulary;
    return table_RVD.reshape({-1, width})
        .index_select(0, FlatRows(tokens_RBT, vocabulary))
        .view({tokens_RBT.size(0), tokens_RBT.size(1), tokens_RBT.size(2),
               width});
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const Tensor tokens_RBT = context->get_saved_variables()[0];
    const int64_t vocabulary = context->saved_data["vocabulary"].toInt();
    const int64_t replicas = tokens_RBT.size(0);
    const int64_t width = gradients[0].size(-1);
    const Tensor dx_RND = gradients[0].reshape({replicas, -1, width});
    if (vocabulary <= kLargestOneHot) {
      const Tensor rows_RNV =
          torch::zeros({replicas, dx_RND.size(1), vocabulary}, dx_RND.options())
              .scatter_(-1, tokens_RBT.view({replicas, -1, 1}), 1);
      return {torch::bmm(rows_RNV.transpose(1, 2), dx_RND), Tensor()};
    }
    return {at::embedding_dense_backward(dx_RND.reshape({-1, width}),
                                         FlatRows(tokens_RBT, vocabulary),
                                         replicas * vocabulary, -1, false)
                .view({replicas, vocabulary, width}),
            Tensor()};
  }
};

}  // namespace

Tensor Embed(const Tensor& table_RVD, const Tensor& tokens_RBT) {
  TORCH_CHECK(tokens_RBT.dim() == 3 && tokens_RBT.size(0) == table_RVD.size(0),
              "tokens of shape ", tokens_RBT.sizes(), " for a table of shape ",
              table_RVD.sizes());
  return EmbedFunction::apply(table_RVD, tokens_RBT);
}

}  // namespace leadline::model
