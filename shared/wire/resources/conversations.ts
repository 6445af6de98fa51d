import {
  conversationSettingsSchema,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import {
  clientToolSchema,
  readClientTools,
} from '#shared/conversation/documents/declared-tools.ts';
import { profileSchema } from '#shared/conversation/documents/snapshot.ts';
import {
  boundedRecord,
  conversationIdSchema,
  flag,
  messageOrAnswerId,
  shownLine,
  time,
  wellFormedText,
} from '../fields.ts';
import {
  METADATA_ENTRIES_MAX,
  METADATA_KEY_MAX_CHARACTERS,
  METADATA_VALUE_MAX_CHARACTERS,
  SERVER_INSTRUCTION_MAX_CHARACTERS,
  SYSTEM_INSTRUCTION_MAX_CHARACTERS,
  THRESHOLD_MIN_TOKENS,
  TITLE_MAX_CHARACTERS,
  WINDOW_MAX_TOKENS,
  WINDOW_MIN_TOKENS,
} from '#shared/lib/limits.ts';
import { contextObjectResponse } from './context-object.ts';
import { recallTokensField } from './messages.ts';
import { toolsSchema } from './tools.ts';
import { z } from 'zod';

const METADATA_KEY = String.raw`(?:[A-Za-z0-9\-][\w\-]*|_(?:[A-Za-z0-9\-][\w\-]*)?)`;

const metadataKey = z
  .string()
  .max(METADATA_KEY_MAX_CHARACTERS)
  .regex(
    new RegExp(`^${METADATA_KEY}$`),
    'keys are letters, digits, _ and -, and do not begin with __',
  );

const metadataSchema = boundedRecord(
  metadataKey,
  wellFormedText.max(METADATA_VALUE_MAX_CHARACTERS),
  METADATA_ENTRIES_MAX,
);

const settingsSchema = z.strictObject({
  thresholdTokens: z
    .number()
    .int()
    .min(THRESHOLD_MIN_TOKENS)
    .optional()
    .describe('Tokens of the context at which it is compacted.'),
  thresholdFraction: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe('The same as a share of the context window.'),
  windowTokens: z
    .number()
    .int()
    .min(WINDOW_MIN_TOKENS)
    .max(WINDOW_MAX_TOKENS)
    .optional()
    .describe('Tokens of the window to use; more than the model has are what it has.'),
  onBusy: conversationSettingsSchema.shape.onBusy,
  compaction: conversationSettingsSchema.shape.compaction,
  recallTokens: recallTokensField
    .optional()
    .describe(
      'What of folded turns may be brought back with a message, tokens; 0: nothing. Never more than the deployment has.',
    ),
  routing: conversationSettingsSchema.shape.routing.describe(
    'Where the model is auto: always this one of the two, and nothing is asked.',
  ),
});

const conversationFields = {
  title: shownLine(TITLE_MAX_CHARACTERS).optional().describe('A line for lists.'),
  archived: z.boolean().optional().describe('Out of the list, until it is asked for.'),
  pinned: z.boolean().optional().describe('The app shows it before the others.'),
  metadata: metadataSchema
    .optional()
    .describe(`What the app keeps with the conversation; at most ${METADATA_ENTRIES_MAX} entries.`),
  profile: profileSchema.optional().describe('Which set of compaction settings fits the work.'),
  settings: settingsSchema.optional(),
  model: z
    .string()
    .max(128)
    .regex(/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/, 'must be a model id such as gemini-3.8-flash')
    .optional()
    .describe(
      'The model that answers, or auto: one of two, chosen for every turn. A change holds from the next turn on: one that is being answered, or waits for the app, ends with the model that it began with.',
    ),
  systemInstruction: wellFormedText
    .max(SYSTEM_INSTRUCTION_MAX_CHARACTERS)
    .optional()
    .describe('What the model is told before all messages.'),
  serverInstruction: wellFormedText
    .max(SERVER_INSTRUCTION_MAX_CHARACTERS)
    .optional()
    .describe(
      'What the model is told behind the system instruction, of this conversation alone. Only a server of the app may write it.',
    ),
  tools: toolsSchema.optional().describe('Functions that the app runs for the model.'),
};

export const createConversationBody = z.strictObject({
  id: conversationIdSchema.optional(),
  ...conversationFields,
});

/** What of a conversation a caller may write, as far as the deployment lets it. */
export const conversationPatchSchema = z.strictObject(conversationFields);
export type ConversationPatch = z.infer<typeof conversationPatchSchema>;

type Field = Exclude<keyof ConversationPatch, 'settings'>;
type Setting = keyof NonNullable<ConversationPatch['settings']>;

/**
 * Fields that `updateMask` may name, and which users write them: all (`user`), none but a server of the app (`server`), or
 * those of a deployment whose CLIENT_WRITABLE has the word.
 */
export const fieldGuards = {
  title: 'user',
  archived: 'user',
  pinned: 'user',
  metadata: 'user',
  profile: 'profile',
  model: 'model',
  systemInstruction: 'systemInstruction',
  serverInstruction: 'server',
  tools: 'tools',
  'settings.thresholdTokens': 'user',
  'settings.thresholdFraction': 'user',
  'settings.windowTokens': 'windowTokens',
  'settings.onBusy': 'onBusy',
  'settings.compaction': 'compaction',
  'settings.recallTokens': 'user',
  'settings.routing': 'routing',
} as const satisfies Record<Field | `settings.${Setting}`, string>;

export type PatchPath = keyof typeof fieldGuards;

export const PATCH_PATHS: readonly PatchPath[] = Object.keys(fieldGuards).filter(
  (path): path is PatchPath => Object.hasOwn(fieldGuards, path),
);

/** One entry of the metadata. */
export type EntryPath = `metadata.${string}`;

/** What a mask may hold: `settings` stands for every setting that the caller may write. */
export type MaskPath = PatchPath | EntryPath | 'settings';

export const isEntryPath = (path: string): path is EntryPath => path.startsWith('metadata.');

const isMaskPath = (path: string): path is MaskPath =>
  path === 'settings' || isEntryPath(path) || PATCH_PATHS.some((known) => known === path);

const maskPath = `\\s*(?:settings|metadata\\.${METADATA_KEY}|${PATCH_PATHS.map((path) => path.replace('.', '\\.')).join('|')})\\s*`;

const MASK = new RegExp(`^${maskPath}(?:,${maskPath})*$`);

const updateMaskSchema = z
  .string()
  .regex(MASK, `may name only: settings, metadata.KEY, ${PATCH_PATHS.join(', ')}`)
  .transform((text): MaskPath[] => {
    const paths = text.split(',').map((path) => path.trim());
    return [...new Set(paths.filter((path) => isMaskPath(path)))];
  })
  .describe(
    'Comma-separated fields that change; one that the body lacks is reset. `metadata.KEY` names one entry, `metadata` all of them.',
  );

export const patchConversationQuery = z.strictObject({ updateMask: updateMaskSchema.optional() });

export const deleteConversationQuery = z.strictObject({
  permanent: flag.describe('true: erased for good, at once and without a way back.'),
});

export const forkBody = z.strictObject({
  messageId: messageOrAnswerId.describe('The last message of the copy; its whole turn is copied.'),
  id: conversationIdSchema
    .optional()
    .describe('Of the new conversation; again the same is the same fork.'),
});

export const conversationResponse = z.object({
  id: z.string(),
  title: z.string().optional(),
  archived: z.boolean(),
  pinned: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  profile: profileSchema,
  model: z.string(),
  tools: z
    .array(clientToolSchema)
    .optional()
    .describe('Functions that the app runs for the model.'),
  settings: conversationSettingsSchema,
  createTime: time,
  updateTime: time,
  generation: z
    .number()
    .int()
    .describe(
      'Rises with every change of what the model sees of earlier turns: compactions, edits, regenerations, deletions and restores. No count of compactions: `GET …/compactions` says what each one was (`kind`).',
    ),
  lastSeq: z.number().int().describe('Number of turns so far.'),
  deleteTime: time.optional().describe('Since when it is in the bin.'),
  purgeTime: time.optional().describe('When it is erased for good unless it is taken back.'),
  forkedFrom: z
    .object({ conversationId: z.string(), seq: z.number().int() })
    .optional()
    .describe('The conversation and the turn up to which it was copied.'),
});
export type ConversationView = z.infer<typeof conversationResponse>;

export const conversationWithContextResponse = conversationResponse.extend({
  context: contextObjectResponse,
});

/** What is on its way to be erased. */
export const erasingResponse = z.object({ conversations: z.number().int() });

export const deleteConversationResponse = z.union([conversationResponse, erasingResponse]);

/* How stored documents look on the wire. Pure; internal fields stay inside. */

/** Neither owner nor instructions: the first is the caller, the others belong to the deployment. */
export const conversationView = (id: string, conversation: Conversation): ConversationView => ({
  id,
  ...(conversation.title !== undefined && { title: conversation.title }),
  archived: conversation.archived === true,
  pinned: conversation.pinned === true,
  metadata: conversation.metadata,
  profile: conversation.profile,
  model: conversation.model,
  ...(conversation.toolsJson !== undefined && { tools: readClientTools(conversation) }),
  settings: conversation.settings,
  createTime: conversation.createTime.toISOString(),
  updateTime: conversation.updateTime.toISOString(),
  generation: conversation.generation,
  lastSeq: conversation.lastSeq,
  ...(conversation.deleteTime && { deleteTime: conversation.deleteTime.toISOString() }),
  ...(conversation.purgeTime && { purgeTime: conversation.purgeTime.toISOString() }),
  ...(conversation.forkedFrom && { forkedFrom: conversation.forkedFrom }),
});
