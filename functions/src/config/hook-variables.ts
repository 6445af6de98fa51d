import { z } from 'zod';
import { list } from './config-values.ts';

/** The variables of hooks and of the webhooks among them. Part of the environment's schema. */
export const hookVariables = {
  TELL_TIME: z
    .enum(['always', 'with-context'])
    .default('always')
    .describe(
      'Which messages the model is told date and time with, in the zone that the app named last: all of them, or those that bring a `clientContext`.',
    ),
  HOOK_HOSTS: list.describe(
    'Comma-separated hosts, with :port where it is not 443, that webhooks may be called at; no others are.',
  ),
  HOOK_SIGNING_KEY: z
    .string()
    .min(32)
    .optional()
    .describe('Secret that signs webhook calls, 32 characters or more; without it none is called.'),
};
