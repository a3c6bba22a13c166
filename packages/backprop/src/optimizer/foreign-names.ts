import type { ForeignNames } from '@rlp/core';

/** What TRL, PEFT, verl and OpenRLHF call the options of training backends. */
export const backendNames: ForeignNames = {
  learningRate: 'learning_rate lr actor_learning_rate',
  'schedule.kind': 'lr_scheduler_type',
  'schedule.warmup': 'warmup_steps warmup_ratio lr_warmup_steps',
  'optimizer.kind': 'optim',
  'optimizer.weightDecay': 'weight_decay',
  'optimizer.beta1': 'adam_beta1',
  'optimizer.beta2': 'adam_beta2',
  'optimizer.epsilon': 'adam_epsilon',
  maxGradientNorm: 'max_grad_norm grad_clip max_norm',
  tokensPerMicroBatch:
    'per_device_train_batch_size gradient_accumulation_steps ppo_micro_batch_size_per_gpu ppo_max_token_len_per_gpu micro_train_batch_size micro_batch_size',
  activations: 'gradient_checkpointing',
  lora: 'peft_config',
  'lora.rank': 'lora_rank r',
  'lora.alpha': 'lora_alpha',
  'lora.scaling': 'use_rslora rslora',
  'lora.targets': 'target_modules',
  'lora.variant': 'use_dora dora',
  'lora.dropout': 'lora_dropout',
  'lora.modulesToSave': 'modules_to_save',
  'use createOnnxBackend of @rlp/backprop, which computes in float16 with it; else leave it out':
    'precision fp16 mixed_precision amp autocast',
  "rlp has no bfloat16; precision: 'mixed' of createOnnxBackend computes in float16": 'bf16',
  'logprobs are float32; leave it out': 'cast_lm_head_to_fp32',
  'a backend trains on one device; leave it out': 'deepspeed fsdp',
};

/** Such names for the backend that has a `precision`. */
export const onnxBackendNames: ForeignNames = {
  model: 'model_name_or_path',
  ...backendNames,
  precision: 'fp16 mixed_precision amp autocast',
};
