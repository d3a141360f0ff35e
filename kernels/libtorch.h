// What is used of LibTorch. torch/torch.h brings data loaders, optimizers, the JIT, serialization
// and every module as well: with them each file takes twice as long to compile, even from a
// precompiled header, since GCC instantiates again in every file what headers leave pending.
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
