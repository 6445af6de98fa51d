import { z } from 'zod';

/** The variables that say who is told of what happened. Part of the environment's schema. */
export const notificationVariables = {
  FCM_PROJECT: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Firebase project through which devices are told of answers that nobody waited for; without it none is. Needs the permission cloudmessaging.messages.create.',
    ),
  NOTIFICATION_TEXT: z
    .enum(['none', 'title', 'preview'])
    .default('title')
    .describe(
      'What a notification shows of a conversation: none = NOTIFICATION_TITLE and a fixed sentence; title = the conversation’s title and a fixed sentence; preview = its title and the first 120 characters of the answer.',
    ),
  NOTIFICATION_TITLE: z
    .string()
    .min(1)
    .max(60)
    .default('Recap')
    .describe(
      'Title of notifications where that of the conversation is not shown: the app’s name.',
    ),
  EVENT_WEBHOOK_URL: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe(
      'Address that is told of every turn and compaction, signed with HOOK_SIGNING_KEY; HOOK_HOSTS must name its host. Without it none is.',
    ),
};
