import { z } from 'zod';
import { conversationSettingsSchema, onBusySchema, profileSchema } from '../conversation/head.ts';
import {
  FILE_URL_MAX_CHARACTERS,
  FOCUS_MAX_CHARACTERS,
  METADATA_ENTRIES_MAX,
  METADATA_KEY_MAX_CHARACTERS,
  METADATA_VALUE_MAX_CHARACTERS,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PAGE_TOKEN_MAX_CHARACTERS,
  PARTS_MAX,
  SYSTEM_INSTRUCTION_MAX_CHARACTERS,
  THRESHOLD_MIN_TOKENS,
  WINDOW_MAX_TOKENS,
  WINDOW_MIN_TOKENS,
  TITLE_MAX_CHARACTERS,
} from './limits.ts';

/*
 * What callers send. Strict: an unknown field is refused by its path, because a misspelt one that is
 * ignored costs its author an afternoon, and one that is stored is a hole.
 */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const UUID_4_OR_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Half of a surrogate pair is no text: the database and the model would refuse it for ever. NUL is text. */
const wellFormedText = z
  .string()
  .refine((text) => text.isWellFormed(), 'holds half of a surrogate pair; send valid Unicode');

/** Compared as it is written: iOS writes UUIDs in capitals. */
export const conversationIdSchema = z
  .string()
  .regex(UUID_4_OR_7, 'must be a UUID, version 4 or 7')
  .describe('Id of a conversation: a UUID, version 4 or 7.');

export const messageIdSchema = z
  .string()
  .regex(UUID, 'must be a UUID')
  .describe('The client’s id of a message. The same id again is the same message.');

const requestIdSchema = z.string().regex(UUID, 'must be a UUID');

export const conversationParams = z.strictObject({ conversationId: conversationIdSchema });

export const turnParams = z.strictObject({
  conversationId: conversationIdSchema,
  turnId: z.string().regex(/^t_[1-9]\d{0,9}$/, 'must be a turn id such as t_17'),
});

/** A message by the client’s id, or an answer by its own. */
export const messageParams = z.strictObject({
  conversationId: conversationIdSchema,
  messageId: z.union([messageIdSchema, z.string().regex(/^m_[1-9]\d{0,9}$/)], {
    error: 'must be a message id (UUID) or an answer id such as m_17',
  }),
});

export const generationParams = z.strictObject({
  conversationId: conversationIdSchema,
  generation: z
    .string()
    .regex(/^[1-9]\d{0,7}$/, 'must be a whole number from 1')
    .transform(Number),
});

// ---------------------------------------------------------------- conversations

const metadataKey = z
  .string()
  .max(METADATA_KEY_MAX_CHARACTERS)
  .regex(/^(?!__)[\w-]+$/, 'keys are letters, digits, _ and -, and do not begin with __');

const metadataSchema = z
  .record(metadataKey, wellFormedText.max(METADATA_VALUE_MAX_CHARACTERS))
  .refine(
    (metadata) => Object.keys(metadata).length <= METADATA_ENTRIES_MAX,
    `may have at most ${METADATA_ENTRIES_MAX} entries`,
  );

const settingsSchema = z.strictObject({
  thresholdTokens: z.number().int().min(THRESHOLD_MIN_TOKENS).optional(),
  thresholdFraction: z.number().gt(0).max(1).optional(),
  windowTokens: z.number().int().min(WINDOW_MIN_TOKENS).max(WINDOW_MAX_TOKENS).optional(),
  onBusy: conversationSettingsSchema.shape.onBusy,
  compaction: conversationSettingsSchema.shape.compaction,
});

const conversationFields = {
  title: wellFormedText.min(1).max(TITLE_MAX_CHARACTERS).optional(),
  metadata: metadataSchema.optional(),
  profile: profileSchema.optional(),
  settings: settingsSchema.optional(),
  model: z
    .string()
    .max(128)
    .regex(/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/, 'must be a model id such as gemini-3.5-flash')
    .optional(),
  systemInstruction: wellFormedText.max(SYSTEM_INSTRUCTION_MAX_CHARACTERS).optional(),
};

export const createConversationBody = z.strictObject({
  id: conversationIdSchema.optional(),
  ...conversationFields,
});

/** What of a conversation a caller may write, as far as the deployment lets it. */
export const conversationPatchSchema = z.strictObject(conversationFields);
export type ConversationPatch = z.infer<typeof conversationPatchSchema>;

/** Fields that `updateMask` may name. */
export const PATCH_PATHS = [
  'title',
  'metadata',
  'profile',
  'model',
  'systemInstruction',
  'settings.thresholdTokens',
  'settings.thresholdFraction',
  'settings.windowTokens',
  'settings.onBusy',
  'settings.compaction',
] as const;
export type PatchPath = (typeof PATCH_PATHS)[number];

/** What a mask may hold: `settings` stands for every setting that the caller may write. */
export type MaskPath = PatchPath | 'settings';

const isMaskPath = (path: string): path is MaskPath =>
  path === 'settings' || PATCH_PATHS.some((known) => known === path);

const updateMaskSchema = z.string().transform((text, context): MaskPath[] => {
  const paths = text.split(',').map((path) => path.trim());
  if (paths.every((path) => isMaskPath(path))) return [...new Set(paths)];
  context.addIssue(`may name only: settings, ${PATCH_PATHS.join(', ')}`);
  return z.NEVER;
});

export const patchConversationQuery = z.strictObject({ updateMask: updateMaskSchema.optional() });

export const deleteConversationQuery = z.strictObject({
  permanent: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true: erased for good, at once and without a way back.'),
});

export const forkBody = z.strictObject({
  messageId: z
    .union([messageIdSchema, z.string().regex(/^m_[1-9]\d{0,9}$/)], {
      error: 'must be a message id (UUID) or an answer id such as m_17',
    })
    .describe('The last message of the copy; its whole turn is copied.'),
  id: conversationIdSchema
    .optional()
    .describe('Of the new conversation; again the same is the same fork.'),
});

export const exportQuery = z.strictObject({
  format: z.enum(['jsonl', 'markdown']).default('jsonl'),
});

// ---------------------------------------------------------------- lists

const wholeNumber = z
  .string()
  .regex(/^\d{1,10}$/, 'must be a whole number')
  .transform(Number);

/** Larger sizes are capped, 0 asks for the default (AIP-158). */
const pageSizeSchema = wholeNumber
  .transform((size) => (size === 0 ? PAGE_SIZE_DEFAULT : Math.min(size, PAGE_SIZE_MAX)))
  .default(PAGE_SIZE_DEFAULT);

const pageQuery = {
  pageSize: pageSizeSchema,
  pageToken: z.string().min(1).max(PAGE_TOKEN_MAX_CHARACTERS).optional(),
};

export const noQuery = z.strictObject({});
export const listQuery = z.strictObject(pageQuery);
export const listConversationsQuery = z.strictObject({
  ...pageQuery,
  showDeleted: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true: those in the bin too.'),
});
export const listMessagesQuery = z.strictObject({
  ...pageQuery,
  order: z.enum(['asc', 'desc']).default('asc'),
  afterSeq: wholeNumber.default(0),
});
/** Id of the last event that a reader has; `-1` and fractions are no ids. */
export const cursorSchema = z
  .string()
  .regex(
    /^\d{1,15}$/,
    'must be the id of an event, a whole number; leave it out to begin at the first',
  )
  .transform(Number);
export const streamQuery = z.strictObject({
  startingAfter: cursorSchema
    .optional()
    .describe('Continues a stream after this event; goes before the header Last-Event-ID.'),
});
export const contextQuery = z.strictObject({ generation: wholeNumber.optional() });

// ---------------------------------------------------------------- messages

const textPart = z.strictObject({ type: z.literal('text'), text: wellFormedText.min(1) });

const mediaType = z
  .string()
  .max(128)
  .regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type such as image/png');

/** Only https: a `gs://` address would be read with the rights of the service, not of the caller. */
const fileUrl = z
  .url({ protocol: /^https$/, error: 'must be an https address' })
  .max(FILE_URL_MAX_CHARACTERS);

const filePart = z
  .strictObject({
    type: z.literal('file'),
    mediaType,
    data: z.base64().min(1).optional().describe('Base64 of the file.'),
    url: fileUrl.optional(),
  })
  .refine(
    ({ data, url }) => (data === undefined) !== (url === undefined),
    'needs either data or url',
  );

export const inputPartSchema = z.discriminatedUnion('type', [textPart, filePart]);
export type InputPart = z.infer<typeof inputPartSchema>;

const messageSchema = z.strictObject({
  id: messageIdSchema,
  parts: z.array(inputPartSchema).min(1).max(PARTS_MAX),
  retention: z
    .enum(['keep', 'normal', 'drop'])
    .optional()
    .describe('keep: stays word for word; drop: is folded first.'),
});

/** How a turn is to be answered; the same for every way to start one. */
const answerFields = {
  locale: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag such as ko-KR')
    .optional(),
  onBusy: onBusySchema
    .optional()
    .describe('While another message is being answered: refuse, wait for it, or cancel it.'),
};

export const sendMessageBody = z.strictObject({ message: messageSchema, ...answerFields });

export const editMessageBody = sendMessageBody;

export const regenerateBody = z.strictObject({
  id: messageIdSchema
    .optional()
    .describe('Id of the new turn’s message; the same id again is the same regeneration.'),
  ...answerFields,
});

// ---------------------------------------------------------------- compaction

export const restoreBody = z.strictObject({
  generation: z.number().int().min(0).max(99_999_999).describe('0: none, nothing stays folded.'),
  requestId: requestIdSchema.optional().describe('The same id again is the same restore.'),
});

export const compactBody = z.strictObject({
  focus: wellFormedText.min(1).max(FOCUS_MAX_CHARACTERS).optional(),
  requestId: requestIdSchema.optional(),
  /** Only tell what would be folded; nothing is asked for. */
  dryRun: z.boolean().optional(),
});
