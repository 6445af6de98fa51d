import { summaryStrategies, type SummaryStrategy } from '#shared/conversation/documents/history.ts';
import { profileSchema } from '#shared/conversation/documents/snapshot.ts';
import { z } from 'zod';
import { GROUNDING_TOOLS } from '#shared/models/grounding.ts';
import { importFormats } from '#shared/memory/note.ts';
import { modelPricesSchema } from '#shared/models/model-entry.ts';
import { RECALL_TOKENS_DEFAULT, RECALL_TOKENS_MAX } from '#shared/recall/segment.ts';

/** A whole number from text, with its default and bounds. */
const integer = (fallback: number, bounds: { min: number; max: number }) =>
  z.coerce.number().int().min(bounds.min).max(bounds.max).default(fallback);

/** US dollars from text, with a default. */
const usd = (fallback: number) => z.coerce.number().min(0).max(1_000_000).default(fallback);

const itemsOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Words from text with commas between them. */
const list = z.string().default('').transform(itemsOf);

/** JSON of `schema`, by default an empty object. What is wrong is said with the example. */
const json = <Schema extends z.ZodType>(schema: Schema, problem: string) =>
  z
    .string()
    .default('{}')
    .transform((text, context): z.output<Schema> => {
      try {
        return schema.parse(JSON.parse(text));
      } catch {
        context.addIssue(problem);
        return z.NEVER;
      }
    });

/** Tools that the server brings along; which of them it offers, BUILT_IN_TOOLS says. */
export const BUILT_IN_TOOL_NAMES = [
  'recall_history',
  'read_blob',
  'save_memory',
  'forget_memory',
] as const;

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

const strategyTexts: Readonly<Record<SummaryStrategy, string>> = {
  ledger: 'the model names changes and code applies and checks them',
  'gemini-cli':
    'the model writes the whole snapshot anew in two passes, and the newest 30 % stay, as Gemini CLI does (always in the profile gemini-cli)',
};

/**
 * Every environment variable, with unit, default, range and why. A value out of range fails at start,
 * all problems at once; the table in docs/reference/configuration.md is generated from this schema.
 */
export const environmentSchema = z.object({
  // Where things are: the database, the topics, the models.
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
    .describe('Other server for model calls (locally the fake Gemini).'),
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

  // Which models there are, and what they are asked with.
  MODEL: z
    .string()
    .default('gemini-3.8-flash')
    .describe('Model of new conversations, or `auto`: one of two, chosen for every turn.'),
  ROUTING_MODELS: list
    .pipe(z.union([z.tuple([]), z.tuple([z.string(), z.string()])]))
    .describe(
      'Two models with a comma between: the one that answers the easier messages of conversations whose model is `auto`, and the one that answers the harder ones. Without them no conversation can be `auto`.',
    ),
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
  MODEL_WINDOWS: json(
    z.record(z.string(), z.number().int().positive()),
    'must be a JSON object of model id to tokens, e.g. {"gemini-2.5-flash":32000}',
  ).describe(
    'JSON {model: tokens}: overrides the windows of the table of models, and makes a model known that the table does not have.',
  ),
  MODEL_PRICES: json(
    modelPricesSchema,
    'must be a JSON object of model id to prices, e.g. {"gemini-2.5-flash":{"input":0.3,"cached":0.03,"output":2.5}}',
  ).describe(
    'JSON {model: {input, cached, output}}, US dollars for a million tokens: overrides the table of models. A model without a price is charged at the dearest one.',
  ),
  SYSTEM_INSTRUCTION: z
    .string()
    .max(200_000)
    .optional()
    .describe('System instruction of new conversations.'),
  PROFILE: z
    .enum(profileSchema.options)
    .default('assistant')
    .describe('Profile of new conversations.'),

  // When and how conversations are compacted.
  COMPRESSOR_MODEL: z
    .string()
    .optional()
    .describe(
      'Model that summarises all conversations; without it, or where it does not exist, each one’s own model does.',
    ),
  SUMMARY_STRATEGY: z
    .enum(summaryStrategies)
    .default('ledger')
    .describe(
      `${summaryStrategies.map((strategy) => `${strategy}: ${strategyTexts[strategy]}`).join('; ')}.`,
    ),
  THRESHOLD_FRACTION: z.coerce
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe(
      'Share of the window at which compaction is requested; 1 = at none: not before answers would leave turns out.',
    ),
  THRESHOLD_TOKENS: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe('Tokens at which compaction is requested.'),
  CONDENSE_TOOL_OUTPUTS: z
    .enum(['off', 'on'])
    .default('off')
    .describe(
      'on: QUICK_MODEL condenses tool outputs of more than 40,000 characters as soon as a tool gives them, up to three at a time, 15 s each; what it writes is checked, else they are cut. Not in the profile gemini-cli.',
    ),
  COMPACTIONS_PER_HOUR: integer(6, { min: 0, max: 200 }).describe(
    'Compactions of one conversation in an hour that may ask a model; 0 = no limit, as in a demo- project where it is not set.',
  ),
  COMPACTION_DAILY_TOKENS: integer(2_000_000, { min: 0, max: 1_000_000_000 }).describe(
    'Tokens that the summariser may read and write for one conversation in 24 hours; the run that reaches it ends. 0 = no limit, as in a demo- project where it is not set.',
  ),

  // What the model is told beside the messages: notes and the time.
  MEMORY_BUDGET_TOKENS: integer(1_000, { min: 0, max: 20_000 }).describe(
    'Tokens of the notes about the user and of the app that stand in the prefix of a prompt, the newest first, and again of those that are said with a message; at most an eighth of the threshold. 0 = no memory in prompts.',
  ),
  MEMORY_IMPORT_FORMAT: z
    .enum(importFormats)
    .default('flat')
    .describe(
      'How prompts show notes that others import: flat (by their age), or tree (below the note that brings them along).',
    ),
  TELL_TIME: z
    .enum(['always', 'with-context'])
    .default('always')
    .describe(
      'Which messages the model is told date and time with, in the zone that the app named last: all of them, or those that bring a `clientContext`.',
    ),

  // Which webhooks may be called, as hooks and with events.
  HOOK_HOSTS: list.describe(
    'Comma-separated hosts, with :port where it is not 443, that webhooks may be called at; no others are.',
  ),
  HOOK_SIGNING_KEY: z
    .string()
    .min(32)
    .optional()
    .describe('Secret that signs webhook calls, 32 characters or more; without it none is called.'),

  // What apps may write, where they find the service, and whose pages may call it.
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

  // What the model may call, and how often within one answer.
  BUILT_IN_TOOLS: z
    .string()
    .default(BUILT_IN_TOOL_NAMES.join(','))
    // An empty text counts as not set: `none` stands for no tools.
    .transform((text) => (text.trim() === 'none' ? [] : itemsOf(text)))
    .pipe(z.array(z.enum(BUILT_IN_TOOL_NAMES)))
    .describe(
      'Comma-separated tools of the server that the model may call where they are of use, or none: recall_history looks folded turns up, read_blob reads shortened tool outputs, save_memory and forget_memory keep and drop notes about the user.',
    ),
  GROUNDING: list
    .pipe(z.array(z.enum(GROUNDING_TOOLS)))
    .describe(
      'Comma-separated tools of Google that models may use for an answer: search (Google Search; each search costs) and url (reads the addresses that a message names). None where it is not set.',
    ),
  RECALL_TOKENS: integer(RECALL_TOKENS_DEFAULT, { min: 0, max: RECALL_TOKENS_MAX }).describe(
    'What of the folded turns is brought back with each message that is about them, tokens at most; conversations and messages may ask for less. 0 = nothing.',
  ),
  TOOL_ROUNDS: integer(10, { min: 1, max: 1_000 }).describe(
    'Rounds of tool calls in one answer; then the model has to answer with what there is.',
  ),

  // What users may take.
  USER_DAILY_MESSAGES: integer(200, { min: 0, max: 1_000_000 }).describe(
    'Messages that one signed-in user may have answered in a day (UTC); 0 = no limit, as in a demo- project where it is not set.',
  ),
  USER_DAILY_TOKENS: integer(500_000, { min: 0, max: 10_000_000_000 }).describe(
    'Tokens of one signed-in user in a day: input that no cache had, and output. 0 = no limit, as in a demo- project where it is not set.',
  ),
  USER_REQUESTS_PER_MINUTE: integer(30, { min: 0, max: 600 }).describe(
    'Answers that one signed-in user may begin in a minute; 0 = no limit, as in a demo- project where it is not set.',
  ),
  ANONYMOUS_DAILY_MESSAGES: integer(20, { min: 0, max: 1_000_000 }).describe(
    'As USER_DAILY_MESSAGES, of an anonymous user.',
  ),
  ANONYMOUS_DAILY_TOKENS: integer(30_000, { min: 0, max: 10_000_000_000 }).describe(
    'As USER_DAILY_TOKENS, of an anonymous user.',
  ),
  USER_DAILY_USD: usd(5).describe(
    'US dollars that one user may cost in a day, compactions, titles and routing included; 0 = no limit, as in a demo- project where it is not set.',
  ),
  GLOBAL_DAILY_USD: usd(100).describe(
    'US dollars that all users together may cost in a day; then nobody is answered until the next. 0 = no limit, as in a demo- project where it is not set.',
  ),

  SOFT_DELETE_DAYS: integer(30, { min: 1, max: 3_650 }).describe(
    'How long a deleted conversation can be taken back, days; then it is erased for good.',
  ),

  // Files that users attach.
  UPLOADS_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/, 'must be the name of a bucket, without gs://')
    .optional()
    .describe(
      'Cloud Storage bucket of the files that users attach; without it there are no uploads. See docs/guides/attachments.md for its lifecycle rule and permissions.',
    ),
  UPLOADS_SIGNER: z
    .email()
    .optional()
    .describe(
      'E-mail of the service account that signs upload addresses, usually the one that chat runs as; it needs iam.serviceAccounts.signBlob on itself. Must be set with UPLOADS_BUCKET, but for a demo- project.',
    ),

  // Who is told of what happened.
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

  // Who may call: users, their apps, and Pub/Sub.
  PUSH_AUDIENCE: z.string().optional().describe('Audience of the push subscription’s OIDC token.'),
  PUSH_SERVICE_ACCOUNT: z.string().optional().describe('E-mail of the account that pushes.'),
  FIREBASE_AUTH_EMULATOR_HOST: z
    .string()
    .optional()
    .describe('Set with a demo- project: unsigned ID tokens are accepted.'),
  PUBSUB_EMULATOR_HOST: z
    .string()
    .optional()
    .describe('Set with a demo- project: pushes without token are accepted.'),
  ADMIN_SERVICE_ACCOUNTS: list
    .pipe(
      z.array(
        z
          .string()
          .regex(
            /^[^@\s]+@[^@\s]+\.gserviceaccount\.com$/,
            'must be e-mails of service accounts, which end in .gserviceaccount.com',
          ),
      ),
    )
    .describe(
      'Comma-separated e-mails of the service accounts that may act for any user, as servers of your app do; none where it is not set.',
    ),
  ADMIN_AUDIENCE: z
    .string()
    .optional()
    .describe(
      'Audience that their ID tokens are made out to, such as the address of chat. Must be set with ADMIN_SERVICE_ACCOUNTS.',
    ),
  APP_CHECK: z
    .enum(['off', 'enforced', 'once'])
    .default('off')
    .describe(
      'enforced: every request of a user needs a Firebase App Check token in X-Firebase-AppCheck. once: besides, to delete or export a conversation, to erase or export a user, and to claim a guest, a token serves once; apps send limited-use tokens there.',
    ),
  APP_CHECK_PROJECT_NUMBER: z
    .string()
    .regex(/^\d{1,20}$/, 'must be the number of the project, digits only')
    .optional()
    .describe('Number of the Firebase project that App Check tokens are made out to.'),
  APP_CHECK_APPS: list.describe(
    'Comma-separated Firebase app ids (1:…:ios:…) whose App Check tokens are taken; empty = every app of the project.',
  ),
  CHECK_REVOKED: z
    .enum(['off', 'erasures', 'always'])
    .default('erasures')
    .describe(
      'Which requests ask Firebase Auth whether the sign-in was revoked or the account disabled: erasures = to delete or export a conversation, to erase or export a user, and to claim a guest; always = every one. Needs the permission firebaseauth.users.get. off in a demo- project where it is not set.',
    ),
});

export type Environment = z.infer<typeof environmentSchema>;
