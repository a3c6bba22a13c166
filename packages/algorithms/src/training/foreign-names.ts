import type { ForeignNames } from '@rlp/core';

const ownLogs =
  'pass a logger as `logger`: to trainRun in its options, to an algorithm in its dependencies; or read the reports of run()';
const ownSaving = 'call saveRun of @rlp/algorithms/run between the reports of run()';
const ownEvaluation = 'call evaluate of @rlp/run/evaluate on held-out tasks between the reports of run()';
const anotherSampler = 'set the options of the `sampler` of the dependencies';
const notNeeded = 'rlp does not need it; leave it out';

/** What TRL, PEFT, verl, OpenRLHF, tinker-cookbook, rl_primitives and rollouts give to a trainer, and rlp to the backend or to nobody. */
const trainerNames: ForeignNames = {
  'OnnxBackendOptions.model': 'model_name_or_path',
  'OnnxBackendOptions.learningRate': 'learning_rate lr actor_learning_rate',
  'OnnxBackendOptions.schedule.kind': 'lr_scheduler_type',
  'OnnxBackendOptions.schedule.warmup': 'warmup_steps warmup_ratio lr_warmup_steps',
  'OnnxBackendOptions.optimizer.kind': 'optim',
  'OnnxBackendOptions.optimizer.weightDecay': 'weight_decay',
  'OnnxBackendOptions.optimizer.beta1': 'adam_beta1',
  'OnnxBackendOptions.optimizer.beta2': 'adam_beta2',
  'OnnxBackendOptions.optimizer.epsilon': 'adam_epsilon',
  'OnnxBackendOptions.maxGradientNorm': 'max_grad_norm grad_clip max_norm',
  'OnnxBackendOptions.tokensPerMicroBatch':
    'per_device_train_batch_size gradient_accumulation_steps ppo_micro_batch_size_per_gpu ppo_max_token_len_per_gpu micro_train_batch_size ' +
    'micro_batch_size',
  'OnnxBackendOptions.activations': 'gradient_checkpointing',
  'OnnxBackendOptions.lora': 'peft_config',
  'OnnxBackendOptions.lora.rank': 'lora_rank r',
  'OnnxBackendOptions.lora.alpha': 'lora_alpha',
  'OnnxBackendOptions.lora.scaling': 'use_rslora',
  'OnnxBackendOptions.lora.targets': 'target_modules',
  'OnnxBackendOptions.lora.variant': 'use_dora',
  'OnnxBackendOptions.lora.dropout': 'lora_dropout',
  'OnnxBackendOptions.lora.modulesToSave': 'modules_to_save',
  [ownLogs]:
    'log_completions log_completions_hub_repo log_multimodal log_unique_prompts num_completions_to_print logging_steps report_to ' +
    'log_every use_wandb wandb_project',
  [ownSaving]: 'save_steps save_total_limit save_freq save_every checkpoint_every checkpoint_dir output_dir',
  [ownEvaluation]: 'eval_steps eval_strategy test_freq eval_every num_generations_eval',
  'OnnxBackendOptions.precision': 'fp16 mixed_precision amp autocast',
  "rlp has no bfloat16; precision: 'mixed' of createOnnxBackend computes in float16": 'bf16',
  'logprobs are float32; leave it out': 'cast_lm_head_to_fp32',
  'a backend trains on one device; leave it out': 'deepspeed fsdp ds3_gather_for_generation',
  'load the model yourself: loadModel of @rlp/models': 'model_init_kwargs',
  'pass a `chat` that renders with these arguments': 'chat_template_kwargs',
  'TaskSourceOptions.shuffle': 'shuffle_dataset',
  [notNeeded]:
    'disable_dropout cache_implementation pad_to_multiple_of trust_remote_code compute_post_kl ttl_seconds ' +
    'use_transformers_paged use_transformers_continuous_batching transformers_continuous_batching_config',
};

/** What they call the options of loops over data. */
export const passNames: ForeignNames = {
  ...trainerNames,
  epochs: 'num_train_epochs max_epochs',
  updates: 'max_steps num_steps total_training_steps',
};

/** What TRL, verl, OpenRLHF, tinker-cookbook, textpolicy, rl_primitives and rollouts call the options of a loop of reinforcement learning. */
export const rlNames: ForeignNames = {
  ...trainerNames,
  iterations: 'max_steps num_steps total_training_steps num_episodes',
  'iterations say how long a run is: passes over the tasks × tasks ÷ tasksPerIteration': 'num_train_epochs',
  tasksPerIteration: 'groups_per_batch train_batch_size rollout_batch_size generation_batch_size batch_size',
  'rollout.groupSize': 'generation_batch_size batch_size',
  'leave it out; weights are published after every iteration': 'sync_every',
  epochs: 'num_iterations num_ppo_epochs ppo_epochs max_epochs',
  minibatches: 'steps_per_generation num_mini_batches ppo_mini_batch_size num_substeps',
  targetKl: 'target_kl',
  proximal: 'bypass_mode',
  'advantage.scale': 'scale_rewards normalize_advantages norm_adv_by_std_in_grpo',
  loss: 'lossOptions',
  'loss.surrogate': 'loss_type',
  aggregation: 'loss_type loss_agg_mode',
  aggregationConstant: 'loss_scale_factor',
  correctionNormalization: 'rollout_is_batch_normalize',
  zeroVarianceGroups: 'filter_groups dynamic_filtering remove_constant_reward_groups',
  collectionRounds: 'max_num_gen_batches',
  truncatedTrajectories: 'mask_truncated_completions',
  rewardClip: 'reward_clip_range',
  overlong: 'overlong_buffer',
  'overlong.buffer': 'overlong_buffer_len',
  'overlong.penalty': 'overlong_penalty_factor',
  'critic.clip': 'cliprange_value value_clip',
  'critic.coefficient': 'vf_coef',
  'critic.warmupIterations': 'critic_warmup',
  'tokenSelection.share': 'top_entropy_quantile',
  rewardKl: 'use_kl_in_reward',
  'rewardKl.coefficient': 'kl_coef init_kl_coef kl_penalty_coef',
  'rewardKl.estimator': 'kl_estimator kl_penalty',
  klControl: 'kl_ctrl',
  'klControl.target': 'kl_target',
  'klControl.horizon': 'kl_horizon',
  entropyControl: 'use_adaptive_entropy',
  'entropyControl.target': 'entropy_target',
  'entropyControl.step': 'entropy_coef_delta',
  'entropyControl.minimum': 'entropy_coef_min',
  'entropyControl.maximum': 'entropy_coef_max',
  referenceUpdate: 'sync_ref_model',
  'referenceUpdate.decay': 'ref_model_mixup_alpha ema_beta',
  'referenceUpdate.everyIterations': 'ref_model_sync_steps',
  'GaeOptions.discount': 'gamma',
  'GaeOptions.lambda': 'lam lambd',
  'choose the algorithm class, or pass `advantages: estimators.…`': 'adv_estimator',
  'pass `advantages: estimators.gdpo()` for normalize_then_sum': 'multi_objective_aggregation',
  'a weight belongs to its reward: rewardFunctions({ name: { reward, weight } })': 'reward_weights',
  'leave it out; the KL of every token counts fully': 'kl_discount_factor',
  'leave it out; routers are trained by the loss of the policy alone': 'router_aux_loss_coef',
  'leave it out; completions are not bound to a form': 'vllm_structured_outputs_regex',
  'an option of the RolloutManager that you pass as `rollouts`':
    'num_generations n_samples_per_prompt max_completion_length max_prompt_length temperature top_p top_k min_p repetition_penalty',
  [anotherSampler]:
    'use_vllm vllm_mode vllm_model_impl vllm_server_base_url vllm_server_host vllm_server_port vllm_server_timeout ' +
    'vllm_group_port vllm_tensor_parallel_size vllm_enable_sleep_mode vllm_gpu_memory_utilization gpu_memory_utilization',
};
