# attn_check_torch_internals(INCLUDE_FOLDER VERSION)
#   Fails if LibTorch declares an internal operator (with a leading underscore, i.e. without a stable interface)
#   differently from how it is called here. Reads the operators' schemas and needs no compilation.

# operator, the source that calls it, the beginning of its schema: the arguments that are passed by position
set(attn_torch_internals
  _addmm_activation kernels/ops/gpu_linear.cpp
  "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False"
  _foreach_copy_ kernels/ops/packed_weights.cpp
  "(Tensor(a!)[] self, Tensor[] src"
  _efficient_attention_forward kernels/ops/attention.cpp
  "(Tensor query, Tensor key, Tensor value, Tensor? bias, Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, SymInt? max_seqlen_q, SymInt? max_seqlen_k, float dropout_p, int custom_mask_type, bool compute_log_sumexp=False"
  _fused_adamw_ train/optimizers.cpp
  "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize")

function(attn_check_torch_internals include version)
  set(rest "${attn_torch_internals}")
  while(rest)
    list(POP_FRONT rest operator source arguments)
    # Operators that write in place are declared beside the one that does not.
    string(REGEX REPLACE "_$" "" file "${operator}")
    set(header "${include}/ATen/ops/${file}_ops.h")
    set(text "")
    if(EXISTS "${header}")
      file(READ "${header}" text)
    endif()
    string(FIND "${text}" "\"${operator}${arguments}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "LibTorch ${version} has no operator ${operator} as ${source} calls it: take LibTorch "
                          "${ATTN_TORCH_OLDEST} to ${ATTN_TORCH_NEWEST}, or adapt the call and cmake/LibTorchInternals.cmake")
    endif()
  endwhile()
endfunction()
