import { callId } from '#shared/conversation/context/tool-calls.ts';
import { onBusySchema } from '#shared/conversation/documents/conversation.ts';
import { answerId, seqOfId, turnId } from '#shared/conversation/documents/paths.ts';
import { isTerminal, turnStateSchema, type Turn } from '#shared/conversation/documents/turn.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import { isReplaced } from '#shared/conversation/writes/replacement.ts';
import { RECALL_TOKENS_MAX } from '#shared/recall/segment.ts';
import { languageTag, messageIdSchema, time } from '../fields.ts';
import { groundingFields, groundingView } from '../sources.ts';
import { PARTS_MAX } from '#shared/lib/limits.ts';
import { responseSchemaSchema } from '../response-schema.ts';
import { clientContextSchema } from './client-context.ts';
import { contextObjectResponse } from './context-object.ts';
import { shrinkageResponse } from './context.ts';
import { inputPartSchema, outputPartResponse, toOutputParts } from './message-parts.ts';
import { feedbackResponse, feedbackView } from './ratings.ts';
import {
  recalledResponse,
  recalledView,
  finishReasonResponse,
  finishReasonView,
  blockedResponse,
  leftOutFilesResponse,
  leftOutFilesView,
  loopResponse,
  openCallsResponse,
  openCallsView,
  replacesResponse,
  turnErrorResponse,
  turnMarks,
  turnResponse,
  turnUsageResponse,
  unreadableResponse,
} from './turns.ts';
import { z } from 'zod';

const messageSchema = z.strictObject({
  id: messageIdSchema,
  parts: z.array(inputPartSchema).min(1).max(PARTS_MAX),
  retention: z
    .enum(['keep', 'normal', 'drop'])
    .optional()
    .describe('keep: stays word for word; drop: is folded first.'),
});

/** The deployment may have less. */
export const recallTokensField = z.number().int().min(0).max(RECALL_TOKENS_MAX);

/** How a turn is to be answered; the same for every way to start one. */
const answerFields = {
  locale: languageTag
    .optional()
    .describe('Language of the sentences for people, such as those on compactions.'),
  onBusy: onBusySchema
    .optional()
    .describe('While another message is being answered: refuse, wait for it, or cancel it.'),
  recallTokens: recallTokensField
    .optional()
    .describe('What of folded turns may be brought back for this message, tokens; 0: nothing.'),
  clientContext: clientContextSchema.optional(),
  responseSchema: responseSchemaSchema
    .optional()
    .describe(
      'JSON Schema (2020-12) that the answer has to fit: it is a JSON text that does, or an error that says what did not.',
    ),
};

export const sendMessageBody = z.strictObject({ message: messageSchema, ...answerFields });

export const editMessageBody = sendMessageBody;

export const regenerateBody = z.strictObject({
  id: messageIdSchema
    .optional()
    .describe('Id of the new turn’s message; the same id again is the same regeneration.'),
  ...answerFields,
});

/** Why a message is out of the context, beside the state of its turn. */
const otherReasons = [
  'filtered',
  'blocked',
  'replaced',
  'deleted',
  'answerDeleted',
  'late',
  'unreadable',
] as const;

const outOfContextResponse = z
  .object({
    reason: z
      .enum([...turnStateSchema.exclude(['done']).options, ...otherReasons])
      .describe(
        '`queued`, `running`, `awaiting_tool`: its turn has not ended; it comes into the context then. `failed`: its turn ended with an error. `cancelled`: it was stopped before anything was said. `filtered`: a filter of the model stopped the answer. `blocked`: a filter of the model blocks every prompt with this turn (`blocked` says why). `replaced`: an edit or a regeneration took its place. `deleted`: it was deleted. `answerDeleted`: it stands, but its answer was deleted. `late`: it was answered when its place in the history had been folded, so the summary does not tell of it. `unreadable`: what is stored cannot be read.',
      ),
    replacedBy: z
      .string()
      .optional()
      .describe('Of `replaced`: id of the turn that stands in its place, such as t_9.'),
  })
  .describe('Where `inContext` is false: why the model does not know of the message.');
type OutOfContext = z.infer<typeof outOfContextResponse>;

export const messageResponse = z.object({
  id: z.string().describe('The client’s id of a user message, m_{seq} of an answer.'),
  turnId: z.string(),
  seq: z.number().int(),
  role: z.enum(['user', 'model']),
  parts: z.array(outputPartResponse),
  state: turnStateSchema.describe('State of the message’s turn.'),
  createTime: time,
  finishReason: finishReasonResponse.optional(),
  loop: loopResponse.optional(),
  inContext: z
    .boolean()
    .describe(
      'Whether the model knows of the message: it stands in the context word for word, or was folded into its summary (`coveredThrough` of the context says up to which turn).',
    ),
  outOfContext: outOfContextResponse.optional(),
  replaces: replacesResponse,
  recalled: recalledResponse.optional(),
  leftOutFiles: leftOutFilesResponse.optional(),
  ...groundingFields,
  openCalls: openCallsResponse.optional(),
  error: turnErrorResponse.optional(),
  deleted: z.literal(true).optional().describe('Its content was erased; its place stays.'),
  unreadable: unreadableResponse,
  blocked: blockedResponse,
  feedback: feedbackResponse.optional().describe('What the user said of this answer.'),
});
export type MessageView = z.infer<typeof messageResponse>;

export const messageListResponse = z.object({
  messages: z.array(messageResponse),
  nextPageToken: z.string().optional(),
  previousPageToken: z
    .string()
    .optional()
    .describe(
      'Of a page around a turn and of those before it: `pageToken` of the page that stands before this one in the same order.',
    ),
});

export const sendMessageResponse = z.object({
  turn: turnResponse,
  userMessage: messageResponse,
  message: messageResponse,
  context: contextObjectResponse,
  usage: turnUsageResponse.nullable(),
  replayed: z.boolean(),
  shrunken: shrinkageResponse.optional(),
});

/** Why a message is in no context; `isDeleted`: its own content was erased. */
function outOfContext(turn: Turn, isDeleted: boolean): OutOfContext {
  const { state, replacedBy = {}, finishReason } = turn;
  const seqsBehind = Object.keys(replacedBy).map((id) => seqOfId(id, 't') ?? 0);
  if (turn.unreadable !== undefined) return { reason: 'unreadable' };
  if (isDeleted) return { reason: 'deleted' };
  if (isReplaced(turn)) return { reason: 'replaced', replacedBy: turnId(Math.max(...seqsBehind)) };
  if (turn.eraseTime) return { reason: 'answerDeleted' };
  if (turn.blocked !== undefined) return { reason: 'blocked' };
  if (!isTerminal(state)) return { reason: state };
  if (finishReason !== undefined && toFinishReason(finishReason) === 'content-filter')
    return { reason: 'filtered' };
  return { reason: state === 'done' || turn.inContext ? 'late' : state };
}

const messageBase = (turn: Turn, is: { inContext: boolean; isDeleted: boolean }) => ({
  turnId: turnId(turn.seq),
  seq: turn.seq,
  state: turn.state,
  inContext: is.inContext,
  ...(!is.inContext && { outOfContext: outOfContext(turn, is.isDeleted) }),
  ...turnMarks(turn),
  ...(turn.error && { error: turn.error }),
  ...(is.isDeleted && { deleted: true as const }),
});

export function userMessageView(turn: Turn): MessageView {
  const isDeleted = turn.eraseTime !== undefined && turn.user.parts.length === 0;
  return {
    id: turn.messageId,
    ...messageBase(turn, { inContext: turn.inContext, isDeleted }),
    role: 'user',
    parts: toOutputParts(turn.seq, [turn.user]),
    createTime: turn.createTime.toISOString(),
  };
}

/** Parts of an answer; its calls say whether the server runs them. */
function answerParts({ seq, contents, rounds }: Turn): MessageView['parts'] {
  const apps = new Set(rounds?.app.map((index) => callId(seq, index)));
  return toOutputParts(seq, contents).map((part) =>
    part.type === 'functionCall' && rounds && !apps.has(part.callId ?? '')
      ? { ...part, providerExecuted: true as const }
      : part,
  );
}

/** The answer as one message, tool calls included; its parts are empty while nothing is stored. */
export const answerView = (turn: Turn): MessageView => ({
  id: answerId(turn.seq),
  ...messageBase(turn, {
    // What was answered behind a fold of the turn's place is in no context, whatever was folded of the turn.
    inContext: turn.inContext && turn.foldedInContext === undefined,
    isDeleted: turn.eraseTime !== undefined,
  }),
  role: 'model',
  parts: answerParts(turn),
  createTime: (turn.finishTime ?? turn.createTime).toISOString(),
  ...finishReasonView(turn),
  ...openCallsView(turn),
  ...recalledView(turn),
  ...leftOutFilesView(turn),
  ...groundingView(turn),
  ...(turn.feedback && { feedback: feedbackView(turn.feedback) }),
});
