import { onnxBackendSchema } from '@rlp/backprop';
import { parseOptions } from '@rlp/core';
import { expect, it } from 'vitest';
import type * as z from 'zod';
import { dependencySchema } from '../algorithm/dependencies.ts';
import { algorithmSchemas } from '../algorithm/schemas.ts';
import { sftSchema } from '../supervised/sft-options.ts';
import { rlNames } from './foreign-names.ts';

function problem(schema: z.ZodType, name: string): string {
  try {
    parseOptions('test', schema, { [name]: 1 });
  } catch (error) {
    return (error as Error).message.split('\n').find((line) => line.includes(`"${name}"`)) ?? '';
  }
  return '';
}

/** The fields of TRL 1.16's GRPOConfig, without those of transformers' TrainingArguments. */
const grpoConfig =
  'model_init_kwargs trust_remote_code router_aux_loss_coef disable_dropout cast_lm_head_to_fp32 num_generations ' +
  'num_generations_eval max_completion_length ds3_gather_for_generation shuffle_dataset pad_to_multiple_of generation_batch_size ' +
  'steps_per_generation temperature top_p top_k min_p generation_kwargs chat_template_kwargs repetition_penalty ' +
  'cache_implementation use_vllm vllm_mode vllm_model_impl vllm_enable_sleep_mode vllm_structured_outputs_regex ' +
  'vllm_server_base_url vllm_server_host vllm_server_port vllm_server_timeout vllm_group_port vllm_gpu_memory_utilization ' +
  'vllm_max_model_length vllm_tensor_parallel_size beta num_iterations epsilon delta epsilon_high sapo_temperature_neg ' +
  'sapo_temperature_pos vespo_k_pos vespo_lambda_pos vespo_k_neg vespo_lambda_neg importance_sampling_level reward_weights ' +
  'multi_objective_aggregation scale_rewards loss_type mask_truncated_completions sync_ref_model ref_model_mixup_alpha ' +
  'ref_model_sync_steps top_entropy_quantile entropy_coef use_adaptive_entropy entropy_coef_min entropy_coef_max ' +
  'entropy_coef_delta entropy_target max_tool_calling_iterations vllm_importance_sampling_correction ' +
  'vllm_importance_sampling_mode vllm_importance_sampling_clip_max vllm_importance_sampling_clip_min off_policy_mask_threshold ' +
  'use_bias_correction_kl log_completions log_multimodal num_completions_to_print log_unique_prompts log_completions_hub_repo ' +
  'use_transformers_continuous_batching transformers_continuous_batching_config use_transformers_paged vllm_importance_sampling_cap';

it('answers every field of GRPOConfig, whatever the algorithm', () => {
  const fields = grpoConfig.split(' ');
  expect(fields).toHaveLength(77);
  for (const schema of Object.values(algorithmSchemas)) {
    expect(fields.filter((name) => !problem(schema, name).includes('; '))).toEqual([]);
  }
});

it('answers the configurations of rl_primitives and of rollouts', () => {
  const unanswered = (schema: z.ZodType, names: string) =>
    names.split(' ').filter((name) => !/; (?!expected one of)/.test(problem(schema, name)));
  const shared = 'learning_rate log_every checkpoint_every checkpoint_dir save_every use_wandb wandb_project';
  expect(unanswered(algorithmSchemas.ppo, `${shared} batch_size ppo_epochs num_steps sync_every`)).toEqual(
    [],
  );
  expect(unanswered(sftSchema, `${shared} num_steps batch_size`)).toEqual([]);
  expect(unanswered(dependencySchema, 'env rollout_manager reward_computer backprop')).toEqual([]);
  expect(problem(algorithmSchemas.grpo, 'batch_size')).toContain('tasksPerIteration and rollout.groupSize');
});

it('calls the options of the backend as the backend does', () => {
  const ofBackend = Object.entries(rlNames).filter(([target]) => target.startsWith('OnnxBackendOptions.'));
  expect(ofBackend.length).toBeGreaterThan(15);
  for (const [target, names] of ofBackend) {
    const place = target.slice(target.indexOf('.') + 1);
    for (const name of names.split(' ')) {
      expect(problem(algorithmSchemas.grpo, name)).toContain(`in rlp this is ${place} of OnnxBackendOptions`);
      expect(problem(onnxBackendSchema, name)).toMatch(
        new RegExp(`(in rlp this is|did you mean) ${place}\\b`),
      );
    }
  }
});
