import { z } from 'zod';
import { integer, list, prices, windows } from './config-values.ts';
import { compactionVariables } from './compaction-variables.ts';
import { hookVariables } from './hook-variables.ts';
import { identityVariables } from './identity-variables.ts';
import { memoryVariables } from './memory-variables.ts';
import { toolVariables } from './tool-variables.ts';
import { notificationVariables } from './notification-variables.ts';
import { quotaVariables } from './quota-variables.ts';
import { routingVariables } from './routing-variables.ts';
import { uploadVariables } from './upload-variables.ts';

/** What an end user may not write unless the deployment lists it. */
export const CLIENT_WRITABLE_FIELDS = [
  'model',
  'profile',
  'systemInstruction',
  'tools',
  'onBusy',
  'compaction',
  'windowTokens',
  'routing',
] as const;

/**
 * Every environment variable, with unit, default, range and why. A value out of range fails at start,
 * all problems at once; the table in docs/reference/configuration.md is generated from this schema.
 */
export const environmentSchema = z.object({
  GOOGLE_CLOUD_PROJECT: z.string().min(1).describe('Project that holds database and topics.'),
  FIRESTORE_DATABASE: z.string().default('(default)').describe('Firestore database id.'),
  COMPACTION_TOPIC: z
    .string()
    .default('recap-compaction')
    .describe('Topic of compaction requests.'),
  EVENTS_TOPIC: z.string().default('recap-events').describe('Topic that tells what happened.'),
  GEMINI_API_KEY: z
    .string()
    .optional()
    .describe('Key of the Gemini API; without it Vertex AI is used.'),
  GEMINI_BASE_URL: z
    .url()
    .optional()
    .describe('Other server for model calls (the local stand-in).'),
  VERTEX_PROJECT: z
    .string()
    .optional()
    .describe(
      'Project whose Vertex AI answers when there is no key; without it GOOGLE_CLOUD_PROJECT.',
    ),
  VERTEX_LOCATION: z
    .string()
    .default('global')
    .describe('Vertex AI location when there is no key.'),
  MODEL: z
    .string()
    .default('gemini-3.8-flash')
    .describe('Model of new conversations, or `auto`: one of two, chosen for every turn.'),
  ...routingVariables,
  TITLES: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'on: a conversation without a title gets one after its first answer, and once more after its fourth turn. off in a demo- project where it is not set.',
    ),
  QUICK_MODEL: z
    .string()
    .default('gemini-3.1-flash-lite')
    .describe(
      'Cheap and quick model that makes titles, chooses the model of a turn of an `auto` conversation, and condenses tool outputs between two calls.',
    ),
  LOOP_DETECTION: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'on: an answer whose text says the same over and over is ended before the repetitions, and one that makes the same calls of tools again and again is told so, then ended.',
    ),
  MODEL_WINDOWS: windows.describe(
    'JSON {model: tokens}: overrides the windows of the table of models, and makes a model known that the table does not have.',
  ),
  MODEL_PRICES: prices.describe(
    'JSON {model: {input, cached, output}}, US dollars for a million tokens: overrides the table of models. A model without a price is charged at the dearest one.',
  ),
  SYSTEM_INSTRUCTION: z
    .string()
    .max(200_000)
    .optional()
    .describe('System instruction of new conversations.'),
  PROFILE: z
    .enum(['assistant', 'coding', 'gemini-cli'])
    .default('assistant')
    .describe('Profile of new conversations.'),
  ...compactionVariables,
  ...memoryVariables,
  ...hookVariables,
  CLIENT_WRITABLE: list
    .pipe(z.array(z.enum(CLIENT_WRITABLE_FIELDS)))
    .describe('Comma-separated conversation fields that end users may write.'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address of chat for the links in errors, such as https://chat.example.com; without it the one that the request was sent to. For proxies that change the path or the host.',
    ),
  CORS_ORIGINS: list
    .pipe(
      z.array(
        z
          .string()
          .regex(
            /^(\*|https?:\/\/[^/\s]+)$/,
            'must be origins such as https://app.example.com, without a path, or *',
          ),
      ),
    )
    .describe(
      'Comma-separated origins whose pages may call the API from a browser, or * for any; none where it is not set.',
    ),
  ...toolVariables,
  COMPACTIONS_PER_HOUR: integer(6, { min: 0, max: 200 }).describe(
    'Compactions of one conversation in an hour that may ask a model; 0 = no limit, as in a demo- project where it is not set.',
  ),
  COMPACTION_DAILY_TOKENS: integer(2_000_000, { min: 0, max: 1_000_000_000 }).describe(
    'Tokens that the summariser may read and write for one conversation in 24 hours; the run that reaches it ends. 0 = no limit, as in a demo- project where it is not set.',
  ),
  ...quotaVariables,
  SOFT_DELETE_DAYS: integer(30, { min: 1, max: 3_650 }).describe(
    'How long a deleted conversation can be taken back, days; then it is erased for good.',
  ),
  ...uploadVariables,
  ...notificationVariables,
  ...identityVariables,
});
