import { z } from 'zod';
import { contentSchema } from '../conversation/content.ts';
import { conversationSettingsSchema, profileSchema } from '../conversation/head.ts';
import { turnStateSchema } from '../conversation/turn.ts';

/* What callers get. The tests hold every answer to them. */

const time = z.iso.datetime().describe('RFC 3339, UTC.');
const tokens = z.number().nonnegative();

// ---------------------------------------------------------------- context object

const compactionStatusResponse = z.object({
  state: z.string(),
  jobId: z.string().optional(),
  trigger: z.string().optional(),
  beforeTokens: tokens.optional(),
  afterTokens: tokens.optional(),
  coveredThrough: z.number().int().optional(),
  at: time.optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

export const contextObjectResponse = z.object({
  tokens,
  thresholdTokens: z.number().nullable(),
  windowTokens: z.number(),
  percent: z.number(),
  source: z.enum(['reported', 'counted', 'estimated']),
  generation: z.number().int(),
  compaction: compactionStatusResponse.nullable(),
});

// ---------------------------------------------------------------- conversations

export const conversationResponse = z.object({
  id: z.string(),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  profile: profileSchema,
  model: z.string(),
  settings: conversationSettingsSchema,
  createTime: time,
  updateTime: time,
  generation: z.number().int(),
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

export const conversationListResponse = z.object({
  conversations: z.array(conversationResponse),
  nextPageToken: z.string().optional(),
});

// ---------------------------------------------------------------- transcript

const outputPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('file'),
    mediaType: z.string().optional(),
    data: z.string().optional(),
    url: z.string().optional(),
  }),
  z.object({
    type: z.literal('functionCall'),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal('functionResponse'),
    name: z.string(),
    response: z.record(z.string(), z.unknown()),
  }),
]);

const finishReason = z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']);

const replaces = z
  .number()
  .int()
  .optional()
  .describe('First of the turns that this one stands in for, after an edit or a regeneration.');

export const messageResponse = z.object({
  id: z.string().describe('The client’s id of a user message, m_{seq} of an answer.'),
  turnId: z.string(),
  seq: z.number().int(),
  role: z.enum(['user', 'model']),
  parts: z.array(outputPart),
  state: turnStateSchema.describe('State of the message’s turn.'),
  createTime: time,
  finishReason: finishReason.optional(),
  inContext: z.boolean(),
  replaces,
  deleted: z.literal(true).optional().describe('Its content was erased; its place stays.'),
});
export type MessageView = z.infer<typeof messageResponse>;

export const messageListResponse = z.object({
  messages: z.array(messageResponse),
  nextPageToken: z.string().optional(),
});

export const usageResponse = z.object({
  promptTokens: tokens,
  cachedTokens: tokens,
  outputTokens: tokens,
});

export const turnResponse = z.object({
  id: z.string(),
  seq: z.number().int(),
  state: turnStateSchema,
  attempt: z.number().int(),
  messageId: z.string(),
  answerId: z.string(),
  createTime: time,
  finishTime: time.optional(),
  finishReason: finishReason.optional(),
  inContext: z.boolean(),
  replaces,
  usage: usageResponse.optional(),
  cancelRequested: z
    .boolean()
    .optional()
    .describe('Somebody asked to stop the answer; it may still run for a moment.'),
  error: z
    .object({
      status: z.string(),
      reason: z.string(),
      message: z.string(),
      retryable: z.boolean(),
    })
    .optional(),
});
export type TurnView = z.infer<typeof turnResponse>;

/** Server-sent events; each `data` is a chunk of the AI SDK's UI message stream v1. */
export const streamResponse = z.string();

export const sendMessageResponse = z.object({
  turn: turnResponse,
  userMessage: messageResponse,
  message: messageResponse,
  context: contextObjectResponse,
  usage: usageResponse.nullable(),
  replayed: z.boolean(),
  shrunken: z.lazy(() => shrinkageResponse).optional(),
});

// ---------------------------------------------------------------- context and compaction

const toolDeclaration = z.object({
  name: z.string(),
  description: z.string().optional(),
  parametersJsonSchema: z.unknown().optional(),
});

export const contextItemResponse = z.object({
  kind: z.enum(['system', 'tools', 'memory', 'pin', 'snapshot', 'ack', 'turn', 'marker']),
  seq: z.number().int().optional(),
  tokens,
  content: z
    .union([z.string(), z.array(toolDeclaration), contentSchema])
    .describe('The text of `system`, the declarations of `tools`, else a Content.'),
});
export type ContextItemView = z.infer<typeof contextItemResponse>;

export const shrinkageResponse = z
  .object({
    turnsLeftOut: z.number().int().describe('Oldest turns that a marker stands in for.'),
    outputsMasked: z.number().int().describe('Tool outputs that are shown shortened.'),
  })
  .describe('Only over the hard threshold: what the view of this request leaves out.');

export const contextResponse = z.object({
  generation: z.number().int(),
  contextTokens: tokens,
  shrunken: shrinkageResponse.optional(),
  items: z.array(contextItemResponse),
});

/**
 * What a compaction would fold now: `WOULD_COMPACT` with the range, or, each with its reason, `NOOP` and
 * `FAILED_ERROR` for what no run can fold.
 */
export const compactionPreviewResponse = z.object({
  dryRun: z.literal(true),
  state: z.enum(['WOULD_COMPACT', 'NOOP', 'FAILED_ERROR']),
  reason: z.string().optional(),
  beforeTokens: tokens,
  turnsFolded: z.number().int(),
  /** First and last turn of the range; only with WOULD_COMPACT. */
  from: z.number().int().optional(),
  upTo: z.number().int().optional(),
});
export type CompactionPreview = z.infer<typeof compactionPreviewResponse>;

export const compactionJobResponse = z.object({ jobId: z.string(), state: z.string() });
export const compactResponse = z.union([compactionJobResponse, compactionPreviewResponse]);

export const compactionRecordResponse = z.object({
  jobId: z.string(),
  generation: z.number().int().optional(),
  state: z.string(),
  trigger: z.string(),
  requestedAt: time,
  finishedAt: time,
  from: z.number().int().optional(),
  upTo: z.number().int().optional(),
  turnsFolded: z.number().int(),
  beforeTokens: tokens,
  afterTokens: tokens,
  model: z.string().optional(),
  calls: z.number().int(),
  tokens: z.object({ promptTokens: tokens, outputTokens: tokens }).optional(),
  durationMs: z.number(),
  report: z.record(z.string(), z.unknown()).optional(),
  reason: z.string().optional(),
  message: z.string(),
  restoredFrom: z.number().int().optional(),
  variant: z.string().optional(),
});
export type CompactionRecordView = z.infer<typeof compactionRecordResponse>;

export const compactionListResponse = z.object({
  compactions: z.array(compactionRecordResponse),
  nextPageToken: z.string().optional(),
});

// ---------------------------------------------------------------- erasing, export

/** What is on its way to be erased. */
export const erasingResponse = z.object({ conversations: z.number().int() });
export const deleteConversationResponse = z.union([conversationResponse, erasingResponse]);

/** A line of an export as JSON: a conversation, then its messages in order. */
export const exportLineResponse = z.discriminatedUnion('type', [
  conversationResponse.extend({ type: z.literal('conversation') }),
  messageResponse.extend({
    type: z.literal('message'),
    conversationId: z.string(),
    fate: z
      .enum([
        'answered',
        'unanswered',
        'failed',
        'cancelled',
        'filtered',
        'deleted',
        'answerDeleted',
        'replaced',
      ])
      .describe('What became of the message’s turn.'),
  }),
]);
export type ExportLine = z.infer<typeof exportLineResponse>;

export const healthResponse = z.object({ status: z.literal('ok') });
