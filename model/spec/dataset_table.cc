#include "model/spec/dataset_table.h"

namespace leadline::spec {
namespace {

constexpr std::array<double, 3> kNineToOne = {0.9, 0.05, 0.05};

// All of the first file trains. No user's own split can be this one, which is
// how a registered set and a user's copy of its file are told apart.
constexpr std::array<double, 3> kHeldOut = {1, 0, 0};
constexpr std::string_view kSharing = "CDLA-Sharing-1.0";

// Hashes and floors of the built-in corpora are those that worker/dataset
// makes; its tests make them again and compare.
constexpr std::array kTable = {
    DatasetInfo{
        .name = "iid27",
        .kind = DatasetKind::kBuiltIn,
        .file = "iid27.txt",
        .content_hash =
            "c83a368f0e61a6fa78755fb42add8bb52007fa641593d48ef0b21bd44a0482ce",
        .bytes = 2'000'000,
        .tokenizer = "char",
        .split = kNineToOne,
        .vocabulary = 27,
        .validation_floor = 3.1026935741986934,
        .test_floor = 3.0999686332569958,
        .meaning = "27 symbols drawn independently: the loss must reach the "
                   "floor and must not go below it"},
    DatasetInfo{
        .name = "grammar16",
        .kind = DatasetKind::kBuiltIn,
        .file = "grammar16.txt",
        .content_hash =
            "ad888c2ab10bcefe0d8f7b786ce06757311623c3c4cc3efdb6ddca323864893c",
        .bytes = 2'000'000,
        .tokenizer = "char",
        .split = kNineToOne,
        .vocabulary = 19,
        .validation_floor = 0.24891862506917239,
        .test_floor = 0.24957203570076458,
        .meaning = "sentences over 16 invented words, Zipf's law, agreement "
                   "between words far apart"},
    DatasetInfo{
        .name = "grammar64",
        .kind = DatasetKind::kBuiltIn,
        .file = "grammar64.txt",
        .content_hash =
            "2e7baa092c2fcb1b64957952c984a5061272a4541022423ef282e4c705918124",
        .bytes = 2'000'000,
        .tokenizer = "char",
        .split = kNineToOne,
        .vocabulary = 19,
        .validation_floor = 0.483178763424913,
        .test_floor = 0.48209371663173251,
        .meaning = "sentences over 64 invented words, Zipf's law, agreement "
                   "between words far apart"},
    DatasetInfo{
        .name = "recall",
        .kind = DatasetKind::kBuiltIn,
        .file = "recall.txt",
        .content_hash =
            "e160a155175cac2867506e6d2ab5d232f4059db2ca891cbe67c24c5345a4f8c4",
        .bytes = 2'000'000,
        .tokenizer = "char",
        .split = kNineToOne,
        .vocabulary = 28,
        .validation_floor = 1.661398429235726,
        .test_floor = 1.6613184344467946,
        .meaning = "pairs of key and value, asked for later: needs depth and "
                   "attention"},
    DatasetInfo{.name = "text8",
                .kind = DatasetKind::kDownload,
                .file = "text8",
                // The author publishes the MD5 of the text and no SHA-256.
                .content_hash = "md5:3bea1919949baf155f99411df5fada7e",
                .bytes = 100'000'000,
                .source = {.url = "http://mattmahoney.net/dc/text8.zip",
                           .archive_hash = "a6640522afe85d1963ad56c05b0ede0a0c"
                                           "000dddc9671758a6cc09b7a38e5232",
                           .archive_bytes = 31'344'016},
                .tokenizer = "char",
                .split = kNineToOne,
                .vocabulary = 27,
                .licence = "text of Wikipedia, GFDL",
                .meaning =
                    "the first 10^8 bytes of cleaned Wikipedia, a to z and "
                    "space"},
    DatasetInfo{
        .name = "tinystories",
        .kind = DatasetKind::kDownload,
        .file = "TinyStories-train.txt",
        .content_hash =
            "c5cf5e22ff13614e830afbe61a99fbcbe8bcb7dd72252b989fa1117a368d401f",
        .bytes = 1'924'281'556,
        .source = {.url = "https://huggingface.co/datasets/roneneldan/"
                          "TinyStories/resolve/"
                          "f54c09fd23315a6f9c86f9dc80f725de7d8f9c64/"
                          "TinyStories-train.txt"},
        .held_out_file = "TinyStories-valid.txt",
        .held_out_hash =
            "94e431816c4cce81ff71e4408ff8d3bda9a42e8d2663986697c3954288cb38b4",
        .held_out_bytes = 19'447'282,
        .held_out_source = {.url = "https://huggingface.co/datasets/roneneldan/"
                                   "TinyStories/resolve/"
                                   "f54c09fd23315a6f9c86f9dc80f725de7d8f9c64/"
                                   "TinyStories-valid.txt"},
        .tokenizer = "char",
        .split = kHeldOut,
        .licence = kSharing,
        .meaning = "short stories, first version (arXiv:2305.07759)"},
    DatasetInfo{
        .name = "tinystories_v2",
        .kind = DatasetKind::kDownload,
        .file = "TinyStoriesV2-GPT4-train.txt",
        .content_hash =
            "6418d412de72888f52b5142c761ac21a582f7d1166f0bfbdb5f03ccfdec90443",
        .bytes = 2'227'753'162,
        .source = {.url = "https://huggingface.co/datasets/roneneldan/"
                          "TinyStories/resolve/"
                          "f54c09fd23315a6f9c86f9dc80f725de7d8f9c64/"
                          "TinyStoriesV2-GPT4-train.txt"},
        .held_out_file = "TinyStoriesV2-GPT4-valid.txt",
        .held_out_hash =
            "6874bae9a4c1a4e7edcf0e53b86c17817e9cf881fc75ff2368da457b80c0585d",
        .held_out_bytes = 22'502'601,
        .held_out_source = {.url = "https://huggingface.co/datasets/roneneldan/"
                                   "TinyStories/resolve/"
                                   "f54c09fd23315a6f9c86f9dc80f725de7d8f9c64/"
                                   "TinyStoriesV2-GPT4-valid.txt"},
        .tokenizer = "char",
        .split = kHeldOut,
        .licence = kSharing,
        .meaning = "short stories, GPT-4 version (arXiv:2305.07759)"},
    DatasetInfo{
        .name = "text8_sample",
        .kind = DatasetKind::kSample,
        .file = "text8_style_wikipedia.txt",
        .content_hash =
            "0cf035b28f92b01ff2dd0880909f6087bfb48bc8b8c726b793bccdad5c56a13c",
        .bytes = 3'085'829,
        .tokenizer = "char",
        .split = kNineToOne,
        .vocabulary = 27,
        .meaning = "Wikipedia articles in the style of text8"},
    DatasetInfo{
        .name = "tinystories_sample",
        .kind = DatasetKind::kSample,
        .file = "tinystories_train_head.txt",
        .content_hash =
            "ba02237f5747a07d420cb7329f721fdc51b6f5c35a81788b9c4bb871e15ff30a",
        .bytes = 2'096'346,
        .tokenizer = "char",
        .split = kNineToOne,
        // 85 in the training split and one unknown; the whole file has 90.
        .vocabulary = 86,
        .licence = kSharing,
        .meaning = "the first stories of tinystories"},
    DatasetInfo{
        .name = "shakespeare",
        .kind = DatasetKind::kSample,
        .file = "tinyshakespeare.txt",
        .content_hash =
            "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        .bytes = 1'115'394,
        .tokenizer = "char",
        .split = {0.9, 0.1, 0.0},
        .vocabulary = 65,
        .meaning = "plays of Shakespeare; no test split"},
};

}  // namespace

std::span<const DatasetInfo> DatasetTable() { return kTable; }

const DatasetInfo* FindDataset(std::string_view name) {
  for (const DatasetInfo& info : kTable) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace leadline::spec
