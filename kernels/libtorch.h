// The parts of LibTorch in use. torch/torch.h also includes data loaders, optimizers, the JIT,
// serialization and all modules, which doubles the compile time of each file even with a
// precompiled header, since GCC instantiates pending templates again in every file.
#pragma once

#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
#include <torch/utils.h>
